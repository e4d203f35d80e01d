/**
 * The end of a mirror, shared by failover and promote. Every step can be repeated: after a crash the whole walk runs
 * again from the durable record, and what is done already changes nothing.
 */
import { sleep } from '../../core/clock.ts'
import { mapBounded } from '../coordination/bounded.ts'
import type { MirrorId } from '../coordination/mirror-changes.ts'
import { beginLog } from '../mirror/partition-pipeline.ts'
import { stopPointOf } from '../mirror/stop-point.ts'
import type { MirrorLog } from '../ports.ts'
import type { HandOverRecord, MirrorRecord, StopPointRecord } from '../state-records/mirror-record.ts'
import { partitionReportOf } from '../views/lag-view.ts'
import { clampGroupOffsets } from './clamp-group-offsets.ts'
import type { OperationContext } from './operation-context.ts'

/** Partitions that are worked on at the same time. */
const parallel = 16
/** What is on its way to followers has this time to arrive; then the caller is told, and tries again. */
const replicationMs = 10_000
const lookMs = 50

/** Where a stop is; named in errors and in the log. */
export type StopStep =
  | 'stop fetching'
  | 'flush'
  | 'record stop points'
  | 'abort open transactions'
  | 'clamp group offsets'
  | 'raise producer ids'
  | 'keep retention'
  | 'record the hand-over'
  | 'release'
  | 'record STOPPED'

export interface StopReport {
  readonly record: MirrorRecord
  /** Log ends after our markers; index = partition. */
  readonly endOffsets: readonly number[]
  /** What an operator should know. */
  readonly warnings: readonly string[]
}

type TopicMirrorId = Required<MirrorId>

interface OpenedLog {
  readonly partition: number
  readonly log: MirrorLog
}

/** Runs the steps from `stopping` (durable) to STOPPED (durable). `step` is told before each one begins. */
export async function stopMirror(
  context: OperationContext,
  mirror: MirrorId,
  step: (name: StopStep) => void,
): Promise<StopReport> {
  const { topicId, stopping: begun } = context.changes.current(mirror)
  const id = { ...mirror, topicId }
  // Once it may have been handed over, the log may hold what clients wrote.
  const handOver = begun?.handOver ?? (await prepareHandOver(context, id, step))

  step('release')
  const { trueConfigs: configs, stopping } = context.changes.current(id)
  const verb = stopping?.verb ?? 'failover'
  const { plan, endOffsets } = handOver
  const noticed = await context.destination.fence.release({ topicId, verb, plan, endOffsets, configs })

  step('record STOPPED')
  const { stopPoints } = context.changes.current(id)
  const warnings = [...new Set([...handOver.warnings, ...noticed])]
  const told = warnings.length === 0 ? '' : `; ${warnings.join('; ')}`
  const record = await context.changes.transition(id, {
    event: verb === 'promote' ? 'caughtUp' : 'failover',
    reason: `stopped by ${verb}${overlaps(stopPoints)}${told}`,
  })
  if (!record) throw new TypeError('a stop leads to STOPPED')
  context.logger.info('mirror topic stopped', { topic: id.mirrorTopic, stopPoints: record.stopPoints.length })
  return { record, endOffsets, warnings }
}

