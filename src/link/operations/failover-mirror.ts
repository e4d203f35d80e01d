/** Failover: the mirror becomes writable now, with what it has. Called by alter-mirrors and delete-link, continued by the reconciler. */

import { messageOf } from '../../core/errors.ts'
import { retentionLimits } from '../../core/retention-limits.ts'
import { LinkConfigs } from '../configs/link-configs.ts'
import { mapBounded } from '../coordination/bounded.ts'
import type { MirrorId } from '../coordination/mirror-changes.ts'
import { mirrorQueue } from '../coordination/mirror-queue.ts'
import { linkError } from '../errors.ts'
import { MirrorLogConflict } from '../ports.ts'
import { decideToGiveUp, finishGivingUp } from '../restore/give-up-restore.ts'
import type { MirrorRecord, StopPointRecord } from '../state-records/mirror-record.ts'
import { isOrdinaryLog } from '../states/mirror-topic-state.ts'
import { withHistory } from '../states/transition.ts'
import { assertTransition } from './assert-transition.ts'
import type { VerbResult } from './mirror-positions.ts'
import type { OperationContext } from './operation-context.ts'
import { type StopStep, stopMirror, stopPoint } from './stop-mirror.ts'
import { awaitClosedSource, type TakeOver, withdrawalOutlook, withdrawReverse } from './withdraw-reverse.ts'

/** How a failover was asked for. */
export interface FailoverOptions {
  /** Leave what the topic's own retention would delete; undefined = as the link says. */
  readonly keepRetention?: boolean | undefined
  /** The other side of a reverse is not asked: its link goes. */
  readonly alone?: boolean
}

/**
 * Resolves when the topic is STOPPED and writable. Rejects with the table's refusal, or with MIRROR_BUSY: then the verb was
 * accepted and is continued until it succeeds.
 */
export async function failOverMirror(
  context: OperationContext,
  id: MirrorId,
  options: FailoverOptions = {},
): Promise<VerbResult> {
  // Not in the queue: what is at it may wait for the other cluster, and finds out when it wants to go on.
  if (isOrdinaryLog(context.changes.current(id).state)) {
    const givenUp = await giveUp(context, id, options)
    if (givenUp) return givenUp
  }
  const takeOver = options.alone ? undefined : await awaitClosedSource(context, id)
  if (takeOver?.isFork) context.incidents.count('fork')
  const result = await context.operations.run(mirrorQueue(id), async () => {
    const { topicId } = await accept(context, id, { keeps: keepsRetention(context, id, options), takeOver })
    return continueStop(context, { ...id, topicId })
  })
  return takeOver ? { ...result, warnings: [takeOver.note, ...(result.warnings ?? [])] } : result
}

/** The topic is again what it was before somebody wanted to make it a mirror; undefined where it is too late for that. */
async function giveUp(
  context: OperationContext,
  id: MirrorId,
  { alone = false }: FailoverOptions,
): Promise<VerbResult | undefined> {
  if (context.changes.current(id).reversal) return await withdrawReverse(context, id, { alone })
  const decided = await decideToGiveUp(context, id, 'given up before anything was changed')
  if (decided === 'too-late') return undefined
  if (decided === 'fenced')
    await context.operations.run(mirrorQueue(id), async () => {
      try {
        await finishGivingUp(context, id)
      } catch (error) {
        const told = { verb: 'failover', step: 'release', reason: messageOf(error) }
        throw linkError('MIRROR_BUSY', { topic: id.mirrorTopic, ...told }, error)
      }
    })
  return { partitions: [], openTransactions: 0 }
}

const keepsRetention = ({ desired }: OperationContext, { linkId }: MirrorId, { keepRetention }: FailoverOptions) => {
  const link = desired.link(linkId)
  return keepRetention ?? (link ? new LinkConfigs(link.configs).must('mirror.keep.retention.on.failover') : false)
}

/** The rest of an accepted stop; called inside the mirror's queue. */
export async function continueStop(context: OperationContext, id: MirrorId): Promise<VerbResult> {
  let step: StopStep = 'stop fetching'
  try {
    const { record, endOffsets, warnings } = await stopMirror(context, id, name => {
      step = name
    })
    return { ...resultOf(record.stopPoints, endOffsets), ...(await retentionAtRisk(context, record)), warnings }
  } catch (error) {
    // The topic may have been deleted meanwhile: then its mirror is gone, and that is the answer.
    const record = context.changes.current(id)
    const reason = error instanceof MirrorLogConflict ? `the log is in use: ${error.message}` : messageOf(error)
    const verb = record.stopping?.verb ?? 'failover'
    throw linkError('MIRROR_BUSY', { topic: id.mirrorTopic, verb, step, reason }, error)
  }
}

