/**
 * A partition as the mirror of another one: batches enter with their offsets, the log start follows, transactions are closed
 * when the mirror ends. The destination of links adapts it to the engine's MirrorLog.
 */
import type { Clock } from '../core/clock.ts'
import { LogError } from '../log/log-error.ts'
import type { OpenTransaction } from '../log/producer-state.ts'
import { buildEndMarker } from '../protocol/batches/control-batch.ts'
import { isStorageFailure } from './log-failure.ts'
import type { Partition } from './partition.ts'

export interface MirrorState {
  readonly logStartOffset: number
  readonly logEndOffset: number
  readonly highWatermark: number
  readonly leaderEpoch: number
  /** No batch on disk, not even below the log start. */
  readonly isEmpty: boolean
  /** Below it, records may have been removed because a later one of their key was there; absent = nothing was compacted. */
  readonly cleanedOffset?: number
}

/** The part of ReplicaSet that a mirror needs. */
export interface MirrorContext {
  readonly clock: Clock
  flushSoon(partition: Partition): void
  /** A log that cannot be written: told to the operator, and opened again where it must be. */
  storageFailed(partition: Partition, error: unknown): void
}

/**
 * Every operation is one of the partition's queue of writes. Rejects with PartitionUnavailable when the partition has left
 * this node, with LogError 'conflict' when the log or the leader epoch is not what the caller expects.
 */
export class MirrorPartition {
  readonly #partition: Partition
  readonly #context: MirrorContext

  constructor(partition: Partition, context: MirrorContext) {
    this.#partition = partition
    this.#context = context
  }

  state(): MirrorState {
    const { log, highWatermark, leaderEpoch } = this.#partition
    const { logStartOffset, logEndOffset, sizeBytes } = log
    const { cleanedOffset } = log.cleaning
    return { logStartOffset, logEndOffset, highWatermark, leaderEpoch, isEmpty: sizeBytes === 0, cleanedOffset }
  }

  /**
   * Appends whole verified batches with their offsets, restamping the leader epoch in place. Not durable yet: flushed soon in
   * the background, or by `flush`. `leaderEpoch` is the epoch that the caller writes under.
   */
  append(
    batches: Buffer,
    expected: { readonly endOffset: number; readonly leaderEpoch: number },
  ): Promise<MirrorState> {
    return this.#write(async () => {
      this.#expectEpoch(expected.leaderEpoch)
      await this.#partition.log.appendMirror(batches, {
        leaderEpoch: expected.leaderEpoch,
        expectedEndOffset: expected.endOffset,
      })
      this.#partition.appended(batches.length)
    })
  }

  /** Makes an empty log begin at `offset`, or moves the end of another forward to it, leaving a hole. */
  startAt(offset: number): Promise<MirrorState> {
    return this.#write(async () => {
      const { log } = this.#partition
      if (log.logStartOffset === log.logEndOffset) {
        await log.truncateFullyAndStartAt(offset)
        this.#partition.truncated()
      } else {
        await log.extendTo(offset)
        this.#partition.appended(0)
      }
    })
  }

  /** Raises the log start as far as the high watermark allows; does nothing for what is below it already. */
  raiseLogStart(offset: number): Promise<MirrorState> {
    return this.#write(async () => {
      const { log, highWatermark } = this.#partition
      const target = Math.min(offset, highWatermark)
      if (target <= log.logStartOffset) return
      await log.raiseLogStartOffset(target)
      this.#partition.logStartMoved()
    })
  }

  /**
   * Cuts the log so that it ends at `offset` or, where that is inside a batch, before that batch. Rejects with LogError 'conflict'
   * where followers would not notice: then it takes a new leader epoch.
   */
  truncateTo(offset: number): Promise<MirrorState> {
    return this.#write(async () => {
      if (this.#partition.cutNeedsNewEpoch(offset))
        throw new LogError('conflict', `${this.#partition.name} can be cut at ${offset} only in a new leader epoch`)
      const { log, leaderEpoch } = this.#partition
      await log.truncateTo(offset)
      // The present epoch may have begun in what was cut: followers are told by it where theirs part from this log.
      if ((log.latestEpoch ?? -1) < leaderEpoch) await log.assignEpochStart(leaderEpoch, log.logEndOffset)
      this.#partition.truncated()
    })
  }

  openTransactions(): readonly OpenTransaction[] {
    return this.#partition.log.openTransactions()
  }

  /**
   * Appends an ABORT marker for every open transaction, the oldest first, and forgets the source's producers, whose ids may be
   * those of producers here; resolves to what was aborted once all that is durable.
   */
  async abortOpenTransactions(): Promise<readonly OpenTransaction[]> {
    const aborted: OpenTransaction[] = []
    await this.#write(async () => {
      for (const transaction of this.#partition.log.openTransactions()) {
        await this.#appendAbort(transaction)
        aborted.push(transaction)
      }
      await this.#partition.log.forgetProducers()
    })
    await this.flush()
    return aborted
  }

  /** Resolves when everything appended before the call is on disk. */
  flush(): Promise<void> {
    return this.#reportingFailure(() => this.#partition.log.flush())
  }

  async #appendAbort(transaction: OpenTransaction): Promise<void> {
    const { log, leaderEpoch } = this.#partition
    const endOffset = log.logEndOffset
    const marker = buildEndMarker({
      type: 'abort',
      producerId: transaction.producerId,
      producerEpoch: transaction.producerEpoch,
      // Never below what the producer's markers had, or Kafka takes the marker for one of a zombie.
      coordinatorEpoch: Math.max(0, transaction.coordinatorEpoch),
      offset: endOffset,
      timestamp: BigInt(this.#context.clock.nowMs()),
      leaderEpoch,
    })
    await log.appendMirror(marker, { leaderEpoch, expectedEndOffset: endOffset })
    this.#partition.appended(marker.length)
  }

  async #write(operation: () => Promise<void>): Promise<MirrorState> {
    return await this.#partition.writes.run(async () => {
      this.#partition.assertAvailable()
      await this.#reportingFailure(operation)
      this.#context.flushSoon(this.#partition)
      return this.state()
    })
  }

  async #reportingFailure(operation: () => Promise<void>): Promise<void> {
    try {
      await operation()
    } catch (error) {
      if (isStorageFailure(error)) this.#context.storageFailed(this.#partition, error)
      throw error
    }
  }

  #expectEpoch(leaderEpoch: number): void {
    if (leaderEpoch === this.#partition.leaderEpoch) return
    throw new LogError(
      'conflict',
      `${this.#partition.name} is at leader epoch ${this.#partition.leaderEpoch}, not ${leaderEpoch}`,
    )
  }
}
