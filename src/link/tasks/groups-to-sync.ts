/** What groups have at the other cluster in the topics that a round of the group offset sync is about, held within what is here. Read by group-offsets-sync. */
import { isSelectedFor, type NameFilter, type TopicType } from '../configs/name-filters.ts'
import { mapBounded } from '../coordination/bounded.ts'
import type { GroupKind } from '../groups/group-kinds.ts'
import { clampedOffset, type WantedOffset } from '../groups/plan-group.ts'
import type { SyncedTopic, SyncedTopics } from '../groups/synced-topics.ts'
import type { Destination, GroupOffset, SourceCluster, SourceGroupOffsets } from '../ports.ts'
import { type TaskError, taskErrorOf } from './sync-task.ts'

export interface GroupsToSyncParts {
  readonly destination: Destination
  readonly source: SourceCluster
  readonly kind: GroupKind
  readonly filters: readonly NameFilter[]
  /** What the other half of the link takes for its own mirrors, which are topics of this cluster; undefined = it does not tell. */
  readonly peerFilters: readonly NameFilter[] | undefined
  /** Before the names of groups here. */
  readonly groupPrefix: string
  readonly signal: AbortSignal
}

/** A group of the source with what it should have here. */
export interface GroupToSync {
  readonly sourceGroup: string
  readonly group: string
  readonly wanted: readonly WantedOffset[]
  /** Committed for partitions that do not exist here yet. */
  readonly waiting: readonly WantedOffset[]
}

export interface FoundGroups {
  readonly groups: readonly GroupToSync[]
  readonly errors: TaskError[]
  /** The source has no groups of this kind, or cannot tell. */
  readonly isMissing: boolean
  /** Topics here whose logs cannot be reached now. */
  readonly unknown: ReadonlySet<string>
}

/** Logs looked at at the same time. */
const parallel = 8

/** Rejects with SourceError where groups cannot be listed. */
export async function groupsToSync(parts: GroupsToSyncParts, of: SyncedTopics): Promise<FoundGroups> {
  const { source, kind, filters, signal } = parts
  const listed = await source.listGroups(signal)
  const chosen = listed.filter(group => kind.keeps(group) && isSelectedFor(filters, group.groupId, of.topicType))
  const ids = chosen.map(({ groupId }) => groupId)
  const found = await kind.atSource(source, ids, signal)
  if (!found) return { groups: [], errors: [], isMissing: true, unknown: new Set() }
  const { logs, failed } = await logsOf(parts.destination, of, found)
  const errors = [
    ...[...found.failures.values()].map(failure => taskErrorOf(failure)),
    ...[...failed].map(([topic, error]) => taskErrorOf(error, `topic ${topic}`)),
  ]
  const groups = [...found.offsets].map(([sourceGroup, committed]) =>
    toSync(parts, { sourceGroup, committed, logs, topicType: of.topicType }),
  )
  return {
    groups: groups.filter(({ wanted, waiting }) => wanted.length + waiting.length > 0),
    errors,
    isMissing: false,
    unknown: new Set(failed.keys()),
  }
}

interface LogBounds {
  readonly logStartOffset: number
  readonly highWatermark: number
}

interface LookedAt {
  readonly topic: SyncedTopic
  /** Of partitions in which a group has an offset. */
  readonly bounds: ReadonlyMap<number, LogBounds>
}

/** By topic at the source. */
type LookedAtTopics = ReadonlyMap<string, LookedAt>

/** A topic of which one log cannot be reached now is left for the next round: others do not wait for it. */
async function logsOf(
  destination: Destination,
  { topics, topicType }: SyncedTopics,
  { offsets }: SourceGroupOffsets,
): Promise<{ logs: LookedAtTopics; failed: ReadonlyMap<string, unknown> }> {
  const places = [...offsets.values()].flat().map(({ topic, partition }) => [topic, partition] as const)
  const used = Map.groupBy(places, ([topic]) => topic)
  const failed = new Map<string, unknown>()
  // A mirror is led by nodes of ours, a topic of one's own by anybody.
  const open = (topicId: SyncedTopic['topicId'], partition: number) =>
    topicType === 'LOCAL_MIRROR'
      ? destination.openMirrorLog(topicId, partition)
      : destination.openEndingLog(topicId, partition)
  const found = await mapBounded(topics, parallel, async topic => {
    const partitions = new Set((used.get(topic.remoteTopic) ?? []).map(([, partition]) => partition))
    const present = [...partitions].filter(partition => partition < topic.partitions)
    try {
      const bounds = await mapBounded(present, parallel, async partition => {
        return [partition, (await open(topic.topicId, partition)).state()] as const
      })
      return [[topic.remoteTopic, { topic, bounds: new Map(bounds) }] as const]
    } catch (error) {
      failed.set(topic.topic, error)
      return []
    }
  })
  return { logs: new Map(found.flat()), failed }
}

function toSync(
  { groupPrefix, peerFilters }: GroupsToSyncParts,
  of: {
    readonly sourceGroup: string
    readonly committed: readonly GroupOffset[]
    readonly logs: LookedAtTopics
    readonly topicType: TopicType
  },
): GroupToSync {
  const wanted: WantedOffset[] = []
  const waiting: WantedOffset[] = []
  const { sourceGroup, topicType } = of
  // The other half of the link writes this group in its mirrors: only what it cannot have written is the group's own.
  const isPeers =
    topicType === 'REMOTE_MIRROR' && (!peerFilters || isSelectedFor(peerFilters, sourceGroup, 'LOCAL_MIRROR'))
  for (const { leaderEpoch = -1, ...offset } of of.committed) {
    const found = of.logs.get(offset.topic)
    if (!found) continue
    const { topic, bounds } = found
    const log = bounds.get(offset.partition)
    const here = { ...offset, topic: topic.topic }
    if (log) wanted.push({ ...clampedOffset(here, log), mayBePeers: isPeers && leaderEpoch < 0 })
    else if (offset.partition >= topic.partitions)
      waiting.push({ ...here, sourceOffset: offset.offset, mayBePeers: false })
  }
  return { sourceGroup, group: `${groupPrefix}${sourceGroup}`, wanted, waiting }
}
