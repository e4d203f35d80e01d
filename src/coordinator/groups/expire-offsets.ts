/** Forgets offsets that nobody has used for the retention time, those of deleted topics, and groups that have nothing left; the group coordinator calls it now and then. */
import type { Uuid } from '../../core/uuid.ts'
import { ZERO_UUID } from '../../core/uuid.ts'
import { ConsumerGroup } from '../consumer-groups/consumer-group.ts'
import { ClassicGroup } from './classic-group.ts'
import { removeOffsets } from './commit-offsets.ts'
import type { CommittedOffset, OffsetPlace } from './group-offsets.ts'
import { removeGroup } from './group-overview.ts'
import type { ServedShard } from './served-shard.ts'

/** Resolves to the number of offsets that went. Rejects with CoordinatorError if the shard is lost meanwhile. */
export async function expireOffsets(shard: ServedShard): Promise<number> {
  let count = 0
  let writes: Promise<void>[] = []
  const { groups, consumers } = shard.state
  for (const id of [...groups.keys(), ...consumers.all().map(({ id }) => id)]) {
    // It may have become another one while others were written.
    const group = groups.get(id) ?? consumers.get(id)
    if (!group) continue
    const expired = expiredPlaces(shard, group)
    count += expired.length
    if (expired.length > 0) writes.push(removeOffsets(shard, expired))
    if (isForgotten(shard, group)) {
      const removed = removeGroup(shard, group.id)
      removed.catch(() => {})
      writes.push(removed)
    }
    if (writes.length < PARALLEL_WRITES) continue
    await Promise.all(writes)
    writes = []
  }
  await Promise.all(writes)
  return count
}

/** They share a sync of the disk. */
const PARALLEL_WRITES = 100

/** Without members, offsets and open transactions that would bring some. */
function isForgotten(shard: ServedShard, group: ClassicGroup | ConsumerGroup): boolean {
  const { groups, consumers, offsets } = shard.state
  const isPresent = (groups.get(group.id) ?? consumers.get(group.id)) === group
  const isAwaited = group instanceof ClassicGroup && group.pendingMembers.size > 0
  return (
    isPresent &&
    group.state === 'Empty' &&
    !isAwaited &&
    offsets.ofGroup(group.id).size === 0 &&
    !offsets.hasOpenTransactions(group.id)
  )
}

function expiredPlaces(shard: ServedShard, group: ClassicGroup | ConsumerGroup): OffsetPlace[] {
  const { state, rebalancing } = shard
  const since = retentionStart(group)
  if (!since) return []
  const { nowMs } = rebalancing
  const { offsetsRetentionMs } = rebalancing.settings
  const isExpired = (offset: CommittedOffset) =>
    offset.expireTimestampMs === undefined
      ? nowMs - since(offset) >= offsetsRetentionMs
      : nowMs >= offset.expireTimestampMs
  const expired: OffsetPlace[] = []
  for (const [topic, partitions] of state.offsets.ofGroup(group.id)) {
    if (group.isSubscribedTo(topic)) continue
    for (const [partition, offset] of partitions) {
      const place = { group: group.id, topic, partition }
      if (isExpired(offset) && !state.offsets.hasPending(place)) expired.push(place)
    }
  }
  return expired
}

/**
 * From when on the retention of an offset counts (KIP-211). Without a protocol, in a group that nobody joins: from its commit.
 * In a group that has become empty: from then on. With members: from its commit, where it is known that nobody subscribes to the
 * topic; otherwise never (undefined).
 */
function retentionStart(group: ClassicGroup | ConsumerGroup): ((offset: CommittedOffset) => number) | undefined {
  // Members of consumer groups say what they subscribe to.
  if (group instanceof ConsumerGroup || group.protocolType === undefined) return offset => offset.commitTimestampMs
  if (group.state === 'Empty') return offset => group.stateChangedMs ?? offset.commitTimestampMs
  const knowsSubscriptions = group.isConsumerGroup && group.subscriptions !== undefined && group.state === 'Stable'
  return knowsSubscriptions ? offset => offset.commitTimestampMs : undefined
}

/** Offsets of topics that do not exist any more; one of the same name may exist by now. */
export async function removeOffsetsOfTopics(shard: ServedShard, deleted: ReadonlyMap<string, Uuid>): Promise<void> {
  const { offsets } = shard.state
  const places = [...offsets.groupsWithAny()].flatMap(group =>
    offsets.placesOf(group).filter(place => {
      const id = deleted.get(place.topic)
      if (id === undefined) return false
      const committed = offsets.get(place)
      return committed === undefined || committed.topicId === ZERO_UUID || committed.topicId === id
    }),
  )
  await removeOffsets(shard, places)
}
