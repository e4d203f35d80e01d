/** A loaded shard with all that operations need to change it: its state, its writes and its rebalancing; the group coordinator makes one per loading. */
import type { Clock } from '../../core/clock.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { ConsumerMembership } from '../consumer-groups/consumer-membership.ts'
import { GroupDraft } from '../consumer-groups/group-draft.ts'
import type { CoordinatorError } from '../runtime/coordinator-error.ts'
import type { Loaded, StatePartitions, StateRecord, WriteOptions } from '../runtime/state-partitions.ts'
import { ShareMembership } from '../share-groups/share-membership.ts'
import type { SharePersister } from '../share-state/share-persister.ts'
import { ClassicGroup } from './classic-group.ts'
import type { ForeignGroupType } from './foreign-groups.ts'
import type { GroupShard } from './group-shard.ts'
import { Rebalancing, type RebalancingContext } from './rebalancing.ts'

/** Records in one write of many; a tombstone is small. */
const RECORDS_MAX = 1000
/** Kafka's default of the session timeouts of both kinds. */
const FOREIGN_SESSION_MS = 45_000

export class ServedShard {
  readonly state: GroupShard
  readonly rebalancing: Rebalancing
  readonly consumers: ConsumerMembership
  readonly shares: ShareMembership
  readonly #loaded: Loaded<GroupShard>
  readonly #partitions: StatePartitions<GroupShard>
  readonly #clock: Clock
  readonly #servedSinceMs: number
  #lastWrite: Promise<void> = Promise.resolve()

  constructor(
    loaded: Loaded<GroupShard>,
    partitions: StatePartitions<GroupShard>,
    context: Omit<RebalancingContext, 'write' | 'refusal'> & {
      readonly brokerId: number
      readonly persister: SharePersister
      image(): MetadataImage
    },
  ) {
    this.state = loaded.state
    this.#loaded = loaded
    this.#partitions = partitions
    this.#clock = context.clock
    this.#servedSinceMs = context.clock.monotonicMs()
    this.rebalancing = new Rebalancing({
      ...context,
      write: records => this.write(records),
      refusal: records => this.refusal(records),
    })
    this.consumers = new ConsumerMembership({
      ...context,
      groups: this.state.consumers,
      classicGroups: this.state.groups,
      write: records => this.write(records),
      refusal: records => this.refusal(records),
      settled: () => this.settled(),
      isTaken: id => this.state.shares.get(id) !== undefined || this.state.foreign.get(id) !== undefined,
      adopt: (group, rebalance) => this.#adopt(group, rebalance),
    })
    this.shares = new ShareMembership({
      ...context,
      groups: this.state.shares,
      write: records => this.write(records),
      refusal: records => this.refusal(records),
      settled: () => this.settled(),
      isTaken: id =>
        this.state.groups.has(id) || this.consumers.get(id) !== undefined || this.state.foreign.get(id) !== undefined,
    })
  }

  /** Largest write that the topic accepts. */
  get recordBytesMax(): number {
    return this.#partitions.writeBytesMax(this.#loaded)
  }

  /** See StatePartitions.write. */
  write(records: readonly StateRecord[], options?: WriteOptions): Promise<void> {
    const before = this.#lastWrite
    const written = this.#partitions.write(this.#loaded, records, options)
    this.#lastWrite = written.catch(error => {
      // One that was refused alone leaves the rest as it is.
      if (!this.#loaded.current) throw error
      return before
    })
    this.#lastWrite.catch(() => {})
    return written
  }

  /** Any number of records, in writes that the topic accepts. Throws CoordinatorError, before anything is written, if it takes none now. */
  writeMany(records: readonly StateRecord[]): Promise<void> {
    const parts: StateRecord[][] = []
    for (let from = 0; from < records.length; from += RECORDS_MAX) parts.push(records.slice(from, from + RECORDS_MAX))
    for (const part of parts) {
      const refusal = this.refusal(part)
      if (refusal) throw refusal
    }
    const written = Promise.all(parts.map(part => this.write(part))).then(() => {})
    // Whoever collects several may give up before they look at this one.
    written.catch(() => {})
    return written
  }

  /** A write that nobody waits for: if it fails, the shard is loaded again without it. */
  writeUnwatched(records: readonly StateRecord[]): void {
    this.write(records).catch(() => {})
  }

  refusal(records: readonly StateRecord[]): CoordinatorError | undefined {
    return this.#partitions.refusal(this.#loaded, records)
  }

  /** Resolves when everything that the state tells now is durable. Rejects with CoordinatorError if it came to nothing. */
  settled(): Promise<void> {
    return this.#lastWrite
  }

  createGroup(id: string): ClassicGroup {
    const group = new ClassicGroup(id, { stateChangedMs: this.rebalancing.nowMs })
    this.state.groups.set(id, group)
    return group
  }

  /** A group of another protocol. Nobody hears its members here: they count as gone when their sessions would be over. */
  foreign(id: string): { readonly type: ForeignGroupType; readonly isEmpty: boolean } | undefined {
    const found = this.state.foreign.get(id)
    if (!found) return undefined
    const servedMs = this.#clock.monotonicMs() - this.#servedSinceMs
    return { type: found.type, isEmpty: found.memberKeys.size === 0 || servedMs >= FOREIGN_SESSION_MS }
  }

  /** After loading: everybody has its session to show up again. */
  resume(): void {
    for (const group of this.state.groups.values()) this.rebalancing.resume(group)
    this.consumers.resume()
    this.shares.resume()
  }

  /** Ends timers, and tells everybody who waits the error. */
  end(errorCode: number): void {
    for (const group of this.state.groups.values()) group.end(errorCode, this.rebalancing.nowMs)
    this.consumers.close()
    this.shares.close()
  }

  /**
   * May a classic group have this id? A consumer group of the newer protocol that is empty makes room, as in Kafka; those with
   * members and groups of other kinds do not.
   */
  freeForeign(id: string): boolean {
    if (this.foreign(id) || this.shares.get(id) || this.consumers.hasMembers(id)) return false
    if (this.consumers.get(id)) this.removeConsumerGroup(id).catch(() => {})
    return true
  }

  /** Forgets an empty consumer group; resolves when that is durable. */
  removeConsumerGroup(id: string): Promise<void> {
    const group = this.consumers.get(id)
    if (!group) return Promise.resolve()
    const draft = new GroupDraft(group)
    draft.removeAll()
    const written = this.writeMany(draft.records)
    this.state.consumers.remove(id)
    return written
  }

  /** What a consumer group has become. */
  #adopt(group: ClassicGroup, rebalance: boolean): void {
    this.state.groups.set(group.id, group)
    this.rebalancing.resume(group)
    if (rebalance && group.state === 'Stable') void this.rebalancing.prepare(group, 'it was a consumer group until now')
  }

  /** Tombstones of everything that is known of the group. */
  removeForeign(id: string): Promise<void> {
    const written = this.writeMany(this.state.foreign.tombstones(id))
    this.state.foreign.forget(id)
    return written
  }
}
