/**
 * The end of a mirror, shared by failover and promote. Every step can be repeated: after a crash the whole walk runs
 * again from the durable record, and what is done already changes nothing.
 */
import { mapBounded } from '../coordination/bounded.ts'
import type { MirrorId } from '../coordination/mirror-changes.ts'
import { beginLog } from '../mirror/partition-pipeline.ts'
import { stopPointOf } from '../mirror/stop-point.ts'
import type { MirrorLog } from '../ports.ts'
import type { MirrorRecord, StopPointRecord } from '../state-records/mirror-record.ts'
import { clampGroupOffsets } from './clamp-group-offsets.ts'
import type { OperationContext } from './operation-context.ts'

/** Partitions that are worked on at the same time. */
const parallel = 16

/** Where a stop is; named in errors and in the log. */
export type StopStep =
  | 'stop fetching'
  | 'flush'
  | 'record stop points'
  | 'abort open transactions'
  | 'clamp group offsets'
  | 'raise producer ids'
  | 'keep retention'
  | 'start new leader epochs'
  | 'record STOPPED'

export interface StopReport {
  readonly record: MirrorRecord
  /** Log ends after our markers; index = partition. */
  readonly endOffsets: readonly number[]
}

/** Runs the steps from `stopping` (durable) to STOPPED (durable). `step` is told before each one begins. */
export async function stopMirror(
  context: OperationContext,
  mirror: MirrorId,
  step: (name: StopStep) => void,
): Promise<StopReport> {
  step('stop fetching')
  const { topicId } = context.changes.current(mirror)
  const id = { ...mirror, topicId }
  await context.runtime(id.linkId)?.stopFetching(id.mirrorTopic)
  // They know that it stops; what they had begun before may still be on its way.
  await context.runtime(id.linkId)?.syncsSettled()

  step('flush')
  const { startOffsets } = context.changes.current(id)
  const partitions = [...startOffsets.keys()]
  const logs = await mapBounded(partitions, parallel, index => context.destination.openMirrorLog(topicId, index))
  await mapBounded(logs, parallel, async (log, partition) => {
    // One that was never fetched, because its link was paused, for example.
    await beginLog(log, startOffsets[partition] ?? 0)
    await log.flush()
  })

  step('record stop points')
  await recordStopPoints(context, id, logs)

  step('abort open transactions')
  await mapBounded(logs, parallel, async log => {
    await log.abortOpenTransactions()
    await log.flush()
  })

  step('clamp group offsets')
  const ends = logs.map(log => log.state().logEndOffset)
  await clampGroupOffsets(context, id, ends)

  step('raise producer ids')
  const highest = largest(logs.map(log => log.producerIdMax()))
  if (highest >= 0n) await context.destination.raiseProducerIds(highest)

  step('keep retention')
  const { stopping: accepted } = context.changes.current(id)
  if (accepted?.keepsRetention) await keepRetention(context, topicId)

  step('start new leader epochs')
  await context.destination.bumpLeaderEpochs(topicId)

  step('record STOPPED')
  const { stopping, stopPoints } = context.changes.current(id)
  const event = stopping?.verb === 'promote' ? 'caughtUp' : 'failover'
  const record = await context.changes.transition(id, {
    event,
    reason: `stopped by ${stopping?.verb ?? 'failover'}${overlaps(stopPoints)}`,
  })
  if (!record) throw new TypeError('a stop leads to STOPPED')
  context.logger.info('mirror topic stopped', { topic: id.mirrorTopic, stopPoints: record.stopPoints.length })
  return { record, endOffsets: ends }
}

/** Producers of this cluster that got their ids before the barrier may have those of the source's; the log has forgotten the latter. */
function overlaps(stopPoints: readonly StopPointRecord[]): string {
  const ids = [...new Set(stopPoints.flatMap(({ overlappingProducerIds }) => overlappingProducerIds))]
  return ids.length === 0 ? '' : `; producer ids that may be in use at both clusters: ${ids.slice(0, 20).join(', ')}`
}

/** Before the fence drops, or retention could be first. Whoever wants the old values back removes the overrides. */
async function keepRetention({ destination }: OperationContext, topicId: MirrorRecord['topicId']): Promise<void> {
  const wanted = ['retention.ms', 'retention.bytes'].filter(key => {
    const config = destination.topicConfig(topicId, key)
    return config !== undefined && config.value !== '-1'
  })
  if (wanted.length > 0) await destination.alterTopicConfigs(topicId, new Map(wanted.map(key => [key, '-1'])))
}

/** Once: what was recorded before a crash stays, since nothing has been mirrored after it. */
async function recordStopPoints(context: OperationContext, id: MirrorId, logs: readonly MirrorLog[]): Promise<void> {
  await context.changes.update(id, record => {
    if (record.stopPoints.length > 0) return record
    return { ...record, stopPoints: logs.map((log, partition) => stopPoint(context, record, { partition, log })) }
  })
}

/** What a stop at this moment would record for one partition. */
export function stopPoint(
  context: OperationContext,
  record: MirrorRecord,
  { partition, log }: { partition: number; log: MirrorLog },
): StopPointRecord {
  const figures = context.runtime(record.linkId)?.mirror(record.mirrorTopic)?.figures[partition]
  return stopPointOf(context, record, { partition, log, figures })
}

function largest(producerIds: readonly bigint[]): bigint {
  let highest = -1n
  for (const producerId of producerIds) if (producerId > highest) highest = producerId
  return highest
}
