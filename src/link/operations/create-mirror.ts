/**
 * Creates a mirror topic. A crash at any point leaves either nothing or a mirror, never a topic that clients could write:
 * first the durable intent (from then on the name is fenced), then the topic, then its record, which replaces the intent.
 */
import { messageOf } from '../../core/errors.ts'
import type { CreateMirrorRequest } from '../engine-api.ts'
import { linkError } from '../errors.ts'
import type { DestinationTopic } from '../ports.ts'
import { nameIsFree, requireMet } from '../source-topics/topic-conditions.ts'
import { nameOwner } from '../source-topics/topic-facts.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import type { MirrorCreationRecord } from '../state-records/mirror-creation-record.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { mirrorCreationStateRecord, tombstone } from '../state-records/record-codec.ts'
import { mirrorCreationKey } from '../state-records/state-key.ts'
import { entryState } from '../states/transition.ts'
import { askSource, requireRunning } from './ask-source.ts'
import { linkQueue, type OperationContext, requireLink, topicNameQueue } from './operation-context.ts'
import { type MirrorPlan, mirrorNameOf, planMirror } from './plan-mirror.ts'

/** Resolves when the mirror exists and is being fetched. */
export async function createMirror(
  context: OperationContext,
  subject: { link: string; request: CreateMirrorRequest },
  options: { validateOnly: boolean },
): Promise<{ warnings: readonly string[] }> {
  const link = await pinnedLink(context, subject.link)
  if (link.deletingSinceMs !== undefined) throw linkError('LINK_BEING_DELETED', { link: link.name })
  const { runtime, source, status } = requireRunning(context, link.linkId)
  const mirrorTopic = mirrorNameOf(subject.request, runtime.configs)
  const warnings = await context.operations.run(topicNameQueue(mirrorTopic), async () => {
    requireMet(nameIsFree(mirrorTopic, nameOwner(context, mirrorTopic)))
    const { configs } = runtime
    const plan = await planMirror(context, { link, configs, source, status, mirrorTopic }, subject.request)
    if (options.validateOnly) await validateCreation(context, plan.creation)
    else await createPlanned(context, plan)
    return plan.warnings
  })
  // Not inside the queue: a link that connects anew waits for its tasks, one of which may wait for this name.
  if (!options.validateOnly) await context.reconcile()
  return { warnings }
}

/** A link that was created unasked may not have reached its cluster yet: whoever answers now is pinned, as by the probe. */
async function pinnedLink(context: OperationContext, name: string): Promise<LinkRecord> {
  const link = requireLink(context, name)
  if (link.remoteClusterId !== undefined || link.deletingSinceMs !== undefined) return link
  const { runtime, source } = requireRunning(context, link.linkId)
  await askSource(name, async () => await runtime.acceptClusterId((await source.describeCluster()).clusterId))
  // It connects anew, to that cluster only.
  await context.reconcile()
  return requireLink(context, name)
}

/** The durable intent, then everything that follows from it; called inside the queue of the topic's name, which is free. */
export async function createPlanned(context: OperationContext, { creation, chain }: MirrorPlan): Promise<void> {
  await recordIntent(context, creation)
  await finishMirrorCreation(context, creation, { mayBeOurs: false })
  const mirror = context.desired.mirror(creation.linkId, creation.mirrorTopic)
  if (mirror) context.chains.learn(mirror, chain)
}

/**
 * Continues a recorded creation from wherever it was left; called inside the queue of the topic's name. Throws if it can
 * never succeed, after the intent was withdrawn. `mayBeOurs`: an earlier attempt may have made the topic.
 */
export async function finishMirrorCreation(
  context: OperationContext,
  creation: MirrorCreationRecord,
  { mayBeOurs }: { mayBeOurs: boolean } = { mayBeOurs: true },
): Promise<void> {
  await context.journal.certain()
  if (context.desired.creationOf(creation.mirrorTopic) === undefined) return
  const link = context.desired.link(creation.linkId)
  if (!link) return withdraw(context, creation)
  const present = context.destination.topic(creation.mirrorTopic)
  if (present) {
    if (mayBeOurs && (await isUntouched(context, present, creation))) return bind(context, present, creation)
    await withdraw(context, creation)
    throw linkError('TOPIC_EXISTS', { topic: creation.mirrorTopic })
  }
  await bind(context, await createTopic(context, creation), creation)
}

