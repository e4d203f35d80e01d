/** What the coordinator knows of a transactional id, as a value, and the values that follow it; pure, the decisions beside it and the coordinator use it. */
import type { TransactionStateName } from './transaction-state.ts'

export interface TopicPartition {
  readonly topic: string
  readonly partition: number
}

/** Partitions by `partitionKey`. */
export type PartitionSet = ReadonlyMap<string, TopicPartition>

/**
 * Level of the feature `transaction.version` that a client follows: 0 (and 1) keep the epoch at the end of a transaction, 2
 * bumps it with every end (KIP-890).
 */
export type TransactionVersion = 0 | 1 | 2

/** Times are milliseconds since 1970. Ids and epochs are -1 for none. */
export interface TransactionMetadata {
  readonly transactionalId: string
  readonly producerId: bigint
  /** The id before the last change of it, for repeated requests of a producer whose epochs ran out. */
  readonly previousProducerId: bigint
  /** The id that follows when the transaction is complete, because the epochs of this one ran out. */
  readonly nextProducerId: bigint
  readonly producerEpoch: number
  /** The epoch that a repeated request may carry. Not stored. */
  readonly lastProducerEpoch: number
  readonly timeoutMs: number
  readonly state: TransactionStateName
  readonly partitions: PartitionSet
  /** -1 while no transaction has begun. */
  readonly startMs: number
  readonly updatedMs: number
  readonly clientVersion: TransactionVersion
}

export const NO_PRODUCER_ID = -1n
export const NO_PRODUCER_EPOCH = -1
/** An int16. Clients get one less: the coordinator must be able to fence them. */
const EPOCH_MAX = 32_767
/** The last epoch that a client may have. */
export const CLIENT_EPOCH_MAX = EPOCH_MAX - 1
/** A timeout that never fires (two-phase commit, KIP-939). */
const NO_TIMEOUT_MS = 2 ** 31 - 1

export const noPartitions: PartitionSet = new Map()

/** Topic names have no slash. */
export const partitionKey = ({ topic, partition }: TopicPartition): string => `${topic}/${partition}`

export const partitionSet = (partitions: Iterable<TopicPartition>): PartitionSet =>
  new Map(Array.from(partitions, partition => [partitionKey(partition), partition]))

/** No client gets a higher epoch: the next one belongs to the coordinator. */
export const isEpochExhausted = (producerEpoch: number): boolean => producerEpoch >= CLIENT_EPOCH_MAX

/** An id that was never initialised; its first epoch is 0. */
export const newTransaction = (
  transactionalId: string,
  of: { readonly producerId: bigint; readonly timeoutMs: number; readonly nowMs: number },
): TransactionMetadata => ({
  transactionalId,
  producerId: of.producerId,
  previousProducerId: NO_PRODUCER_ID,
  nextProducerId: NO_PRODUCER_ID,
  producerEpoch: NO_PRODUCER_EPOCH,
  lastProducerEpoch: NO_PRODUCER_EPOCH,
  timeoutMs: of.timeoutMs,
  state: 'Empty',
  partitions: noPartitions,
  startMs: -1,
  updatedMs: of.nowMs,
  clientVersion: 0,
})

/** The present values in another state; what each transition changes comes in `changes`. */
const follow = (
  metadata: TransactionMetadata,
  state: TransactionStateName,
  changes: Partial<TransactionMetadata>,
): TransactionMetadata => ({ ...metadata, previousProducerId: metadata.producerId, ...changes, state })

/** A producer begins, with the epochs that InitProducerId decided. */
export const initialised = (
  metadata: TransactionMetadata,
  to: {
    readonly producerId?: bigint
    readonly producerEpoch: number
    readonly lastProducerEpoch: number
    readonly timeoutMs: number
    readonly nowMs: number
  },
): TransactionMetadata =>
  follow(metadata, 'Empty', {
    producerId: to.producerId ?? metadata.producerId,
    producerEpoch: to.producerEpoch,
    lastProducerEpoch: to.lastProducerEpoch,
    timeoutMs: to.timeoutMs,
    partitions: noPartitions,
    startMs: -1,
    updatedMs: to.nowMs,
  })

/** The partitions are in the transaction, which begins with the first of them. */
export const withPartitions = (
  metadata: TransactionMetadata,
  partitions: PartitionSet,
  of: { readonly nowMs: number; readonly clientVersion: TransactionVersion },
): TransactionMetadata =>
  follow(metadata, 'Ongoing', {
    partitions: new Map([...metadata.partitions, ...partitions]),
    startMs: metadata.state === 'Ongoing' ? metadata.startMs : of.nowMs,
    updatedMs: of.nowMs,
    clientVersion: of.clientVersion,
  })

/** The end of the transaction is decided. With version 2 the epoch is bumped, and an id for later is given if it was the last. */
export function ending(
  metadata: TransactionMetadata,
  to: {
    readonly committed: boolean
    readonly clientVersion: TransactionVersion
    readonly nextProducerId: bigint
    /** No partition was ever added: such a transaction has no time at which it began. */
    readonly withoutPartitions: boolean
    readonly nowMs: number
  },
): TransactionMetadata {
  const { producerEpoch, lastProducerEpoch } = metadata
  const bumps = to.clientVersion >= 2
  return follow(metadata, to.committed ? 'PrepareCommit' : 'PrepareAbort', {
    producerEpoch: bumps ? Math.min(producerEpoch + 1, EPOCH_MAX) : producerEpoch,
    lastProducerEpoch: bumps ? producerEpoch : lastProducerEpoch,
    nextProducerId: to.nextProducerId,
    startMs: to.withoutPartitions ? to.nowMs : metadata.startMs,
    updatedMs: to.nowMs,
    clientVersion: to.clientVersion,
  })
}

/** Every marker is written. An id whose epochs ran out gives way to the next one. */
export function completed(metadata: TransactionMetadata, nowMs: number): TransactionMetadata {
  const rotates = metadata.clientVersion >= 2 && metadata.nextProducerId !== NO_PRODUCER_ID
  return follow(metadata, metadata.state === 'PrepareCommit' ? 'CompleteCommit' : 'CompleteAbort', {
    ...(rotates ? { producerId: metadata.nextProducerId, producerEpoch: 0 } : {}),
    nextProducerId: NO_PRODUCER_ID,
    partitions: noPartitions,
    updatedMs: nowMs,
  })
}

/** Epoch with which the coordinator aborts what a producer has left open, so that it is fenced. */
export const fencingEpoch = ({ producerEpoch }: TransactionMetadata): number => Math.min(producerEpoch + 1, EPOCH_MAX)

/** Open for longer than its producer asked for. */
export const isTimedOut = ({ state, startMs, timeoutMs }: TransactionMetadata, nowMs: number): boolean =>
  state === 'Ongoing' && timeoutMs !== NO_TIMEOUT_MS && startMs + timeoutMs < nowMs
