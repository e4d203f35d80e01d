/** One partition of an internal topic as the state of a coordinator: loads it, writes it, throws it away; StatePartitions keeps one per partition that this node leads. */
import assert from 'node:assert/strict'
import { Backoff } from '../../core/backoff.ts'
import { sleep } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import { systemRandom } from '../../core/random.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { Partition } from '../../replica/partition.ts'
import { PartitionUnavailable } from '../../replica/partition-unavailable.ts'
import { CoordinatorError } from './coordinator-error.ts'
import { loadRecords, type RecordSink } from './load-records.ts'
import type { Loaded, StatePartitionsOptions } from './state-definition.ts'
import { batchBytesOf, type QueuedWrite, type Write, writeRound } from './write-round.ts'

export interface StatePartitionContext<S> extends StatePartitionsOptions<S> {
  /** The log of the partition. Throws PartitionUnavailable. */
  lookup(partition: number): Partition
  /** Waits for its turn to load; resolves to what ends the turn. */
  loadSlot(): Promise<() => void>
}

const FIRST_RETRY_MS = 100
const RETRY_MS_MAX = 10_000
/** Kafka's `offsets.commit.timeout.ms`. */
const WRITE_TIMEOUT_MS = 5000
/** Writes that wait for their round; above it clients are asked to come again. */
const QUEUED_BYTES_MAX = 64 * 1024 * 1024

export class StatePartition<S> {
  readonly index: number
  readonly #context: StatePartitionContext<S>
  readonly #stopped = new AbortController()
  #log: Partition | undefined
  #loaded: { partition: number; state: S; current: boolean } | undefined
  #queue: QueuedWrite[] = []
  #queuedBytes = 0
  /** Loading or writing; a partition does one at a time. */
  #work: Promise<void> = Promise.resolve()
  #writing = false

  constructor(index: number, context: StatePartitionContext<S>) {
    this.index = index
    this.#context = context
  }

  get name(): string {
    return `${this.#context.definition.name}-${this.index}`
  }

  get loaded(): Loaded<S> | undefined {
    return this.#loaded
  }

  /** Loads in the background, again and again until it works. To be called once. */
  start(): void {
    this.#work = this.#loadUntilDone()
  }

