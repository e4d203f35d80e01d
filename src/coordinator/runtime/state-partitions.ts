/**
 * An internal topic as the state of a coordinator: which key is where, loading, durable writes. Groups and transactions own one
 * each; the controller tells it, after the replicas, what this node leads.
 */
import type { Uuid } from '../../core/uuid.ts'
import type { ImageSubscriber } from '../../metadata/controller-port.ts'
import { type MetadataImage, topicByName } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { CoordinatorError } from './coordinator-error.ts'
import { ensureInternalTopic } from './internal-topics.ts'
import { partitionForKey } from './key-partition.ts'
import type { StateRecord } from './load-records.ts'
import type { Loaded, StatePartitionsOptions } from './state-definition.ts'
import { StatePartition, type StatePartitionContext } from './state-partition.ts'
import { batchBytesOf, type WriteTransaction } from './write-round.ts'

export type { StateRecord, TransactionMarker } from './load-records.ts'
export type { Loaded, StatePartitionsOptions } from './state-definition.ts'
export type { WriteTransaction } from './write-round.ts'

/** How a write is done beyond its records. */
export interface WriteOptions {
  readonly transaction?: WriteTransaction
  /** Called when the records are in the log, in the batch at `baseOffset`, before anything that is appended later; must not throw. */
  readonly appended?: (baseOffset: number) => void
}

/** Partitions that load at the same time. */
const PARALLEL_LOADS = 4

export class StatePartitions<S> implements ImageSubscriber {
  readonly name: string
  readonly #options: StatePartitionsOptions<S>
  readonly #context: StatePartitionContext<S>
  readonly #partitions = new Map<number, StatePartition<S>>()
  readonly #waitingLoads: (() => void)[] = []
  #loads = 0
  #topicId: Uuid | undefined
  /** As when the topic was first seen: more partitions later would move keys away from their state. */
  #partitionCount: number | undefined
  #creation: Promise<void> | undefined
  #closed = false

  constructor(options: StatePartitionsOptions<S>) {
    this.name = `coordinator of ${options.definition.name}`
    this.#options = options
    this.#context = {
      ...options,
      logger: options.logger.child({ component: 'coordinator' }),
      lookup: partition => this.#lookup(partition),
      loadSlot: () => this.#loadSlot(),
    }
  }

  get topic(): string {
    return this.#options.definition.name
  }

  /** The topic exists. */
  get exists(): boolean {
    return this.#topicId !== undefined
  }

  /** Partition of the key; by the number of partitions that the topic would get if it does not exist yet. */
  partitionFor(key: string): number {
    return partitionForKey(key, this.#partitionCount ?? this.#options.definition.partitions)
  }

  /** Creates the topic unless it exists. Throws CoordinatorError COORDINATOR_NOT_AVAILABLE if that is not possible now. */
  async ensureTopic(): Promise<void> {
    if (topicByName(this.#options.controller.image, this.topic)) return
    this.#creation ??= ensureInternalTopic(this.#options.controller, this.#options.definition).finally(() => {
      this.#creation = undefined
    })
    await this.#creation
  }

  /** The state that holds the key. Throws CoordinatorError: NOT_COORDINATOR or COORDINATOR_LOAD_IN_PROGRESS. */
  state(key: string): Loaded<S> {
    return this.stateOf(this.partitionFor(key))
  }

  /** Like `state`, by partition. */
  stateOf(partition: number): Loaded<S> {
    const found = this.#partitions.get(partition)
    const { topic } = this
    if (!found) throw new CoordinatorError(ErrorCode.NOT_COORDINATOR, `${topic}-${partition} is not led by this node`)
    if (found.loaded) return found.loaded
    throw new CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, `${topic}-${partition} is being loaded`)
  }

  /** Every state that is served now. */
  get served(): readonly Loaded<S>[] {
    return [...this.#partitions.values()].flatMap(({ loaded }) => loaded ?? [])
  }

  /** Is a partition that this node leads not loaded yet? */
  get loading(): boolean {
    return [...this.#partitions.values()].some(({ loaded }) => !loaded)
  }

  /**
   * Queues the records synchronously, behind everything queued before; resolves when they are durable and below the high
   * watermark. The caller has changed its state already. Rejects with CoordinatorError: after RECORD_LIST_TOO_LARGE (see `fits`),
   * a fenced producer and COORDINATOR_NOT_AVAILABLE for too many waiting writes nothing was written; otherwise the state was
   * thrown away and is being loaded again.
   */
  write(loaded: Loaded<S>, records: readonly StateRecord[], options: WriteOptions = {}): Promise<void> {
    const partition = this.#partitions.get(loaded.partition)
    if (!partition) return Promise.reject(new CoordinatorError(ErrorCode.NOT_COORDINATOR))
    return partition.write(loaded, { records, ...options })
  }

  /** Why a write of these records would not be taken, to be asked before the state is changed; undefined if it would. */
  refusal(loaded: Loaded<S>, records: readonly StateRecord[]): CoordinatorError | undefined {
    const partition = this.#partitions.get(loaded.partition)
    if (!partition || !loaded.current) return new CoordinatorError(ErrorCode.NOT_COORDINATOR)
    return partition.refusal(batchBytesOf(records))
  }

  /** Largest write that the topic accepts, in bytes; 0 for a state that counts no more. */
  writeBytesMax(loaded: Loaded<S>): number {
    return (loaded.current && this.#partitions.get(loaded.partition)?.writeBytesMax) || 0
  }

  /** Starts and ends partitions as this node's leadership says; loading goes on in the background. */
  onImage(image: MetadataImage): void {
    if (this.#closed) return
    const topic = topicByName(image, this.topic)
    if (topic?.id !== this.#topicId) {
      this.#topicId = topic?.id
      this.#partitionCount = topic?.partitions.length
      for (const index of [...this.#partitions.keys()]) this.#end(index)
    }
    topic?.partitions.forEach(({ leader }, index) => {
      const led = leader === this.#options.brokerId && index < (this.#partitionCount ?? 0)
      if (led && !this.#partitions.has(index)) this.#begin(index)
      if (!led && this.#partitions.has(index)) this.#end(index)
    })
  }

  /** Throws all state away and resolves when nothing runs any more. */
  async close(): Promise<void> {
    this.#closed = true
    const partitions = [...this.#partitions.values()]
    this.#partitions.clear()
    await Promise.all(partitions.map(partition => partition.stop()))
  }

  #begin(index: number): void {
    const partition = new StatePartition(index, this.#context)
    this.#partitions.set(index, partition)
    partition.start()
  }

  #end(index: number): void {
    const partition = this.#partitions.get(index)
    this.#partitions.delete(index)
    void partition?.stop()
  }

  #lookup(partition: number) {
    if (this.#topicId === undefined) throw new CoordinatorError(ErrorCode.NOT_COORDINATOR)
    return this.#options.replicas.lookup(this.#topicId, partition)
  }

  async #loadSlot(): Promise<() => void> {
    if (this.#loads >= PARALLEL_LOADS) await new Promise<void>(resolve => this.#waitingLoads.push(resolve))
    else this.#loads++
    return () => {
      const next = this.#waitingLoads.shift()
      if (next) next()
      else this.#loads--
    }
  }
}
