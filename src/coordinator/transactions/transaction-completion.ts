/**
 * Brings a transaction whose end is durable to its end: a marker into every partition, then the record that says so. Nothing is
 * lost if the node dies in between, since loading the state begins here again. The coordinator owns one.
 */
import { Backoff } from '../../core/backoff.ts'
import { forEachBounded } from '../../core/bounded-work.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Random } from '../../core/random.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import { topicByName } from '../../metadata/metadata-image.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import type { Loaded } from '../runtime/state-partitions.ts'
import type { TransactionEntry } from './transaction-entry.ts'
import type { TransactionEnd, WriteMarker } from './transaction-markers.ts'
import { completed, type TopicPartition, type TransactionMetadata } from './transaction-metadata.ts'

export interface CompletionContext {
  readonly controller: Pick<Controller, 'image'>
  readonly writeMarker: WriteMarker
  /** Makes the last record durable. Rejects where the state was thrown away, or the write was not taken. */
  write(loaded: Loaded<unknown>, to: TransactionMetadata): Promise<void>
  /** Leader epoch of the partition of `__transaction_state`. */
  coordinatorEpoch(partition: number): number
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** Markers of one transaction that are written at the same time. */
const PARALLEL_MARKERS = 16
const FIRST_RETRY_MS = 20
const RETRY_MS_MAX = 5000
/** A partition that is away for a moment is no news. */
const ATTEMPTS_PER_WARNING = 8

export class TransactionCompletion {
  readonly #context: CompletionContext
  readonly #stopped = new AbortController()
  readonly #running = new Set<Promise<void>>()

  constructor(context: CompletionContext) {
    this.#context = context
  }

  /** Transactions that are on their way to the end. */
  get size(): number {
    return this.#running.size
  }

  /** Begins with a transaction in a prepared state; returns at once. */
  start(loaded: Loaded<unknown>, entry: TransactionEntry): void {
    entry.begin(entry.current.state === 'PrepareCommit' ? 'CompleteCommit' : 'CompleteAbort')
    const run = this.#complete(loaded, entry).catch((error: unknown) => {
      this.#context.logger.error('a transaction could not be completed', {
        transactionalId: entry.current.transactionalId,
        error: messageOf(error),
      })
      entry.cancel()
    })
    this.#running.add(run)
    void run.finally(() => this.#running.delete(run))
  }

  /** Stops trying; resolves when nothing runs any more. What is not finished is found again in the log. */
  async close(): Promise<void> {
    this.#stopped.abort()
    await Promise.all(this.#running)
  }

  async #complete(loaded: Loaded<unknown>, entry: TransactionEntry): Promise<void> {
    const { current } = entry
    const end: TransactionEnd = {
      producerId: current.producerId,
      producerEpoch: current.producerEpoch,
      committed: current.state === 'PrepareCommit',
      coordinatorEpoch: this.#context.coordinatorEpoch(loaded.partition),
      transactionVersion: current.clientVersion,
    }
    await forEachBounded([...current.partitions.values()], PARALLEL_MARKERS, async partition => {
      if (await this.#mark(loaded, partition, end)) entry.marked(partition)
    })
    if (entry.current.partitions.size === 0 && (await this.#record(loaded, entry))) return
    entry.cancel()
  }

  /** False if it was given up: the state is not ours any more. */
  async #mark(loaded: Loaded<unknown>, partition: TopicPartition, end: TransactionEnd): Promise<boolean> {
    return await this.#until(loaded, async attempt => {
      if (this.#isDeleted(partition)) return true
      const errorCode = await this.#context.writeMarker(partition, end)
      if (errorCode === ErrorCode.NONE) return true
      // The partition has seen a later epoch of the producer: a transaction of this one is not open there any more.
      const isOver = errorCode === ErrorCode.INVALID_PRODUCER_EPOCH
      if (isOver || attempt % ATTEMPTS_PER_WARNING === 0)
        this.#context.logger.warn('a transaction marker is refused', {
          partition: `${partition.topic}-${partition.partition}`,
          producerId: String(end.producerId),
          producerEpoch: end.producerEpoch,
          error: errorName(errorCode),
          triedAgain: !isOver,
        })
      return isOver
    })
  }

  async #record(loaded: Loaded<unknown>, entry: TransactionEntry): Promise<boolean> {
    return await this.#until(loaded, async () => {
      const to = completed(entry.current, this.#context.clock.nowMs())
      try {
        await this.#context.write(loaded, to)
      } catch {
        // Thrown away with its partition, or not taken because too much waits: then it is tried again.
        return false
      }
      entry.complete(to)
      return true
    })
  }

  /** Tries until it is done (true), or the state is not the present one any more (false). */
  async #until(loaded: Loaded<unknown>, tries: (attempt: number) => Promise<boolean>): Promise<boolean> {
    const { clock, random } = this.#context
    const { signal } = this.#stopped
    const backoff = new Backoff({ initialMs: FIRST_RETRY_MS, maxMs: RETRY_MS_MAX, random })
    while (loaded.current && !signal.aborted) {
      try {
        if (await tries(backoff.attempts + 1)) return true
      } catch (error) {
        this.#context.logger.error('the end of a transaction failed; trying again', { error: messageOf(error) })
      }
      if (loaded.current) await sleep(clock, backoff.nextMs(), signal)
    }
    return false
  }

  /** A deleted topic takes no marker, and must not keep a transaction from its end. */
  #isDeleted({ topic, partition }: TopicPartition): boolean {
    return topicByName(this.#context.controller.image, topic)?.partitions[partition] === undefined
  }
}
