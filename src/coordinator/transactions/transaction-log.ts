/** The transactional ids of `__transaction_state` and their durable changes; the transaction coordinator owns one. */
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import { topicByName } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { ReplicaSet } from '../../replica/replica-set.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'
import type { InternalTopic } from '../runtime/internal-topics.ts'
import { type Loaded, StatePartitions } from '../runtime/state-partitions.ts'
import { TransactionEntry } from './transaction-entry.ts'
import type { TransactionMetadata, TransactionVersion } from './transaction-metadata.ts'
import { decodeTransaction, encodeTombstone, encodeTransaction, valueVersionAt } from './transaction-records.ts'
import { isEnding } from './transaction-state.ts'

/** Ids by name. */
export type TransactionIds = Map<string, TransactionEntry>

/** An id and the state that it is in; `entry` is undefined for an id that is not known. */
export interface Found {
  readonly loaded: Loaded<TransactionIds>
  readonly entry: TransactionEntry | undefined
}

export interface TransactionLogOptions {
  readonly brokerId: number
  readonly topic: InternalTopic
  readonly controller: Pick<Controller, 'image' | 'createTopics'>
  readonly replicas: Pick<ReplicaSet, 'lookup' | 'storageFailed'>
  /** Told of every id whose end was decided before the state was loaded. */
  readonly unfinished: (loaded: Loaded<TransactionIds>, entry: TransactionEntry) => void
  readonly clock: Clock
  readonly logger: Logger
}

/** The feature that says how transactions end. */
const FEATURE = 'transaction.version'

export class TransactionLog {
  readonly partitions: StatePartitions<TransactionIds>
  readonly #options: TransactionLogOptions

  constructor(options: TransactionLogOptions) {
    this.#options = options
    const { brokerId, topic, controller, replicas, unfinished, clock, logger } = options
    this.partitions = new StatePartitions<TransactionIds>({
      brokerId,
      definition: topic,
      createState: () => new Map(),
      replay: (ids, record) => {
        const transaction = decodeTransaction(record)
        if (!transaction) return
        const { transactionalId, metadata } = transaction
        if (metadata) ids.set(transactionalId, new TransactionEntry(metadata))
        else ids.delete(transactionalId)
      },
      loaded: loaded => {
        for (const entry of loaded.state.values()) if (isEnding(entry.current.state)) unfinished(loaded, entry)
      },
      replicas,
      controller,
      clock,
      logger,
    })
  }

  /** The level that the cluster has agreed on. */
  get serverVersion(): TransactionVersion {
    const level = this.#options.controller.image.features.get(FEATURE) ?? 0
    return level >= 2 ? 2 : level === 1 ? 1 : 0
  }

  /** Throws CoordinatorError NOT_COORDINATOR or COORDINATOR_LOAD_IN_PROGRESS. */
  find(transactionalId: string): Found {
    const loaded = this.partitions.state(transactionalId)
    return { loaded, entry: loaded.state.get(transactionalId) }
  }

  /** Every id of this node with the state that it is in. */
  *all(): Generator<{ readonly loaded: Loaded<TransactionIds>; readonly entry: TransactionEntry }> {
    for (const loaded of this.partitions.served) for (const entry of loaded.state.values()) yield { loaded, entry }
  }

  /** Epoch of the coordinator of a partition, for its markers: the leader epoch of the partition. */
  coordinatorEpoch(partition: number): number {
    const { image } = this.#options.controller
    return topicByName(image, this.partitions.topic)?.partitions[partition]?.leaderEpoch ?? 0
  }

  /** Carries the transition out: resolves when it is durable, and visible in the entry. Rejects with CoordinatorError if it is not. */
  async change(loaded: Loaded<TransactionIds>, entry: TransactionEntry, to: TransactionMetadata): Promise<void> {
    entry.begin(to.state)
    try {
      await this.write(loaded, to)
    } catch (error) {
      entry.cancel()
      throw error
    }
    entry.complete(to)
  }

  /** Makes the values durable. Rejects with CoordinatorError: with most codes the state was thrown away. */
  async write(loaded: Loaded<unknown>, to: TransactionMetadata): Promise<void> {
    const record = encodeTransaction(to, valueVersionAt(this.serverVersion))
    await this.partitions.write(loaded as Loaded<TransactionIds>, [record])
    if (!loaded.current) throw new CoordinatorError(ErrorCode.NOT_COORDINATOR)
  }

  /** Forgets ids of one partition; they must be in a state that expires. */
  async forget(loaded: Loaded<TransactionIds>, entries: readonly TransactionEntry[]): Promise<void> {
    for (const entry of entries) entry.begin('Dead')
    try {
      const tombstones = entries.map(({ current }) => encodeTombstone(current.transactionalId))
      await this.partitions.write(loaded, tombstones)
      for (const { current } of entries) loaded.state.delete(current.transactionalId)
    } finally {
      for (const entry of entries) entry.cancel()
    }
  }
}
