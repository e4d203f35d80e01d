/** Committed offsets of the groups of one partition of `__consumer_offsets`, and those that open transactions would commit; GroupShard keeps one. */
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'

export interface CommittedOffset {
  readonly offset: bigint
  /** -1 = not said. */
  readonly leaderEpoch: number
  readonly metadata: string
  readonly commitTimestampMs: number
  /** Of commits with a retention of their own (OffsetCommit 2-4); undefined = the server's retention. */
  readonly expireTimestampMs: number | undefined
  /** Of the topic as it was when the offset was committed; the zero id if that is not known. */
  readonly topicId: Uuid
  /** Where its record is in the log: of two, the later one counts. Infinity while it is being appended. */
  recordOffset: number
}

/** Topic → partition → offset. */
export type GroupOffsetTable = Map<string, Map<number, CommittedOffset>>

export interface OffsetPlace {
  readonly group: string
  readonly topic: string
  readonly partition: number
}

/** Did the topic go, and another of its name take its place, since the offset was committed? */
export const isOfOtherTopic = ({ topicId }: CommittedOffset, present: Uuid | undefined): boolean =>
  topicId !== ZERO_UUID && present !== undefined && topicId !== present

class OffsetsByGroup {
  readonly groups = new Map<string, GroupOffsetTable>()

  get({ group, topic, partition }: OffsetPlace): CommittedOffset | undefined {
    return this.groups.get(group)?.get(topic)?.get(partition)
  }

  put({ group, topic, partition }: OffsetPlace, offset: CommittedOffset): void {
    const topics: GroupOffsetTable = this.groups.get(group) ?? new Map()
    this.groups.set(group, topics)
    const partitions = topics.get(topic) ?? new Map<number, CommittedOffset>()
    topics.set(topic, partitions)
    partitions.set(partition, offset)
  }

  remove({ group, topic, partition }: OffsetPlace): void {
    const topics = this.groups.get(group)
    const partitions = topics?.get(topic)
    if (!topics || !partitions?.delete(partition)) return
    if (partitions.size === 0) topics.delete(topic)
    if (topics.size === 0) this.groups.delete(group)
  }
}

export class GroupOffsets {
  readonly #committed = new OffsetsByGroup()
  /** By producer id of the open transaction. */
  readonly #pending = new Map<bigint, OffsetsByGroup>()
  /** Producers with pending offsets, by group. */
  readonly #openTransactions = new Map<string, Set<bigint>>()

  get(place: OffsetPlace): CommittedOffset | undefined {
    return this.#committed.get(place)
  }

  ofGroup(group: string): ReadonlyMap<string, ReadonlyMap<number, CommittedOffset>> {
    return this.#committed.groups.get(group) ?? new Map()
  }

  hasOpenTransactions(group: string): boolean {
    return this.#openTransactions.has(group)
  }

  /** Would an open transaction commit an offset here? */
  hasPending(place: OffsetPlace): boolean {
    for (const producerId of this.#openTransactions.get(place.group) ?? [])
      if (this.#pending.get(producerId)?.get(place)) return true
    return false
  }

  /** Everything of the group, committed or pending, each place once. */
  placesOf(group: string): OffsetPlace[] {
    const places = new Map<string, OffsetPlace>()
    const collect = (topics: GroupOffsetTable | undefined) => {
      for (const [topic, partitions] of topics ?? [])
        for (const partition of partitions.keys()) places.set(`${topic}-${partition}`, { group, topic, partition })
    }
    collect(this.#committed.groups.get(group))
    for (const producerId of this.#openTransactions.get(group) ?? [])
      collect(this.#pending.get(producerId)?.groups.get(group))
    return [...places.values()]
  }

  /** Groups with anything, committed or pending. */
  groupsWithAny(): Set<string> {
    return new Set([...this.#committed.groups.keys(), ...this.#openTransactions.keys()])
  }

  commit(place: OffsetPlace, offset: CommittedOffset): void {
    this.#committed.put(place, offset)
  }

  /** Counts once the producer's transaction is committed. */
  addPending(place: OffsetPlace, offset: CommittedOffset, producerId: bigint): void {
    const offsets = this.#pending.get(producerId) ?? new OffsetsByGroup()
    this.#pending.set(producerId, offsets)
    offsets.put(place, offset)
    const producers = this.#openTransactions.get(place.group) ?? new Set()
    this.#openTransactions.set(place.group, producers)
    producers.add(producerId)
  }

  /** Committed and pending. */
  remove(place: OffsetPlace): void {
    this.#committed.remove(place)
    for (const producerId of this.#openTransactions.get(place.group) ?? []) this.#pending.get(producerId)?.remove(place)
  }

  /** The end of the producer's transaction. Resolves to the groups that got offsets. */
  completeTransaction(producerId: bigint, committed: boolean): string[] {
    const pending = this.#pending.get(producerId)
    if (!pending) return []
    this.#pending.delete(producerId)
    for (const [group, producers] of this.#openTransactions)
      if (producers.delete(producerId) && producers.size === 0) this.#openTransactions.delete(group)
    if (!committed) return []
    for (const [group, topics] of pending.groups)
      for (const [topic, partitions] of topics)
        for (const [partition, offset] of partitions) {
          const place = { group, topic, partition }
          const present = this.#committed.get(place)
          // Written after the transactional one: the log says that it is the newer, whenever the transaction ends.
          if (!present || present.recordOffset < offset.recordOffset) this.#committed.put(place, offset)
        }
    return [...pending.groups.keys()]
  }
}