/** Everything that is done with the log while it is still a mirror's. Resolves when it is durable that no more will be. */
async function prepareHandOver(
  context: OperationContext,
  id: TopicMirrorId,
  step: (name: StopStep) => void,
): Promise<HandOverRecord> {
  const { topicId } = id
  const { fence } = context.destination
  step('stop fetching')
  await context.runtime(id.linkId)?.stopFetching(id.mirrorTopic)
  await context.peers.stopFetching(id)
  // They know that it stops; what they had begun before may still be on its way.
  await context.runtime(id.linkId)?.syncsSettled()
  await context.undisturbed()

  step('flush')
  const { startOffsets } = context.changes.current(id)
  const all = [...startOffsets.keys()]
  const partitions = all.filter(partition => !fence.isTakenAway(topicId, partition))
  const logs = await mapBounded(partitions, parallel, async partition => ({
    partition,
    log: await context.destination.openEndingLog(topicId, partition),
  }))
  await mapBounded(logs, parallel, async ({ log, partition }) => {
    // One that was never fetched, because its link was paused, for example.
    await beginLog(log, startOffsets[partition] ?? 0)
    await log.flush()
    await replicated(context, { log, partition })
  })

  step('record stop points')
  await recordStopPoints(context, id, logs)

  // With its transactions aborted a log forgets whose records it has.
  const mirrored = new Set(logs.flatMap(({ log }) => log.producerIds()))
  step('abort open transactions')
  await mapBounded(logs, parallel, async ({ log, partition }) => {
    await log.abortOpenTransactions()
    await log.flush()
    await replicated(context, { log, partition })
  })

  step('clamp group offsets')
  const ends = new Map(logs.map(({ log, partition }) => [partition, log.state().logEndOffset]))
  const endOffsets = all.map(partition => ends.get(partition) ?? -1)
  await clampGroupOffsets(context, id, endOffsets)

  step('raise producer ids')
  const highest = largest(logs.map(({ log }) => log.producerIdMax()))
  const warnings = highest >= 0n ? [...(await context.destination.raiseProducerIds(highest, mirrored))] : []
  const taken = all.length - partitions.length
  if (taken > 0)
    warnings.push(
      `${taken} of ${all.length} partitions were made ordinary ones by somebody else: their logs stay as they are`,
    )

  step('keep retention')
  const { stopping: accepted } = context.changes.current(id)
  if (accepted?.keepsRetention) await keepRetention(context, topicId)

  step('record the hand-over')
  return await recordHandOver(context, id, { plan: fence.plan(topicId), endOffsets, warnings })
}

/** Whoever leads the partition next has all of it: where it ends is about to be recorded. Rejects where that takes long. */
async function replicated({ clock }: OperationContext, { log, partition }: OpenedLog): Promise<void> {
  const untilMs = clock.monotonicMs() + replicationMs
  for (;;) {
    const { highWatermark, logEndOffset } = await log.refresh()
    if (highWatermark >= logEndOffset) return
    if (clock.monotonicMs() >= untilMs)
      throw new Error(`partition ${partition}: in-sync replicas have it up to ${highWatermark} of ${logEndOffset}`)
    await sleep(clock, lookMs)
  }
}

async function recordHandOver(
  context: OperationContext,
  id: TopicMirrorId,
  handOver: HandOverRecord,
): Promise<HandOverRecord> {
  await context.changes.update(id, record =>
    record.stopping ? { ...record, stopping: { ...record.stopping, handOver } } : record,
  )
  return handOver
}

/** Producers of this cluster that got their ids before the barrier may have those of the source's; the log has forgotten the latter. */
function overlaps(stopPoints: readonly StopPointRecord[]): string {
  const ids = [...new Set(stopPoints.flatMap(({ overlappingProducerIds }) => overlappingProducerIds))]
  return ids.length === 0 ? '' : `; producer ids that may be in use at both clusters: ${ids.slice(0, 20).join(', ')}`
}

/** Before the fence drops, or retention could be first. Whoever wants the old values back removes the overrides. */
async function keepRetention({ topicConfigs }: OperationContext, topicId: MirrorRecord['topicId']): Promise<void> {
  const wanted = ['retention.ms', 'retention.bytes'].filter(key => {
    const config = topicConfigs.of(topicId, key)
    return config !== undefined && config.value !== '-1'
  })
  if (wanted.length > 0) await topicConfigs.alter(topicId, new Map(wanted.map(key => [key, '-1'])))
}

/** Once: what was recorded before a crash stays, since nothing has been mirrored after it. */
async function recordStopPoints(context: OperationContext, id: MirrorId, logs: readonly OpenedLog[]): Promise<void> {
  await context.changes.update(id, record => {
    if (record.stopPoints.length > 0) return record
    return { ...record, stopPoints: logs.map(opened => stopPoint(context, record, opened)) }
  })
}

/** What a stop at this moment would record for one partition. */
export function stopPoint(
  context: OperationContext,
  record: MirrorRecord,
  { partition, log }: OpenedLog,
): StopPointRecord {
  return stopPointOf(context, record, { partition, log, report: partitionReportOf(context, record, partition) })
}

function largest(producerIds: readonly bigint[]): bigint {
  let highest = -1n
  for (const producerId of producerIds) if (producerId > highest) highest = producerId
  return highest
}
