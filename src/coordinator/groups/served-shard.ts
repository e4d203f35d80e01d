/** A loaded shard with all that operations need to change it: its state, its writes and its rebalancing; the group coordinator makes one per loading. */
import type { CoordinatorError } from '../runtime/coordinator-error.ts'
import type { Loaded, StatePartitions, StateRecord, WriteOptions } from '../runtime/state-partitions.ts'
import { ClassicGroup } from './classic-group.ts'
import type { GroupShard } from './group-shard.ts'
import { Rebalancing, type RebalancingContext } from './rebalancing.ts'

export class ServedShard {
  readonly state: GroupShard
  readonly rebalancing: Rebalancing
  readonly #loaded: Loaded<GroupShard>
  readonly #partitions: StatePartitions<GroupShard>
  #lastWrite: Promise<void> = Promise.resolve()

  constructor(
    loaded: Loaded<GroupShard>,
    partitions: StatePartitions<GroupShard>,
    context: Omit<RebalancingContext, 'write' | 'refusal'>,
  ) {
    this.state = loaded.state
    this.#loaded = loaded
    this.#partitions = partitions
    this.rebalancing = new Rebalancing({
      ...context,
      write: records => this.write(records),
      refusal: records => this.refusal(records),
    })
  }

  /** Largest write that the topic accepts. */
  get recordBytesMax(): number {
    return this.#partitions.writeBytesMax(this.#loaded)
  }

  /** See StatePartitions.write. */
  write(records: readonly StateRecord[], options?: WriteOptions): Promise<void> {
    this.#lastWrite = this.#partitions.write(this.#loaded, records, options)
    return this.#lastWrite
  }

  /** A write that nobody waits for: if it fails, the shard is loaded again without it. */
  writeUnwatched(records: readonly StateRecord[]): void {
    this.write(records).catch(() => {})
  }

  refusal(records: readonly StateRecord[]): CoordinatorError | undefined {
    return this.#partitions.refusal(this.#loaded, records)
  }

  /** Resolves when everything that the state tells now is durable. Rejects with CoordinatorError if it came to nothing. */
  async settled(): Promise<void> {
    try {
      await this.#lastWrite
    } catch (error) {
      // A write that was refused alone leaves the rest as it is.
      if (!this.#loaded.current) throw error
    }
  }

  createGroup(id: string): ClassicGroup {
    const group = new ClassicGroup(id, { stateChangedMs: this.rebalancing.nowMs })
    this.state.groups.set(id, group)
    return group
  }

  /**
   * May a classic group have this id? An empty consumer group of the newer protocol makes room, as in Kafka; groups with members
   * and those of other kinds do not.
   */
  freeForeign(id: string): boolean {
    const foreign = this.state.foreign.get(id)
    if (!foreign) return true
    if (foreign.type !== 'consumer' || foreign.memberKeys.size > 0) return false
    this.writeUnwatched(this.state.foreign.remove(id))
    return true
  }
}