/** What a failover would answer now; changes nothing. */
export async function previewFailover(
  context: OperationContext,
  id: MirrorId,
  options: FailoverOptions = {},
): Promise<VerbResult> {
  const record = assertTransition(context, id, 'failover')
  if (isOrdinaryLog(record.state)) {
    const warnings = record.reversal ? [await withdrawalOutlook(context, record)] : []
    return { partitions: [], openTransactions: 0, warnings }
  }
  const takeOver = await awaitClosedSource(context, id, 0)
  const { fence } = context.destination
  const partitions = [...record.startOffsets.keys()].filter(index => !fence.isTakenAway(record.topicId, index))
  const points = await mapBounded(partitions, 16, async partition => {
    const log = await context.destination.openEndingLog(record.topicId, partition)
    return stopPoint(context, record, { partition, log })
  })
  const endOffsets: number[] = []
  for (const point of points) endOffsets[point.partition] = point.stopOffset + point.openTransactions
  const keeps = keepsRetention(context, id, options)
  const outlook = await fence.outlook(record.topicId, 'failover')
  const { obstacles } = outlook
  const warnings = [...(takeOver ? [takeOver.note] : []), ...outlook.warnings]
  const { partitions: rows, ...result } = resultOf(points, endOffsets)
  const waiting = rows.map(row => ({ ...row, waitingFor: obstacles.get(row.partition) ?? null }))
  return { ...result, partitions: waiting, warnings, ...(await retentionAtRisk(context, record, keeps)) }
}

/**
 * What the topic's own retention, which holds from the stop on, would delete at its next look. A mirror whose source is long
 * gone may be older than its retention altogether. Absent where a log cannot be asked: that must not fail a failover.
 */
async function retentionAtRisk(
  { destination, topicConfigs, logger }: OperationContext,
  { topicId, mirrorTopic, startOffsets }: MirrorRecord,
  isKept = false,
): Promise<Pick<VerbResult, 'retentionBytesAtRisk'>> {
  if (isKept) return { retentionBytesAtRisk: 0 }
  const limits = retentionLimits(key => topicConfigs.of(topicId, key)?.value)
  try {
    const bytes = await mapBounded([...startOffsets.keys()], 16, async partition => {
      const log = await destination.openMirrorLog(topicId, partition)
      return await log.retentionBytesAtRisk(limits)
    })
    return { retentionBytesAtRisk: bytes.reduce((sum, one) => sum + one, 0) }
  } catch (error) {
    logger.warn('what retention will delete is not known', { topic: mirrorTopic, error: messageOf(error) })
    return {}
  }
}

/** Durable before anything happens: from here on the mirror is never fetched again, whatever dies. */
function accept(
  context: OperationContext,
  id: MirrorId,
  { keeps, takeOver }: { readonly keeps: boolean; readonly takeOver: TakeOver | undefined },
): Promise<MirrorRecord> {
  return context.changes.update(id, record => {
    assertTransition(context, id, 'failover')
    if (record.stopping) return keeps ? { ...record, stopping: { ...record.stopping, keepsRetention: true } } : record
    const sinceMs = context.clock.nowMs()
    const stopping = { verb: 'failover', sinceMs, keepsRetention: keeps, handOver: undefined } as const
    const accepted = { ...record, stopping, stopPoints: [], reason: 'failover in progress' }
    return takeOver?.isFork
      ? withHistory(accepted, { event: 'fork', reason: takeOver.note, timeMs: sinceMs })
      : accepted
  })
}

function resultOf(points: readonly StopPointRecord[], endOffsets: readonly number[]): VerbResult {
  return {
    partitions: points.map(point => ({
      partition: point.partition,
      endOffset: endOffsets[point.partition] ?? null,
      stopOffset: point.stopOffset,
      lastKnownLag: point.lag ?? null,
      waitingFor: null,
    })),
    openTransactions: points.reduce((sum, point) => sum + point.openTransactions, 0),
    overlappingProducerIds: [...new Set(points.flatMap(point => point.overlappingProducerIds))].map(Number),
  }
}
