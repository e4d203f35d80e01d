/** ConsumerOffsetSync and ShareGroupOffsetSync: offsets that groups have at the source are given to them here, for partitions that are mirrored (semantics §5). Run by the link's tasks. */
import { isSelected, type NameFilter } from '../configs/name-filters.ts'
import { mapBounded } from '../coordination/bounded.ts'
import type { GroupKind } from '../groups/group-kinds.ts'
import type { GroupSyncState, GroupSyncStates } from '../groups/group-sync-states.ts'
import {
  clampedOffset,
  type GroupPlan,
  placeText,
  planGroup,
  recordOf,
  type WantedOffset,
} from '../groups/plan-group.ts'
import type { Destination, GroupCommit, GroupOffset, SourceCluster } from '../ports.ts'
import type { EngineParts } from '../runtime/engine-parts.ts'
import type { WrittenOffset } from '../state-records/group-offsets-record.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { groupOffsetsStateRecord } from '../state-records/record-codec.ts'
import { type TaskError, taskErrorOf } from './sync-task.ts'

export interface GroupOffsetsParts extends Pick<EngineParts, 'destination' | 'desired' | 'linkChanges' | 'clock'> {
  readonly kind: GroupKind
  readonly linkId: MirrorRecord['linkId']
  readonly source: SourceCluster
  readonly filters: readonly NameFilter[]
  /** Before the names of groups here. */
  readonly groupPrefix: string
  readonly states: GroupSyncStates
  readonly stateMaxAgeMs: number
  readonly signal: AbortSignal
}

/** Groups worked on at the same time. */
const parallel = 8

/** A group of the source with what it should have here. */
interface GroupToSync {
  readonly sourceGroup: string
  readonly group: string
  readonly wanted: readonly WantedOffset[]
  /** Committed for partitions that do not exist here yet. */
  readonly waiting: readonly WantedOffset[]
}

/** One round over the groups that these mirrors concern. Groups that are skipped are listed, and no errors. */
export async function syncGroupOffsets(
  parts: GroupOffsetsParts,
  mirrors: readonly MirrorRecord[],
): Promise<readonly TaskError[]> {
  const { states, clock, stateMaxAgeMs } = parts
  if (parts.filters.length === 0)
    return [{ code: 'MISCONFIGURATION_ERROR', message: 'consumer.offset.group.filters selects no group' }]
  const missing = parts.kind.missingHere(parts.destination)
  if (missing === undefined) states.missing.delete(parts.kind)
  else states.missing.set(parts.kind, missing)
  if (missing !== undefined) return []
  const { groups, errors, isMissing, unknown } = await groupsToSync(parts, mirrors)
  if (isMissing)
    states.missing.set(
      parts.kind,
      'The source has no share groups, or cannot tell where they start (before Kafka 4.1).',
    )
  const asked = new Set(mirrors.flatMap(({ mirrorTopic }) => (unknown.has(mirrorTopic) ? [] : [mirrorTopic])))
  const isLeftOut = (topic: string) => !asked.has(topic) && isMirrored(parts, topic)
  await mapBounded(groups, parallel, async group => {
    try {
      const error = await states.turns.run(group.group, () => syncGroup(parts, stillSynced(parts, group), isLeftOut))
      if (error) errors.push(error)
    } catch (error) {
      errors.push(taskErrorOf(error, `group ${group.group}`))
    }
  })
  states.forgetOlderThan(stateMaxAgeMs, clock.nowMs())
  return errors
}

function isMirrored({ desired, linkId }: GroupOffsetsParts, topic: string): boolean {
  const record = desired.mirror(linkId, topic)
  return record !== undefined && record.state !== 'STOPPED'
}

/** Without topics that are being stopped by now: a stop waits for the turns before it, and nothing is written after it. */
function stillSynced({ desired, linkId }: GroupOffsetsParts, group: GroupToSync): GroupToSync {
  const isSynced = ({ topic }: WantedOffset) => {
    const record = desired.mirror(linkId, topic)
    return record !== undefined && record.state !== 'STOPPED' && record.stopping === undefined
  }
  return { ...group, wanted: group.wanted.filter(isSynced), waiting: group.waiting.filter(isSynced) }
}

/** Groups of one mirror whose offsets here are not those of the source, and those of them that have members here. */
export interface GroupsBehind {
  readonly behind: readonly string[]
  readonly inUse: readonly string[]
}

