/** Truncate-and-restore: a former source becomes the mirror of the cluster that took over from it. Called by alter-mirrors; the reconciler finishes it. */

import { messageOf, OperationalError } from '../../core/errors.ts'
import type { MirrorId } from '../coordination/mirror-changes.ts'
import { mirrorQueue } from '../coordination/mirror-queue.ts'
import { linkError } from '../errors.ts'
import { planRestore, type RestorePlan } from '../restore/plan-restore.ts'
import type { CutRecord, MirrorRecord, RestoreRecord } from '../state-records/mirror-record.ts'
import { entryState } from '../states/transition.ts'
import { assertTransition } from './assert-transition.ts'
import { type DecidedRestore, decideRestore, sum } from './continue-restore.ts'
import type { VerbResult } from './mirror-positions.ts'
import { type OperationContext, topicNameQueue } from './operation-context.ts'

export interface RestoreOptions {
  /** Ends as PAUSED. */
  readonly paused?: boolean | undefined
  /** What is cut off is exported first. */
  readonly exportDivergent?: boolean | undefined
}

/**
 * Resolves when it is decided, durably, what is cut off; the rest goes on without anybody waiting. Rejects with
 * MIRROR_CANNOT_RESTORE, having changed nothing that stays, or with MIRROR_BUSY: then it was accepted and is continued.
 */
export async function restoreMirror(
  context: OperationContext,
  id: MirrorId,
  options: RestoreOptions = {},
): Promise<VerbResult> {
  if (options.exportDivergent && !context.tailExports)
    throw linkError('MIRROR_CANNOT_RESTORE', { topic: id.mirrorTopic, reason: 'this node cannot export records' })
  // Outside of the queues: nobody waits behind a source that does not answer, and what is refused changes nothing.
  const plan = await prepare(context, id)
  const decided = await context.operations.run(topicNameQueue(id.mirrorTopic), () =>
    context.operations.run(mirrorQueue(id), async () => {
      await accept(context, id, { found: plan, options })
      return await decide(context, id)
    }),
  )
  void context.reconcile()
  return resultOf(decided)
}

/** What a restore would cut off now; changes nothing. */
export async function previewRestore(context: OperationContext, id: MirrorId): Promise<VerbResult> {
  return resultOf(await prepare(context, id))
}

async function prepare(context: OperationContext, id: MirrorId): Promise<RestorePlan> {
  const link = context.desired.link(id.linkId)
  if (!link) throw linkError('LINK_NOT_FOUND', { link: id.linkId })
  assertRestorable(context, id)
  return await planRestore(context, link, id.mirrorTopic)
}

/** The record that becomes a mirror again; undefined = there is none of the topic that has the name now. */
function assertRestorable(context: OperationContext, id: MirrorId): MirrorRecord | undefined {
  const record = context.desired.mirror(id.linkId, id.mirrorTopic)
  const topic = context.destination.topic(id.mirrorTopic)
  if (!record || (topic && record.topicId !== topic.topicId)) return undefined
  return assertTransition(context, id, 'restore')
}

async function accept(
  context: OperationContext,
  id: MirrorId,
  { found, options }: { readonly found: RestorePlan; readonly options: RestoreOptions },
): Promise<void> {
  await context.journal.certain()
  const { linkId, mirrorTopic } = id
  const link = context.desired.link(linkId)
  if (!link || link.deletingSinceMs !== undefined) throw linkError('LINK_BEING_DELETED', { link: link?.name ?? linkId })
  const { topic, sourceTopic, chain } = found
  const timeMs = context.clock.nowMs()
  const { paused = false, exportDivergent: exportsTail = false } = options
  const plan = context.destination.fence.plan(topic.topicId)
  const restore: RestoreRecord = { paused, exportsTail, sinceMs: timeMs, cuts: [], plan, givenUp: undefined }
  const trueConfigs = context.topicConfigs.keptOf(topic.topicId)
  const source = {
    sourceTopic: sourceTopic.name,
    sourceTopicId: sourceTopic.topicId,
    sourceClusterId: link.remoteClusterId ?? '',
  }
  const reason = 'truncate-and-restore asked for'
  if (assertRestorable(context, id))
    await context.changes.transition(id, { event: 'restore', reason }, record => {
      return { ...record, ...source, ...closedFor(record, { restore, trueConfigs }) }
    })
  else {
    const startOffsets = Array.from({ length: topic.partitions }, () => 0)
    const entered = entryState('restore', { reason, timeMs })
    const record = { linkId, mirrorTopic, topicId: topic.topicId, createdTimeMs: timeMs, startOffsets }
    await context.changes.create({ ...record, ...source, ...entered, restore, trueConfigs }, [])
  }
  context.chains.learn(context.changes.current(id), chain)
}

/** Of a topic that was to be reversed the fence may be on already: what was there before it is in its record. */
function closedFor(
  { reversal, trueConfigs, state }: MirrorRecord,
  found: { readonly restore: RestoreRecord; readonly trueConfigs: MirrorRecord['trueConfigs'] },
): Partial<MirrorRecord> {
  if (state !== 'PENDING_SETUP_FOR_RESTORE' || !reversal || reversal.plan === '') return found
  const restore = { ...found.restore, plan: reversal.plan }
  const isFenced = reversal.writers !== 'admitted'
  return {
    restore,
    trueConfigs: isFenced ? trueConfigs : found.trueConfigs,
    reversal: { ...reversal, writers: 'refused' },
  }
}

async function decide(context: OperationContext, id: MirrorId): Promise<DecidedRestore> {
  try {
    return await decideRestore(context, id)
  } catch (error) {
    if (error instanceof OperationalError && !error.row.retriable) throw error
    const told = { verb: 'truncate-and-restore', step: 'find what both clusters have', reason: messageOf(error) }
    throw linkError('MIRROR_BUSY', { topic: id.mirrorTopic, ...told }, error)
  }
}

function resultOf({ cuts, warnings }: DecidedRestore): VerbResult {
  return {
    partitions: cuts.map(({ partition, offset }) => ({
      ...{ partition, endOffset: offset, stopOffset: null, lastKnownLag: null, waitingFor: null },
    })),
    openTransactions: 0,
    warnings,
    messagesTruncated: sum(cuts),
    truncation: cuts.map(truncationOf),
  }
}

const truncationOf = ({ partition, offset, endOffset, messages }: CutRecord) => ({
  partition,
  offsetTruncatedTo: offset < endOffset ? offset : -1,
  messagesTruncated: messages,
})
