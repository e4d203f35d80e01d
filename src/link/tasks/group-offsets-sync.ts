/** ConsumerOffsetSync and ShareGroupOffsetSync: offsets that groups have at the other cluster are given to them here, in topics that are mirrored in either direction (semantics §5). Run by the link's tasks. */
import { isSelectedFor, type NameFilter } from '../configs/name-filters.ts'
import { mapBounded } from '../coordination/bounded.ts'
import type { GroupOffsetStatus, GroupSyncState, GroupSyncStates } from '../groups/group-sync-states.ts'
import { type GroupPlan, placeText, planGroup, recordOf, type WantedOffset } from '../groups/plan-group.ts'
import { localMirrors, type SyncedTopics } from '../groups/synced-topics.ts'
import type { GroupCommit } from '../ports.ts'
import type { EngineParts } from '../runtime/engine-parts.ts'
import type { WrittenOffset } from '../state-records/group-offsets-record.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { groupOffsetsStateRecord } from '../state-records/record-codec.ts'
import { type GroupsToSyncParts, type GroupToSync, groupsToSync } from './groups-to-sync.ts'
import { type TaskError, taskErrorOf } from './sync-task.ts'

export interface GroupOffsetsParts
  extends Pick<EngineParts, 'destination' | 'desired' | 'linkChanges' | 'clock'>,
    GroupsToSyncParts {
  readonly linkId: MirrorRecord['linkId']
  /** The filters as they are at this moment: they may change while a round runs. */
  readonly filtersNow: () => readonly NameFilter[]
  readonly states: GroupSyncStates
  readonly stateMaxAgeMs: number
}

/** Groups worked on at the same time. */
const parallel = 8

/** One round over the groups that these topics concern. Groups that are skipped are listed, and no errors. */
export async function syncGroupOffsets(parts: GroupOffsetsParts, topics: SyncedTopics): Promise<readonly TaskError[]> {
  const { states, clock, stateMaxAgeMs, filters } = parts
  if (filters.length === 0)
    return [{ code: 'MISCONFIGURATION_ERROR', message: 'consumer.offset.group.filters selects no group' }]
  const missing = parts.kind.missingHere(parts.destination)
  if (missing === undefined) states.missing.delete(parts.kind)
  else states.missing.set(parts.kind, missing)
  if (missing !== undefined) return []
  const { groups: read, errors, isMissing, unknown } = await groupsToSync(parts, topics)
  const groups = await confirmed(read, topics)
  if (isMissing)
    states.missing.set(
      parts.kind,
      'The source has no share groups, or cannot tell where they start (before Kafka 4.1).',
    )
  const isLeftOut = ({ topic, topicType }: GroupOffsetStatus) =>
    topicType !== topics.topicType || unknown.has(topic) || topics.isLeftOut(topic)
  await mapBounded(groups, parallel, async group => {
    try {
      const of = { topics, isLeftOut }
      const error = await states.turns.run(group.group, () => syncGroup(parts, stillSynced(parts, group, topics), of))
      if (error) errors.push(error)
    } catch (error) {
      errors.push(taskErrorOf(error, `group ${group.group}`))
    }
  })
  states.keepOnly(row => row.topicType !== topics.topicType || isSelectedFor(filters, row.sourceGroup, row.topicType))
  states.forgetOlderThan(stateMaxAgeMs, clock.nowMs())
  return errors
}

/** Without topics that are not any more what the offsets were read for. */
async function confirmed(groups: readonly GroupToSync[], topics: SyncedTopics): Promise<readonly GroupToSync[]> {
  if (!topics.confirmed || groups.length === 0) return groups
  const still = await topics.confirmed()
  const isStill = ({ topic }: WantedOffset) => still.has(topic)
  const confirmedOnes = groups.map(group => {
    return { ...group, wanted: group.wanted.filter(isStill), waiting: group.waiting.filter(isStill) }
  })
  return confirmedOnes.filter(({ wanted, waiting }) => wanted.length + waiting.length > 0)
}

/**
 * Without topics that are being stopped by now: a stop waits for the turns before it, and nothing is written after it. Nor is
 * anything written for a group that the filters do not include any more.
 */
function stillSynced({ filtersNow }: GroupOffsetsParts, group: GroupToSync, topics: SyncedTopics): GroupToSync {
  const isSelected = isSelectedFor(filtersNow(), group.sourceGroup, topics.topicType)
  const isSynced = ({ topic }: WantedOffset) => isSelected && topics.isSynced(topic)
  return { ...group, wanted: group.wanted.filter(isSynced), waiting: group.waiting.filter(isSynced) }
}

/** Groups of one mirror whose offsets here are not those of the source, and those of them that have members here. */
export interface GroupsBehind {
  readonly behind: readonly string[]
  readonly inUse: readonly string[]
}

/** By mirror topic, what is not in step now; nothing is written. For previews: every group is read once, however many mirrors. */
export async function groupsBehind(
  parts: Omit<GroupOffsetsParts, 'states' | 'stateMaxAgeMs' | 'filtersNow'>,
  mirrors: readonly MirrorRecord[],
): Promise<ReadonlyMap<string, GroupsBehind>> {
  const { groups } = await groupsToSync(parts, localMirrors(parts.desired, parts.linkId, mirrors))
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

/** What a round is about; `isLeftOut`: what is known of it stays, although the round is not about it. */
interface RoundScope {
  readonly topics: SyncedTopics
  isLeftOut(row: GroupOffsetStatus): boolean
}

async function syncGroup(
  parts: GroupOffsetsParts,
  group: GroupToSync,
  scope: RoundScope,
): Promise<TaskError | undefined> {
  const { destination, desired, linkChanges, linkId, clock, states, kind } = parts
  const found = await kind.here(destination, group.group)
  if (found.kind !== 'offsets') {
    report(parts, group, { scope, failed: { state: 'FAILED', reason: found.message } })
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
  report(parts, group, { scope, plan, ...failureOf(outcome) })
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
  { plan, failed, scope }: { plan?: GroupPlan; failed?: Failure; scope: RoundScope },
): void {
  const nowMs = clock.nowMs()
  const rows = new Map(states.rowsOf(group).filter(([, row]) => scope.isLeftOut(row)))
  const add = (offset: WantedOffset, state: GroupSyncState, more: { reason?: string; isWritten?: boolean } = {}) => {
    const before = states.of(group, placeText(offset))
    rows.set(placeText(offset), {
      group,
      sourceGroup,
      topicType: scope.topics.topicType,
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
  for (const offset of waiting) add(offset, 'WAITING', { reason: 'this cluster does not have this partition yet' })
  for (const offset of plan?.equal ?? []) add(offset, 'SYNCED')
  for (const offset of plan?.writes ?? wanted) {
    if (failed) add(offset, failed.state, { reason: failed.reason })
    else add(offset, 'SYNCED', { isWritten: true })
  }
  for (const offset of plan?.peers ?? [])
    add(offset, 'SYNCED_BY_PEER', {
      reason:
        'the other half of the link syncs this group to its mirrors too, and may have written this offset itself; ' +
        'exclude the group there to have all its offsets back',
    })
  for (const offset of plan?.conflicts ?? [])
    add(offset, 'CONFLICT', {
      reason: `the group has offset ${offset.here} here, which this link did not write; adopt the group to overwrite it`,
    })
  states.tell(group, rows, nowMs)
}
