/** One partition's log: the only door to it for replica/, controller/ and destination/. Work is done by the modules beside it. */
import type { Uuid } from '../core/uuid.ts'
import type { BatchHeader } from '../protocol/batches/batch-header.ts'
import { appendAsFollower, type FollowerAppend } from './append-as-follower.ts'
import { type Appended, type AppendOrigin, type AppendResult, appendAsLeader, appendMirror } from './appender.ts'
import { abortedTransactions, type BatchPlace, lastBatch } from './batch-lookup.ts'
import { LogCleaning } from './cleaner/log-cleaning.ts'
import { beginAt, cutTo, growTo } from './cuts.ts'
import { partitionDirectoryName } from './file-names.ts'
import { forgetProducers } from './forget-producers.ts'
import { IndexCache } from './index-cache.ts'
import type { EpochEnd } from './leader-epochs.ts'
import { type LogState, noCheckpoint } from './log-checkpoint.ts'
import type { LogConfig } from './log-config.ts'
import type { LogContents } from './log-contents.ts'
import { LogError } from './log-error.ts'
import { LogReader, type ReadRequest, type ReadResult } from './log-reader.ts'
import { LogWriter } from './log-writer.ts'
import { nodeFileSystem } from './node-file-system.ts'
import type { PartitionLogOptions } from './partition-log-options.ts'
import { loadPartitionMetadata, savePartitionMetadata } from './partition-metadata.ts'
import { checkProducer, type ProducerVerdict } from './producer-check.ts'
import type { ProducerEntry } from './producer-entry.ts'
import type { OpenTransaction } from './producer-state.ts'
import { loadLog } from './recovery.ts'
import type { RetentionRules } from './retention.ts'
import { readSteadily } from './steady-read.ts'
import { maxTimestamp, offsetForTimestamp, type TimestampedOffset } from './time-search.ts'
import type { AbortedTransaction } from './transaction-index.ts'

/**
 * Batches in Kafka's on-disk format. Changes of one log run one after the other; reads run beside them. Failures are LogError;
 * one with `failed` set means that this log accepts nothing until it is closed and opened again with recovery.
 */
export class PartitionLog {
  readonly topic: string
  readonly partition: number
  readonly topicId: Uuid | undefined
  readonly directory: string
  /** The cleaner's door. */
  readonly cleaning: LogCleaning
  readonly #contents: LogContents
  readonly #writer: LogWriter
  readonly #reader: LogReader

