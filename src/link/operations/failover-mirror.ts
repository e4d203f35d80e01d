/** Failover: the mirror becomes writable now, with what it has. Called by alter-mirrors and delete-link, continued by the reconciler. */
import { messageOf } from '../../core/errors.ts'
import { mapBounded } from '../coordination/bounded.ts'
import type { MirrorId } from '../coordination/mirror-changes.ts'
import { linkError } from '../errors.ts'
import { MirrorLogConflict } from '../ports.ts'
import type { MirrorRecord, StopPointRecord } from '../state-records/mirror-record.ts'
import { assertTransition } from './assert-transition.ts'
import type { VerbResult } from './mirror-positions.ts'
import { mirrorQueue, type OperationContext } from './operation-context.ts'
import { type StopStep, stopMirror, stopPoint } from './stop-mirror.ts'

/**
 * Resolves when the topic is STOPPED and writable. Rejects with the table's refusal, or with MIRROR_BUSY: then the verb was
 * accepted and is continued until it succeeds.
 */
export function failOverMirror(context: OperationContext, id: MirrorId): Promise<VerbResult> {
  return context.operations.run(mirrorQueue(id), async () => {
    const { topicId } = await accept(context, id)
    return continueStop(context, { ...id, topicId })
  })
}

/** The rest of an accepted stop; called inside the mirror's queue. */
export async function continueStop(context: OperationContext, id: MirrorId): Promise<VerbResult> {
  let step: StopStep = 'stop fetching'
  try {
    const { record, endOffsets } = await stopMirror(context, id, name => {
      step = name
    })
    return resultOf(record.stopPoints, endOffsets)
  } catch (error) {
    // The topic may have been deleted meanwhile: then its mirror is gone, and that is the answer.
    const record = context.changes.current(id)
    const reason = error instanceof MirrorLogConflict ? `the log is in use: ${error.message}` : messageOf(error)
    const verb = record.stopping?.verb ?? 'failover'
    throw linkError('MIRROR_BUSY', { topic: id.mirrorTopic, verb, step, reason }, error)
  }
}

/** What a failover would answer now; changes nothing. */
export async function previewFailover(context: OperationContext, id: MirrorId): Promise<VerbResult> {
  const record = assertTransition(context, id, 'failover')
  const partitions = [...record.startOffsets.keys()]
  const points = await mapBounded(partitions, 16, async partition => {
    const log = await context.destination.openMirrorLog(record.topicId, partition)
    return stopPoint(context, record, { partition, log })
  })
  return resultOf(
    points,
    points.map(point => point.stopOffset + point.openTransactions),
  )
}

/** Durable before anything happens: from here on the mirror is never fetched again, whatever dies. */
function accept(context: OperationContext, id: MirrorId): Promise<MirrorRecord> {
  return context.changes.update(id, record => {
    assertTransition(context, id, 'failover')
    if (record.stopping) return record
    const stopping = { verb: 'failover', sinceMs: context.clock.nowMs() } as const
    return { ...record, stopping, stopPoints: [], reason: 'failover in progress' }
  })
}

function resultOf(points: readonly StopPointRecord[], endOffsets: readonly number[]): VerbResult {
  return {
    partitions: points.map((point, index) => ({
      partition: point.partition,
      endOffset: endOffsets[index] ?? null,
      stopOffset: point.stopOffset,
      lastKnownLag: point.lag ?? null,
      waitingFor: null,
    })),
    openTransactions: points.reduce((sum, point) => sum + point.openTransactions, 0),
  }
}