/** By mirror topic, what is not in step now; nothing is written. For previews: every group is read once, however many mirrors. */
export async function groupsBehind(
  parts: Omit<GroupOffsetsParts, 'states' | 'stateMaxAgeMs'>,
  mirrors: readonly MirrorRecord[],
): Promise<ReadonlyMap<string, GroupsBehind>> {
  const { groups } = await groupsToSync(parts, mirrors)
  const found = new Map(
    mirrors.map(({ mirrorTopic }) => [mirrorTopic, { behind: [] as string[], inUse: [] as string[] }]),
  )
  await mapBounded(groups, parallel, async ({ group, wanted }) => {
    const here = await parts.kind.here(parts.destination, group)
    if (here.kind !== 'offsets') return
    const written = parts.desired.groupOffsets(parts.linkId, group)
    const plan = planGroup({ wanted, here: here.offsets, written, isCommitted: () => false, isStale: () => false })
    for (const topic of new Set([...plan.writes, ...plan.conflicts].map(offset => offset.topic))) {
      found.get(topic)?.behind.push(group)
      if (here.hasMembers) found.get(topic)?.inUse.push(group)
    }
  })
  return new Map(
    [...found].map(([topic, { behind, inUse }]) => [topic, { behind: behind.sort(), inUse: inUse.sort() }]),
  )
}

async function groupsToSync(
  parts: Omit<GroupOffsetsParts, 'states' | 'stateMaxAgeMs'>,
  mirrors: readonly MirrorRecord[],
): Promise<{ groups: GroupToSync[]; errors: TaskError[]; isMissing: boolean; unknown: ReadonlySet<string> }> {
  const { source, kind, filters, signal } = parts
  const listed = await source.listGroups(signal)
  const chosen = listed.filter(group => kind.keeps(group) && isSelected(filters, group.groupId))
  const ids = chosen.map(({ groupId }) => groupId)
  const found = await kind.atSource(source, ids, signal)
  if (!found) return { groups: [], errors: [], isMissing: true, unknown: new Set() }
  const { offsets, failures } = found
  const { logs, failed } = await mirroredLogs(parts.destination, mirrors)
  const errors = [
    ...[...failures.values()].map(failure => taskErrorOf(failure)),
    ...[...failed].map(([topic, error]) => taskErrorOf(error, `topic ${topic}`)),
  ]
  const groups = [...offsets].map(([sourceGroup, committed]) => toSync(parts, { sourceGroup, committed, logs }))
  return {
    groups: groups.filter(({ wanted, waiting }) => wanted.length + waiting.length > 0),
    errors,
    isMissing: false,
    unknown: new Set(failed.keys()),
  }
}

/** By source topic: the mirror's name, and per partition what it holds. */
type MirroredLogs = ReadonlyMap<
  string,
  { readonly topic: string; readonly logs: readonly { logStartOffset: number; highWatermark: number }[] }
>

/** A topic of which one log cannot be reached now is left for the next round: others do not wait for it. */
async function mirroredLogs(
  destination: Destination,
  mirrors: readonly MirrorRecord[],
): Promise<{ logs: MirroredLogs; failed: ReadonlyMap<string, unknown> }> {
  const failed = new Map<string, unknown>()
  const found = await mapBounded(mirrors, parallel, async ({ sourceTopic, mirrorTopic, topicId, startOffsets }) => {
    const partitions = [...startOffsets.keys()]
    try {
      const logs = await mapBounded(partitions, parallel, async partition =>
        (await destination.openMirrorLog(topicId, partition)).state(),
      )
      return [[sourceTopic, { topic: mirrorTopic, logs }] as const]
    } catch (error) {
      failed.set(mirrorTopic, error)
      return []
    }
  })
  return { logs: new Map(found.flat()), failed }
}

function toSync(
  { groupPrefix }: Pick<GroupOffsetsParts, 'groupPrefix'>,
  of: { readonly sourceGroup: string; readonly committed: readonly GroupOffset[]; readonly logs: MirroredLogs },
): GroupToSync {
  const wanted: WantedOffset[] = []
  const waiting: WantedOffset[] = []
  for (const offset of of.committed) {
    const mirror = of.logs.get(offset.topic)
    if (!mirror) continue
    const log = mirror.logs[offset.partition]
    const here = { ...offset, topic: mirror.topic }
    if (log) wanted.push(clampedOffset(here, log))
    else waiting.push({ ...here, sourceOffset: offset.offset })
  }
  return { sourceGroup: of.sourceGroup, group: `${groupPrefix}${of.sourceGroup}`, wanted, waiting }
}