  private constructor(options: PartitionLogOptions, topicId: Uuid | undefined, contents: LogContents) {
    this.topic = options.topic
    this.partition = options.partition
    this.topicId = topicId
    this.directory = options.directory
    this.#contents = contents
    const checkpoint = options.checkpoint ?? noCheckpoint
    this.#writer = new LogWriter(contents, checkpoint)
    this.cleaning = new LogCleaning({ contents, writer: this.#writer, checkpoint })
    this.#reader = new LogReader(contents)
  }

  /** Opens, recovers or creates the log. What recovery found above `flushedOffset` is durable after the next flush. */
  static async open(options: PartitionLogOptions): Promise<PartitionLog> {
    const { directory, clock, logger, config } = options
    const fs = options.fs ?? nodeFileSystem()
    const stored = options.storedTopicId ?? (await loadPartitionMetadata(fs, directory))
    if (stored && options.topicId && stored !== options.topicId) {
      throw new LogError('topic-id', `${directory} belongs to topic id ${stored}, not ${options.topicId}`)
    }
    const { logStartOffset, recoveryPoint } = (options.checkpoint ?? noCheckpoint).load()
    const contents = await loadLog({
      environment: { fs, cache: options.cache ?? new IndexCache(), clock, logger },
      directory,
      name: partitionDirectoryName(options.topic, options.partition),
      config,
      logStartOffset,
      recoveryPoint: options.recover ? recoveryPoint : undefined,
      damage: options.damage ?? 'cut',
      neededFrom: options.neededFrom ?? 0,
    })
    if (!stored && options.topicId) await savePartitionMetadata(fs, directory, options.topicId)
    return new PartitionLog(options, stored ?? options.topicId, contents)
  }

  get logStartOffset(): number {
    return this.#contents.logStartOffset
  }

  get logEndOffset(): number {
    return this.#contents.logEndOffset
  }

  /** Everything below is durable. */
  get flushedOffset(): number {
    return this.#writer.flushedOffset
  }

  get sizeBytes(): number {
    return this.#contents.segments.sizeBytes
  }

  /** Why this log accepts nothing any more; undefined while it is well. */
  get failure(): LogError | undefined {
    return this.#writer.failure
  }

  /** What a checkpoint must say of this log now. */
  get checkpointState(): LogState {
    return this.#writer.checkpointState
  }

  get config(): LogConfig {
    return this.#contents.config
  }

  /** Holds from the next append on. */
  updateConfig(config: LogConfig): void {
    this.#contents.config = config
  }

  /**
   * Appends client or coordinator batches, already validated, behind the log end: offsets and epoch are stamped in place.
   * `origin` (default client) decides which producer rules hold, `transactionVersion` (default 0) those of a marker; a refusal
   * or duplicate is a value, and appends nothing.
   */
  appendAsLeader(
    batches: Buffer,
    options: { leaderEpoch: number; origin?: AppendOrigin; assignOffsets?: true; transactionVersion?: number },
  ): Promise<AppendResult> {
    return this.#writer.append(() => appendAsLeader(this.#contents, batches, { origin: 'client', ...options }))
  }

  /**
   * Appends batches of a source as they are, holes included; only the epoch is stamped, in place. Rejects with 'conflict' if
   * the log does not end at `expectedEndOffset`. The first batch of an empty log may begin below its start.
   */
  appendMirror(batches: Buffer, options: { leaderEpoch: number; expectedEndOffset: number }): Promise<Appended> {
    const { beginInsideBatch: beginInside } = this.#writer
    return this.#writer.append(() => appendMirror(this.#contents, batches, { ...options, beginInside }))
  }

  /** Appends batches of the leader as they are, epochs included; otherwise like `appendMirror`. */
  appendAsFollower(batches: Buffer, options: FollowerAppend): Promise<Appended> {
    const { beginInsideBatch: beginInside } = this.#writer
    return this.#writer.append(() => appendAsFollower(this.#contents, batches, { ...options, beginInside }))
  }

  /** Resolves when everything appended before the call is durable. Concurrent calls share a pass. */
  flush(): Promise<void> {
    return this.#writer.flush()
  }

  read(request: ReadRequest): Promise<ReadResult> {
    return this.#reader.read(request)
  }

  /** First record at or after the log start with at least this timestamp. */
  offsetForTimestamp(timestamp: bigint): Promise<TimestampedOffset | undefined> {
    return readSteadily(this.#contents, () => offsetForTimestamp(this.#contents, timestamp))
  }

  /** First record with the largest timestamp (ListOffsets -3). */
  maxTimestamp(): Promise<TimestampedOffset | undefined> {
    return readSteadily(this.#contents, () => maxTimestamp(this.#contents))
  }

  /** The newest batch, undefined if the log holds none. */
  lastBatch(): Promise<BatchPlace | undefined> {
    return readSteadily(this.#contents, () => lastBatch(this.#contents))
  }

  /** What an append of this batch by a client would meet; `appendAsLeader` asks itself, atomically. */
  checkProducer(header: BatchHeader): ProducerVerdict {
    return checkProducer(header, this.#contents.producers.entry(header.producerId), { origin: 'client' })
  }

  /** Where read_committed readers stop; not below the log start. `highWatermark` must not go back except after a truncation. */
  lastStableOffset(highWatermark: number): number {
    return Math.max(this.logStartOffset, this.#contents.producers.lastStableOffset(highWatermark))
  }

  /** Open transactions, the oldest first. */
  openTransactions(): OpenTransaction[] {
    return this.#contents.producers.openTransactions()
  }

  /** Aborted transactions with records in [fromOffset, toOffset), in the order of their markers. */
  abortedTransactions(fromOffset: number, toOffset: number): Promise<AbortedTransaction[]> {
    return readSteadily(this.#contents, () => abortedTransactions(this.#contents, fromOffset, toOffset))
  }

  /** Producers with state, for DescribeProducers. */
  producers(): Iterable<ProducerEntry> {
    return this.#contents.producers.entries()
  }

  producer(producerId: bigint): ProducerEntry | undefined {
    return this.#contents.producers.entry(producerId)
  }

  /** Forgets idle producers; the node calls it now and then. */
  removeExpiredProducers(): void {
    const { producers, environment, config } = this.#contents
    producers.removeExpired(environment.clock.nowMs(), config.producerIdExpirationMs)
  }

  /**
   * Nobody is fenced, refused or taken for a repetition any more because of what producers appended so far, nor after a
   * restart once this is flushed. No transaction may be open.
   */
  forgetProducers(): Promise<void> {
    return this.#writer.append(() => forgetProducers(this.#contents))
  }

  /** Largest producer id in the life of the log, -1n if none. */
  get maxProducerId(): bigint {
    return this.#contents.producers.maxProducerId
  }

  get latestEpoch(): number | undefined {
    return this.#contents.epochs.latest?.epoch
  }

  /** Epoch and offset as in OffsetForLeaderEpoch; both -1 if the log does not know the epoch. */
  endOffsetForEpoch(epoch: number): EpochEnd {
    return this.#contents.epochs.endOffsetFor(epoch, this.logEndOffset)
  }

  /** Epoch of the record at `offset`. */
  epochAt(offset: number): number | undefined {
    return this.#contents.epochs.epochAt(offset)
  }

  /**
   * A new leader epoch begins, in memory: it becomes durable before its first batch is written, and with a clean stop. A crash
   * forgets an epoch without batches, and the next one, which the cluster makes higher, begins at the same offset.
   */
  assignEpochStart(epoch: number, startOffset: number): Promise<void> {
    return this.#writer.change(async () => this.#contents.epochs.assign(epoch, startOffset))
  }

  /** Drops everything from `offset` on, durably. The end becomes `offset`, or the base of the batch that held it. */
  truncateTo(offset: number): Promise<void> {
    return this.#writer.change(() => cutTo(this.#parts, offset))
  }

  /** Drops everything and begins at `offset`. */
  truncateFullyAndStartAt(offset: number): Promise<void> {
    return this.#writer.change(() => beginAt(this.#parts, offset))
  }

  /** Raises the log start, at most to the log end ('out-of-range' above it); never lowers it. */
  raiseLogStartOffset(offset: number): Promise<void> {
    return this.#writer.raiseLogStart(offset)
  }

  /** Removes segments that `retention.ms` and `retention.bytes` condemn; the log start follows. */
  applyRetention(highWatermark: number, rules: RetentionRules): Promise<void> {
    return this.#writer.applyRetention(highWatermark, rules)
  }

  /** Moves the log end forward, leaving a hole, durably; a log without batches begins there instead. Does nothing below the end. */
  extendTo(offset: number): Promise<void> {
    return this.#writer.change(() => growTo(this.#parts, offset))
  }

  /** Makes everything durable and closes the files. `clean` is false if something failed: the next start must recover. */
  async close(): Promise<{ clean: boolean }> {
    await this.cleaning.stop()
    return await this.#writer.close()
  }

  /** Closes the log and removes its directory. */
  async delete(): Promise<void> {
    await this.cleaning.stop()
    await this.#writer.delete(this)
  }

  get #parts() {
    return { contents: this.#contents, writer: this.#writer }
  }
}
