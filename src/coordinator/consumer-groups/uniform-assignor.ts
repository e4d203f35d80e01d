/** The assignor `uniform`: members get as equally many partitions as their subscriptions allow, and keep what they had where that is balanced. */
import type { Uuid } from '../../core/uuid.ts'
import type { AssignedMember } from './assigned-member.ts'
import { addPartition, eachPartition, type Partitions } from './partition-sets.ts'

interface Place {
  readonly topicId: Uuid
  readonly partition: number
}

class Share {
  readonly member: AssignedMember
  readonly assigned = new Map<Uuid, Set<number>>()
  count = 0

  constructor(member: AssignedMember) {
    this.member = member
  }

  take({ topicId, partition }: Place): void {
    addPartition(this.assigned, topicId, partition)
    this.count++
  }

  giveUp({ topicId, partition }: Place): void {
    const partitions = this.assigned.get(topicId)
    if (!partitions?.delete(partition)) return
    if (partitions.size === 0) this.assigned.delete(topicId)
    this.count--
  }
}

export function assignUniformly(
  members: readonly AssignedMember[],
  partitionCount: (topicId: Uuid) => number,
): Map<string, Partitions> {
  const shares = members.map(member => new Share(member))
  const free = keepPresent(shares, partitionCount)
  if (haveOneSubscription(members)) fillEqually(shares, free)
  else {
    const subscribers = subscribersOf(shares)
    // Topics with few subscribers first: the others can still be put anywhere.
    free.sort((a, b) => (subscribers.get(a.topicId)?.length ?? 0) - (subscribers.get(b.topicId)?.length ?? 0))
    for (const place of free) leastLoaded(subscribers.get(place.topicId) ?? [])?.take(place)
    level(shares, subscribers)
  }
  return new Map(shares.map(({ member, assigned }) => [member.id, assigned]))
}

/** Everybody keeps what it had and still may have; the rest is free. */
function keepPresent(shares: readonly Share[], partitionCount: (topicId: Uuid) => number): Place[] {
  const taken = new Map<Uuid, Set<number>>()
  const topics = new Set<Uuid>()
  for (const share of shares) {
    for (const topicId of share.member.topics) topics.add(topicId)
    for (const [topicId, partition] of eachPartition(share.member.before)) {
      const isThere = share.member.topics.has(topicId) && partition < partitionCount(topicId)
      if (!isThere || taken.get(topicId)?.has(partition)) continue
      addPartition(taken, topicId, partition)
      share.take({ topicId, partition })
    }
  }
  const free: Place[] = []
  for (const topicId of topics)
    for (let partition = 0; partition < partitionCount(topicId); partition++)
      if (!taken.get(topicId)?.has(partition)) free.push({ topicId, partition })
  return free
}

function haveOneSubscription([first, ...others]: readonly AssignedMember[]): boolean {
  if (!first) return true
  return others.every(({ topics }) => {
    if (topics.size !== first.topics.size) return false
    for (const topicId of topics) if (!first.topics.has(topicId)) return false
    return true
  })
}

/** Quotas differ by one at most; the larger ones go to those who have the most. */
function fillEqually(shares: readonly Share[], free: Place[]): void {
  if (shares.length === 0) return
  const total = free.length + shares.reduce((sum, { count }) => sum + count, 0)
  const least = Math.floor(total / shares.length)
  const larger = total % shares.length
  const ranked = [...shares].sort((a, b) => b.count - a.count)
  ranked.forEach((share, rank) => {
    const quota = least + (rank < larger ? 1 : 0)
    for (const [topicId, partition] of [...eachPartition(share.assigned)].slice(quota)) {
      share.giveUp({ topicId, partition })
      free.push({ topicId, partition })
    }
  })
  let next = 0
  ranked.forEach((share, rank) => {
    const quota = least + (rank < larger ? 1 : 0)
    for (let place = free[next]; place && share.count < quota; place = free[++next]) share.take(place)
  })
}

function subscribersOf(shares: readonly Share[]): ReadonlyMap<Uuid, readonly Share[]> {
  const subscribers = new Map<Uuid, Share[]>()
  for (const share of shares)
    for (const topicId of share.member.topics) {
      const present = subscribers.get(topicId)
      if (present) present.push(share)
      else subscribers.set(topicId, [share])
    }
  return subscribers
}

function leastLoaded(shares: readonly Share[]): Share | undefined {
  let least: Share | undefined
  for (const share of shares) if (!least || share.count < least.count) least = share
  return least
}

/** Moves partitions to subscribers that have at least two fewer, until there are none. Each move lowers the sum of squares: it ends. */
function level(shares: readonly Share[], subscribers: ReadonlyMap<Uuid, readonly Share[]>): void {
  for (let moved = true; moved; ) {
    moved = false
    for (const share of [...shares].sort((a, b) => b.count - a.count))
      for (const [topicId, partition] of [...eachPartition(share.assigned)]) {
        const to = leastLoaded(subscribers.get(topicId) ?? [])
        if (!to || share.count - to.count < 2) continue
        share.giveUp({ topicId, partition })
        to.take({ topicId, partition })
        moved = true
      }
  }
}