  /** Queues the write synchronously, behind those queued before; see `StatePartitions.write`. */
  write(loaded: Loaded<S>, write: Write): Promise<void> {
    if (this.#loaded !== loaded) return Promise.reject(notCoordinator(`${this.name} was loaded again`))
    const bytes = batchBytesOf(write.records)
    const refusal = this.refusal(bytes)
    if (refusal) return Promise.reject(refusal)
    return new Promise((resolve, reject) => {
      this.#queue.push({ ...write, bytes, resolve, reject })
      this.#queuedBytes += bytes
      if (!this.#writing) this.#work = this.#writeAll(loaded)
    })
  }

  get writeBytesMax(): number {
    return this.#log?.settings.maxMessageBytes ?? 0
  }

  /** Why a write of that size would not be taken; undefined if it would. */
  refusal(bytes: number): CoordinatorError | undefined {
    if (bytes > this.writeBytesMax)
      return new CoordinatorError(ErrorCode.RECORD_LIST_TOO_LARGE, `${this.name}: ${bytes} bytes in one write`)
    if (this.#queuedBytes + bytes > QUEUED_BYTES_MAX)
      return new CoordinatorError(ErrorCode.COORDINATOR_NOT_AVAILABLE, `${this.name}: too many writes are waiting`)
    return undefined
  }

  /** Throws the state away and ends; resolves when nothing of it runs any more. */
  async stop(): Promise<void> {
    this.#stopped.abort()
    this.#discard(notCoordinator(`${this.name} is not led by this node any more`))
    await this.#work
  }

  async #loadUntilDone(): Promise<void> {
    const { clock, logger } = this.#context
    const backoff = new Backoff({ initialMs: FIRST_RETRY_MS, maxMs: RETRY_MS_MAX, random: systemRandom })
    const { signal } = this.#stopped
    while (!signal.aborted) {
      const endTurn = await this.#context.loadSlot()
      try {
        if (!signal.aborted) await this.#load()
        return
      } catch (error) {
        if (signal.aborted) return
        const fields = { partition: this.name, error: messageOf(error) }
        logger.warn('the state of a coordinator cannot be loaded; trying again', fields)
      } finally {
        endTurn()
      }
      await sleep(clock, backoff.nextMs(), signal)
    }
  }

  async #load(): Promise<void> {
    const { createState, replay, replayMarker, loaded, clock, logger } = this.#context
    const log = this.#context.lookup(this.index)
    const state = createState(this.index)
    const startedMs = clock.monotonicMs()
    let records = 0
    const sink: RecordSink = {
      record: (record, batch) => {
        records++
        replay(state, record, batch)
      },
      marker: marker => replayMarker?.(state, marker),
    }
    // Markers of transactions may be appended meanwhile, by others.
    for (let offset = log.log.logStartOffset; offset < log.log.logEndOffset; )
      offset = await this.#readFrom(log, { offset, sink })
    if (this.#stopped.signal.aborted) return
    log.assertAvailable()
    this.#log = log
    this.#loaded = { partition: this.index, state, current: true }
    loaded?.(this.#loaded)
    if (records > 0)
      logger.info('loaded the state of a coordinator', {
        partition: this.name,
        records,
        ms: Math.round(clock.monotonicMs() - startedMs),
      })
  }

  async #readFrom(log: Partition, from: { offset: number; sink: RecordSink }): Promise<number> {
    try {
      return await loadRecords(log, from, this.#context.clock)
    } catch (error) {
      if (log.log.failure) this.#context.replicas.storageFailed(log, log.log.failure)
      throw error
    }
  }

  /** Rounds until the queue is empty. Never rejects. */
  async #writeAll(loaded: Loaded<S>): Promise<void> {
    const { clock, compression = 'none' } = this.#context
    this.#writing = true
    // What is written in the same turn shares the first round.
    await Promise.resolve()
    while (this.#queue.length > 0 && this.#loaded === loaded) {
      const writes = this.#queue
      this.#queue = []
      this.#queuedBytes = 0
      try {
        assert(this.#log)
        await writeRound(this.#log, writes, { clock, compression, timeoutMs: WRITE_TIMEOUT_MS })
      } catch (error) {
        this.#writing = false
        await this.#failed(error, writes)
        return
      }
    }
    this.#writing = false
  }

  /** Nobody knows which of the writes are in the log: the log tells, once it is read again. */
  async #failed(error: unknown, writes: readonly QueuedWrite[]): Promise<void> {
    const { replicas, logger } = this.#context
    if (this.#log?.log.failure) replicas.storageFailed(this.#log, this.#log.log.failure)
    const reason = error instanceof CoordinatorError ? error : notCoordinator(messageOf(error))
    for (const write of writes) write.reject(reason)
    if (this.#stopped.signal.aborted) return
    const fields = { partition: this.name, error: messageOf(error) }
    if (error instanceof PartitionUnavailable) logger.info('a coordinator lost its partition', fields)
    else logger.error('the state of a coordinator cannot be written; loading it again', fields)
    this.#discard(reason)
    await this.#loadUntilDone()
  }

  #discard(reason: CoordinatorError): void {
    const discarded = this.#loaded
    this.#loaded = undefined
    this.#log = undefined
    const waiting = this.#queue
    this.#queue = []
    this.#queuedBytes = 0
    for (const write of waiting) write.reject(reason)
    if (!discarded) return
    discarded.current = false
    this.#context.unloaded?.(discarded)
  }
}

const notCoordinator = (message: string): CoordinatorError => new CoordinatorError(ErrorCode.NOT_COORDINATOR, message)
