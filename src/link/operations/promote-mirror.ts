/** Promote: the mirror becomes writable once it holds everything that its source has. Called by alter-mirrors, carried on by the promotion task. */

import { messageOf } from '../../core/errors.ts'
import type { Uuid } from '../../core/uuid.ts'
import type { MirrorId } from '../coordination/mirror-changes.ts'
import { mirrorQueue } from '../coordination/mirror-queue.ts'
import { linkError } from '../errors.ts'
import { consumerGroupKind, shareGroupKind } from '../groups/group-kinds.ts'
import { groupsOf } from '../runtime/group-rounds.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { linkErrorOf } from '../states/link-health.ts'
import { groupsBehind } from '../tasks/group-offsets-sync.ts'
import { lookAtMirror, type MirrorLook } from '../tasks/mirror-look.ts'
import { askSource, requireRunning } from './ask-source.ts'
import { assertTransition } from './assert-transition.ts'
import type { VerbResult } from './mirror-positions.ts'
import type { OperationContext } from './operation-context.ts'

/**
 * Resolves when the promote is accepted, with what it still waits for. Rejects with the table's refusal, or while the source does
 * not answer or the link is paused: then nothing was changed. `together`: all topics of the request, which stop as one.
 */
export async function promoteMirror(
  context: OperationContext,
  id: MirrorId,
  together: readonly string[] = [],
): Promise<VerbResult> {
  // Outside of the mirror's queue: a failover does not wait for a source that does not answer.
  const look = await assertPromotable(context, id)
  await context.operations.run(mirrorQueue(id), () => accept(context, look.record, together))
  context.runtime(id.linkId)?.task('Promotion')?.start()
  return resultOf(look)
}

/** Durable when it resolves. */
async function accept(
  context: OperationContext,
  { linkId, mirrorTopic, topicId }: MirrorRecord,
  together: readonly string[],
): Promise<void> {
  const id = { linkId, mirrorTopic, topicId }
  const others = together.filter(topic => topic !== mirrorTopic)
  const event = { event: 'promote', reason: 'promote asked for' } as const
  const joined = await context.changes.transition(id, event, record => ({ ...record, together: others }))
  // Asked for before, alone: from now on it waits for the others.
  if (joined && others.some(topic => !joined.together.includes(topic)))
    await context.changes.update(id, record =>
      record.stopping ? record : { ...record, together: [...new Set([...record.together, ...others])] },
    )
  await context.reconcile()
}

/** What a promote would wait for now; changes nothing. */
export async function previewPromote(context: OperationContext, id: MirrorId): Promise<VerbResult> {
  return resultOf(await assertPromotable(context, id))
}

/**
 * By mirror topic, the groups that are not in step with the source; empty where the link does not sync them, or the source does not
 * tell. Groups in use here do not hold up a promote: whoever reads it decides.
 */
export async function groupsOfMirrors(
  context: OperationContext,
  linkId: Uuid,
  mirrorTopics: readonly string[],
): Promise<ReadonlyMap<string, Pick<VerbResult, 'groupsBehind' | 'groupsInUse'>>> {
  const runtime = context.runtime(linkId)
  if (!runtime?.source || !runtime.configs.must('consumer.offset.sync.enable')) return new Map()
  const { source, configs } = runtime
  const signal = AbortSignal.timeout(configs.must('request.timeout.ms'))
  const records = mirrorTopics.flatMap(topic => context.desired.mirror(linkId, topic) ?? [])
  try {
    const kinds = [consumerGroupKind, shareGroupKind].map(kind =>
      groupsBehind(
        { ...groupsOf(context, { linkId, source, configs }, kind), peerFilters: undefined, signal },
        records,
      ),
    )
    const found = await Promise.all(kinds)
    const of = (topic: string, which: 'behind' | 'inUse') =>
      found.flatMap(kind => kind.get(topic)?.[which] ?? []).sort()
    return new Map(
      mirrorTopics.map(topic => [topic, { groupsBehind: of(topic, 'behind'), groupsInUse: of(topic, 'inUse') }]),
    )
  } catch (error) {
    context.logger.warn('groups could not be compared', { topics: records.length, error: messageOf(error) })
    return new Map()
  }
}

async function assertPromotable(context: OperationContext, id: MirrorId): Promise<MirrorLook> {
  const record = assertTransition(context, id, 'promote')
  const link = context.desired.link(id.linkId)?.name ?? id.linkId
  const { runtime, source } = requireRunning(context, id.linkId)
  if (runtime.configs.must('cluster.link.paused')) throw linkError('LINK_PAUSED', { link })
  const { health } = runtime
  if (health.state === 'FAILED' && health.failure !== undefined)
    throw linkError('SOURCE_NOT_AVAILABLE', { link, error: linkErrorOf(health.failure), reason: health.message ?? '' })
  return await askSource(link, () => lookAtMirror(context, record, { source }))
}

function resultOf({ logs, waiting, warnings }: MirrorLook): VerbResult {
  const partitions = logs.map((log, partition) => ({
    partition,
    endOffset: log.state().logEndOffset,
    stopOffset: null,
    lastKnownLag: null,
    waitingFor: waiting[partition] ?? null,
  }))
  return { partitions, openTransactions: 0, warnings }
}
