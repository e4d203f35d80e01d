/** Mirror topics as REST shows them, from records and live figures of one moment; called by the engine. */
import type { Uuid } from '../../core/uuid.ts'
import type { LinkView, MirrorHistoryEntry, MirrorStatus, MirrorView } from '../engine-api.ts'
import type { MirrorTopic } from '../mirror/mirror-topic.ts'
import { needsPeer, supportedVerbs } from '../operations/alter-mirrors.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import { reversalView } from '../reversal/reversal-view.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { allowedVerbs } from '../states/mirror-topic-state.ts'
import { loopMessage } from '../tasks/chain-check.ts'
import { copyFigures, type Live, lagViews, liveOf, partitionState } from './lag-view.ts'

export function mirrorView(context: OperationContext, record: MirrorRecord): MirrorView {
  const { topic } = liveOf(context, record)
  const lags = lagViews(context, record)
  const known = lags.flatMap(({ lagMs }) => (lagMs === null ? [] : [lagMs]))
  const firstFailure = record.failures[0]
  return {
    ...shownMirror(context, record),
    sourceTopicName: record.sourceTopic,
    numPartitions: record.startOffsets.length,
    lags,
    error: record.state === 'FAILED' ? (firstFailure?.error ?? 'UNKNOWN') : 'NO_ERROR',
    held: record.held,
    stateTimeMs: record.stateTimeMs,
    lagMs: known.length > 0 && known.length === lags.length ? Math.max(...known) : null,
    allowedActions: record.stopping === undefined ? actionsOf(context, record) : ['failover', 'delete'],
    stateTransitionErrors: record.state === 'PENDING_STOPPED' ? [...(topic?.promotion?.errors ?? [])] : [],
    stopPoints: record.stopPoints.map(({ partition, stopOffset, lastSourceEpoch, timeMs }) => ({
      partition,
      stopOffset,
      lastSourceEpoch: lastSourceEpoch ?? null,
      stopTimeMs: timeMs,
    })),
    reversal: reversalView(record, context.runtime(record.linkId)),
  }
}

/** What needs the other half of a link is not offered where there is none. */
function actionsOf({ desired }: OperationContext, { linkId, state }: MirrorRecord): string[] {
  const isOneWay = desired.link(linkId)?.mode !== 'BIDIRECTIONAL'
  return allowedVerbs(state).filter(
    verb => verb === 'delete' || (supportedVerbs.has(verb) && !(isOneWay && needsPeer.has(verb))),
  )
}

/** Sorted by name; of all links and in every status where none is given. */
export function mirrorViews(
  context: OperationContext,
  { linkId, status }: { readonly linkId: Uuid | undefined; readonly status: string | undefined },
): MirrorView[] {
  const { desired } = context
  const wanted = status?.toUpperCase()
  return (linkId === undefined ? [...desired.mirrors()] : desired.mirrorsOf(linkId))
    .map(record => mirrorView(context, record))
    .filter(view => wanted === undefined || view.status === wanted)
    .sort((a, b) => (a.mirrorTopicName < b.mirrorTopicName ? -1 : 1))
}

/** Nothing new comes to a mirror in a loop, which nothing else would say. */
function loopReason({ chains }: OperationContext, record: MirrorRecord): string | null {
  const chain = chains.of(record)
  return record.state === 'ACTIVE' && chain.isLoop ? loopMessage(record.mirrorTopic, chain) : null
}

/** What is shown of a mirror instead of all of it. */
export function shownMirror(
  context: OperationContext,
  record: MirrorRecord,
): Pick<MirrorView, 'linkName' | 'mirrorTopicName' | 'status' | 'reason'> {
  const live = liveOf(context, record)
  const status = statusOf(record, live)
  return {
    linkName: context.desired.link(record.linkId)?.name ?? record.linkId,
    mirrorTopicName: record.mirrorTopic,
    status,
    reason: reasonOf(record, { status, ...live }) ?? loopReason(context, record),
  }
}

/** The newest first. */
export const historyView = ({ history }: MirrorRecord): MirrorHistoryEntry[] =>
  history.map((entry, index) => ({ ...entry, previousState: history[index - 1]?.state ?? null })).reverse()

const categories = {
  ACTIVE: 'ACTIVE',
  PAUSED: 'PAUSED',
  FAILED: 'IN_ERROR',
  STOPPED: 'NOT_APPLICABLE',
  PENDING: 'PENDING',
}

/** How many partitions of a link are in which LinkCategory. */
export function categoryCounts(mirrors: readonly MirrorRecord[]): LinkView['categoryCounts'] {
  const counts = new Map<string, number>()
  for (const record of mirrors)
    for (const partition of record.startOffsets.keys()) {
      const failed = record.failures.some(failure => failure.partition === partition)
      const category = categories[partitionState(record, failed)]
      counts.set(category, (counts.get(category) ?? 0) + 1)
    }
  return [...counts].map(([category, count]) => ({ category, count }))
}

/** Of mirrors that follow their sources: the largest lags (null = not known of any), what they have copied; and how many are how. */
export function linkFigures(
  context: OperationContext,
  mirrors: readonly MirrorRecord[],
): Pick<LinkView, 'lagMax' | 'lagMsMax' | 'mirroredBytes' | 'mirrorCounts' | 'troubledMirrors'> {
  const counts = new Map<MirrorStatus, number>()
  let troubledMirrors = 0
  for (const record of mirrors) {
    const { status, reason } = shownMirror(context, record)
    counts.set(status, (counts.get(status) ?? 0) + 1)
    if (status === 'ACTIVE' && reason !== null) troubledMirrors++
  }
  const mirrorCounts = [...counts].map(([status, count]) => ({ status, count }))
  return { ...copyFigures(context, mirrors), mirrorCounts, troubledMirrors }
}

/** ACTIVE is replaced while the link or the source is not. */
function statusOf(record: MirrorRecord, { runtime, troubles }: Live): MirrorStatus {
  if (record.state !== 'ACTIVE' || record.stopping !== undefined || !runtime) return record.state
  if (runtime.configs.must('cluster.link.paused')) return 'LINK_PAUSED'
  if (runtime.health.state === 'FAILED') return 'LINK_FAILED'
  const limitMs = runtime.configs.must('availability.check.ms')
  const silent = troubles.some(({ silentMs }) => silentMs !== null && silentMs >= limitMs)
  return runtime.health.state === 'UNAVAILABLE' || silent ? 'SOURCE_UNAVAILABLE' : record.state
}

function reasonOf(
  record: MirrorRecord,
  { runtime, topic, troubles, status }: Live & { status: MirrorStatus },
): string | null {
  if (record.state === 'PENDING_STOPPED' && record.stopping === undefined) return promotionReason(record, topic)
  if (record.state !== 'ACTIVE' || record.stopping !== undefined) return record.reason ?? null
  const trouble = troubles.find(({ reason }) => reason !== null)?.reason
  return (status === 'ACTIVE' ? trouble : (runtime?.health.message ?? trouble)) ?? null
}

/** What a promote waits for; the first thing of many. */
function promotionReason({ reason }: MirrorRecord, topic: MirrorTopic | undefined): string | null {
  const { waiting = [], errors = [] } = topic?.promotion ?? {}
  const partition = waiting.findIndex(text => text !== undefined)
  if (partition >= 0) return `waiting for partition ${partition}: ${waiting[partition]}`
  return errors[0] === undefined ? (reason ?? null) : `waiting: ${errors[0].message}`
}
