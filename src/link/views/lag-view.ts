/** How far mirrors are behind, partition by partition: figures of this node for what it leads, of its peers for the rest. Used by the views and by verbs. */
import type { LinkView, MirrorLagView } from '../engine-api.ts'
import type { MirrorTopic } from '../mirror/mirror-topic.ts'
import { PartitionFigures } from '../mirror/partition-figures.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import type { PartitionReport } from '../peer-ports.ts'
import type { LinkRuntime } from '../runtime/link-runtime.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'

/** What is known of a mirror beside its record. */
export interface Live {
  readonly runtime: LinkRuntime | undefined
  /** What runs of it on this node. */
  readonly topic: MirrorTopic | undefined
  /** What the leader of each partition says is wrong with it; nothing of one that has not been heard of lately. */
  readonly troubles: readonly Pick<PartitionReport, 'reason' | 'silentMs'>[]
}

type Parts = Pick<OperationContext, 'peers' | 'destination' | 'clock' | 'runtime'>

/** The figures of this node for a partition that it leads, of its leader otherwise. */
type Figures = PartitionFigures | PartitionReport

export function liveOf(context: OperationContext, record: MirrorRecord): Live {
  const nowMs = context.clock.monotonicMs()
  const troubles = figuresOf(context, record).flatMap(figures => {
    if (!(figures instanceof PartitionFigures)) return figures ?? []
    const { reason = null, silentSinceMs } = figures
    return { reason, silentMs: silentSinceMs === undefined ? null : nowMs - silentSinceMs }
  })
  return { runtime: context.runtime(record.linkId), topic: runningTopic(context, record), troubles }
}

function runningTopic(context: Parts, { linkId, mirrorTopic, topicId }: MirrorRecord): MirrorTopic | undefined {
  const running = context.runtime(linkId)?.mirror(mirrorTopic)
  return running?.topicId === topicId ? running : undefined
}

/** Index = partition; undefined = nobody knows. */
function figuresOf(context: Parts, record: MirrorRecord): (Figures | undefined)[] {
  const own = runningTopic(context, record)?.figures
  const { peers, destination } = context
  const { topicId } = record
  return record.startOffsets.map((_, partition) =>
    destination.leads(topicId, partition) ? own?.[partition] : peers.reports.of(topicId, partition),
  )
}

/** What the leader of one partition of a mirror says of it; undefined = nobody knows. */
export function partitionReportOf(
  context: Parts,
  record: MirrorRecord,
  partition: number,
): PartitionReport | undefined {
  return reportOf(context, record, figuresOf(context, record)[partition])
}

const reportOf = ({ clock }: Parts, { topicId }: MirrorRecord, figures: Figures | undefined) =>
  figures instanceof PartitionFigures ? figures.report(topicId, clock.monotonicMs()) : figures

/** One row per partition; live figures where its leader tells them, the stop record for what is stopped. */
export function lagViews(context: OperationContext, record: MirrorRecord): MirrorLagView[] {
  return figuresOf(context, record).map((figures, partition) => {
    const failure = record.failures.find(failed => failed.partition === partition)
    const state = partitionState(record, failure !== undefined)
    const isLedHere = context.destination.leads(record.topicId, partition)
    const report = reportOf(context, record, figures)
    if (!report) return { ...unknownLag(record, partition), state, reason: failure?.reason ?? null, isLedHere }
    const { topicId: _topicId, silentMs: _silentMs, ...shown } = report
    return { ...shown, state, reason: failure?.reason ?? report.reason, isLedHere }
  })
}

function unknownLag(
  { stopPoints }: MirrorRecord,
  partition: number,
): Omit<MirrorLagView, 'state' | 'reason' | 'isLedHere'> {
  const point = stopPoints.find(stop => stop.partition === partition)
  return {
    partition,
    lag: point?.lag ?? null,
    lagMs: null,
    lastSourceFetchOffset: point?.lastSourceFetchOffset ?? -1,
    logStartOffset: null,
    logEndOffset: null,
    sourceHighWatermark: null,
    sourceLastStableOffset: null,
    stableLag: null,
    mirroredBytes: 0,
    mirroredBatches: 0,
    lastFetchTimeMs: null,
  }
}

/** Of mirrors that follow their sources: the largest lags (null = not known of any), and what they have copied. */
export function copyFigures(
  context: OperationContext,
  mirrors: readonly MirrorRecord[],
): Pick<LinkView, 'lagMax' | 'lagMsMax' | 'mirroredBytes'> {
  let lagMax: number | null = null
  let lagMsMax: number | null = null
  let mirroredBytes = 0
  const nowMs = context.clock.monotonicMs()
  for (const record of mirrors)
    for (const figures of record.state === 'STOPPED' ? [] : figuresOf(context, record)) {
      mirroredBytes += figures?.mirroredBytes ?? 0
      const { lag = null, lagMs = null } = (figures instanceof PartitionFigures ? figures.lagsAt(nowMs) : figures) ?? {}
      if (lag !== null) lagMax = Math.max(lagMax ?? 0, lag)
      if (lagMs !== null) lagMsMax = Math.max(lagMsMax ?? 0, lagMs)
    }
  return { lagMax, lagMsMax, mirroredBytes }
}

export function partitionState(record: MirrorRecord, failed: boolean): MirrorLagView['state'] {
  if (record.state === 'STOPPED') return 'STOPPED'
  if (failed) return 'FAILED'
  if (record.stopping !== undefined) return 'PENDING'
  const state = record.state === 'FAILED' ? (record.failedFrom ?? 'ACTIVE') : record.state
  return state === 'ACTIVE' || state === 'PAUSED' ? state : 'PENDING'
}