const topicRequest = (creation: MirrorCreationRecord) => ({
  name: creation.mirrorTopic,
  partitions: creation.startOffsets.length,
  replicationFactor: creation.replicationFactor,
  configs: creation.configs,
})

/** Throws what a creation would be refused with; changes nothing. */
export async function validateCreation(context: OperationContext, creation: MirrorCreationRecord): Promise<void> {
  const result = await context.destination.createTopic(topicRequest(creation), { validateOnly: true })
  if (!result.ok) throw creationError(creation.mirrorTopic, result)
}

/** In the link's queue, so that no intent can follow the link's deletion. */
async function recordIntent(context: OperationContext, creation: MirrorCreationRecord): Promise<void> {
  await context.operations.run(linkQueue(creation.linkId), async () => {
    const link = context.desired.link(creation.linkId)
    if (!link || link.deletingSinceMs !== undefined)
      throw linkError('LINK_BEING_DELETED', { link: link?.name ?? creation.linkId })
    await context.journal.append([mirrorCreationStateRecord(creation)])
  })
}

async function createTopic(context: OperationContext, creation: MirrorCreationRecord): Promise<DestinationTopic> {
  try {
    const result = await context.destination.createTopic(topicRequest(creation), { validateOnly: false })
    if (result.ok) return result.topic
    await withdraw(context, creation)
    throw creationError(creation.mirrorTopic, result)
  } catch (error) {
    // Whether the topic came to be is not known: with it the intent stays and is finished later, without it ends here.
    if (!context.destination.topic(creation.mirrorTopic)) await withdraw(context, creation)
    throw error
  }
}

/** Was this topic left by an attempt of ours? Then it has the right shape and nobody can have written it. */
async function isUntouched(
  context: OperationContext,
  topic: DestinationTopic,
  creation: MirrorCreationRecord,
): Promise<boolean> {
  if (topic.partitions !== creation.startOffsets.length) return false
  for (let partition = 0; partition < topic.partitions; partition++) {
    const log = await context.destination.openMirrorLog(topic.topicId, partition)
    // Whatever was on its way when the name was fenced is written by then: changes of a log run one after the other.
    const { logEndOffset } = await log.raiseLogStart(0)
    if (logEndOffset > 0) return false
  }
  return true
}

/** One durable batch: the mirror is, the intent is no more. */
async function bind(context: OperationContext, topic: DestinationTopic, creation: MirrorCreationRecord): Promise<void> {
  const timeMs = context.clock.nowMs()
  const reason = `created as a mirror of ${creation.sourceTopic}`
  const mirror: MirrorRecord = {
    linkId: creation.linkId,
    mirrorTopic: creation.mirrorTopic,
    topicId: topic.topicId,
    sourceTopic: creation.sourceTopic,
    sourceTopicId: creation.sourceTopicId,
    sourceClusterId: creation.sourceClusterId,
    createdTimeMs: timeMs,
    startOffsets: creation.startOffsets,
    ...entryState('create', { reason, timeMs }),
    trueConfigs: context.topicConfigs.kept(creation.configs),
  }
  await context.changes.create(mirror, [intentTombstone(creation)])
  context.logger.info('mirror topic created', { topic: creation.mirrorTopic, partitions: creation.startOffsets.length })
}

async function withdraw(context: OperationContext, creation: MirrorCreationRecord): Promise<void> {
  if (context.desired.creationOf(creation.mirrorTopic) === undefined) return
  await context.journal.append([intentTombstone(creation)])
  context.logger.warn('the creation of a mirror topic was withdrawn', { topic: creation.mirrorTopic })
}

const intentTombstone = ({ linkId, mirrorTopic }: MirrorCreationRecord) =>
  tombstone(mirrorCreationKey(linkId, mirrorTopic))

function creationError(topic: string, result: { reason: 'exists' | 'invalid' | 'failed'; message: string }): Error {
  if (result.reason === 'exists') return linkError('TOPIC_EXISTS', { topic })
  const code = result.reason === 'invalid' ? 'TOPIC_CREATION_REFUSED' : 'TOPIC_CREATION_FAILED'
  return linkError(code, { topic, reason: messageOf(result.message) })
}