/** `isLeftOut`: a mirror that this round is not about; what is known of it stays. */
async function syncGroup(
  parts: GroupOffsetsParts,
  group: GroupToSync,
  isLeftOut: (topic: string) => boolean,
): Promise<TaskError | undefined> {
  const { destination, desired, linkChanges, linkId, clock, states, kind } = parts
  const found = await kind.here(destination, group.group)
  if (found.kind !== 'offsets') {
    report(parts, group, { isLeftOut, failed: { state: 'FAILED', reason: found.message } })
    return { code: 'INTERNAL_ERROR', message: `group ${group.group}: ${found.message}` }
  }
  const written = desired.groupOffsets(linkId, group.group)
  const staleMs = destination.groupOffsetRetentionMs / 2
  const knowledge = {
    wanted: group.wanted,
    here: found.offsets,
    written,
    isCommitted: (own: WrittenOffset) => states.of(group.group, placeText(own))?.syncedOffset === own.offset,
    isStale: (place: { topic: string; partition: number }) =>
      kind.expires && clock.nowMs() - (states.of(group.group, placeText(place))?.syncedTimeMs ?? 0) > staleMs,
  }
  const plan = planGroup(knowledge)
  const next = recordOf(plan, knowledge)
  if (next !== written)
    await linkChanges.append(linkId, [groupOffsetsStateRecord({ linkId, group: group.group, written: next })])
  const outcome = plan.writes.length === 0 ? undefined : await kind.write(destination, group.group, plan.writes)
  report(parts, group, { isLeftOut, plan, ...failureOf(outcome) })
  if (outcome?.kind !== 'failed') return undefined
  return { code: 'INTERNAL_ERROR', message: `group ${group.group}: ${outcome.message}` }
}

interface Failure {
  readonly state: GroupSyncState
  readonly reason: string
}

function failureOf(outcome: GroupCommit | undefined): { failed?: Failure } {
  switch (outcome?.kind) {
    case 'in-use':
      return { failed: { state: 'IN_USE', reason: 'CONSUMER_GROUP_IN_USE_ERROR: the group has members here' } }
    case 'other-type':
      return { failed: { state: 'OTHER_TYPE', reason: outcome.message } }
    case 'failed':
      return { failed: { state: 'FAILED', reason: outcome.message } }
    default:
      return {}
  }
}

/** `failed` is about what should have been written, or about the whole group where there is no plan. */
function report(
  { states, clock }: GroupOffsetsParts,
  { group, sourceGroup, wanted, waiting }: GroupToSync,
  { plan, failed, isLeftOut }: { plan?: GroupPlan; failed?: Failure; isLeftOut: (topic: string) => boolean },
): void {
  const nowMs = clock.nowMs()
  const rows = new Map(states.rowsOf(group).filter(([, { topic }]) => isLeftOut(topic)))
  const add = (offset: WantedOffset, state: GroupSyncState, more: { reason?: string; isWritten?: boolean } = {}) => {
    const before = states.of(group, placeText(offset))
    rows.set(placeText(offset), {
      group,
      sourceGroup,
      topic: offset.topic,
      partition: offset.partition,
      sourceOffset: offset.sourceOffset,
      syncedOffset: more.isWritten ? offset.offset : before?.syncedOffset,
      syncedTimeMs: more.isWritten ? nowMs : before?.syncedTimeMs,
      clamped: offset.offset !== offset.sourceOffset,
      state,
      reason: more.reason,
    })
  }
  for (const offset of waiting) add(offset, 'WAITING', { reason: 'the mirror does not have this partition yet' })
  for (const offset of plan?.equal ?? []) add(offset, 'SYNCED')
  for (const offset of plan?.writes ?? wanted) {
    if (failed) add(offset, failed.state, { reason: failed.reason })
    else add(offset, 'SYNCED', { isWritten: true })
  }
  for (const offset of plan?.conflicts ?? [])
    add(offset, 'CONFLICT', {
      reason: `the group has offset ${offset.here} here, which this link did not write; adopt the group to overwrite it`,
    })
  states.tell(group, rows, nowMs)
}
