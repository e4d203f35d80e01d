/** Runs the changes of one log one after the other and knows what is durable; PartitionLog sends everything that writes here. */
import assert from 'node:assert/strict'
import { messageOf } from '../core/errors.ts'
import { SerialQueue } from '../core/serial-queue.ts'
import { CleaningAborted } from './cleaner/cleaning-plan.ts'
import { deletedDirectoryName } from './file-names.ts'
import { Flusher } from './flusher.ts'
import type { LogCheckpoint, LogState } from './log-checkpoint.ts'
import type { LogContents } from './log-contents.ts'
import { LogError } from './log-error.ts'
import { type RetentionRules, retentionStart } from './retention.ts'
import { raiseLogStart, removeSegmentsBelow, segmentsBelow, startFullyAt } from './truncation.ts'

export class LogWriter {
  readonly #contents: LogContents
  readonly #checkpoint: LogCheckpoint
  readonly #queue = new SerialQueue()
  readonly #flusher: Flusher
  #flushedOffset: number
  /** Set by a failure after which memory and disk may differ: nothing is written any more. */
  #failure: LogError | undefined
  #closed = false
  /** The pass that runs does more than sync the active segment. */
  #thorough = false
  /** What checkpoints say while a cut is under way. */
  #announced: LogState | undefined

  constructor(contents: LogContents, checkpoint: LogCheckpoint) {
    this.#contents = contents
    this.#checkpoint = checkpoint
    this.#flusher = new Flusher(
      before =>
        this.#flushUnlessDone(before).catch(error => {
          throw this.#asLogError(error)
        }),
      () => !this.#thorough && this.#isTidy && contents.environment.fs.takesMoreSyncs !== false,
    )
    this.#flushedOffset = contents.durableAtOpen
  }

  get flushedOffset(): number {
    return this.#flushedOffset
  }

  get failure(): LogError | undefined {
    return this.#failure
  }

  get checkpointState(): LogState {
    const { logStartOffset, logEndOffset } = this.#contents
    return this.#announced ?? { logStartOffset, logEndOffset, recoveryPoint: this.#recoveryPointBelow() }
  }

  /** Recovery rebuilds from the segment of this offset on: the first whose data or indexes are not durable. */
  #recoveryPointBelow(offset = this.#flushedOffset): number {
    const unsaved = Array.from(this.#contents.rolled, segment => segment.baseOffset)
    return Math.min(offset, this.#flushedOffset, ...unsaved)
  }

  /** A change that leaves the log as it was if it fails. */
  change<T>(work: () => Promise<T>): Promise<T> {
    return this.#queue.run(async () => {
      this.#assertUsable()
      try {
        return await work()
      } catch (error) {
        throw this.#asLogError(error)
      }
    })
  }

  /** Part of a change: runs `work` while no flush runs. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    return this.#flusher.exclusive(work)
  }

  /** Segments that it rolled are made durable in the background. */
  async append<T>(work: () => Promise<T>): Promise<T> {
    const result = await this.change(work)
    if (this.#contents.rolled.size > 0) this.flush().catch(() => {})
    return result
  }

  /** Rejects with 'out-of-range' above the log end; does nothing below the log start. */
  raiseLogStart(offset: number): Promise<void> {
    return this.change(() => this.alone(() => this.#raiseLogStart(offset)))
  }

  applyRetention(highWatermark: number, rules: RetentionRules): Promise<void> {
    return this.change(() =>
      this.alone(async () => {
        const start = await retentionStart(this.#contents, highWatermark, rules)
        if (start !== undefined) await this.#raiseLogStart(start)
      }),
    )
  }

  /**
   * Part of a change: something that cannot be taken back; if it fails halfway the log has failed. `to` is what will be left
   * at most: the checkpoint says so before the work begins, so that a crash on the way is seen through.
   */
  async cut(to: { logStartOffset: number; logEndOffset: number }, work: () => Promise<void>): Promise<void> {
    await this.#flusher.exclusive(async () => {
      const recoveryPoint = this.#recoveryPointBelow(to.logEndOffset)
      this.#announced = { ...to, recoveryPoint }
      try {
        await this.#checkpoint.save()
        this.#flushedOffset = Math.min(this.#flushedOffset, to.logEndOffset)
        await work().catch(error => {
          throw this.#fail(error)
        })
      } finally {
        this.#announced = undefined
      }
    })
    const { isEmpty, logEndOffset } = this.#contents
    this.#flushedOffset = isEmpty ? logEndOffset : Math.min(this.#flushedOffset, logEndOffset)
    this.#checkpoint.changed()
  }

  /** Exchanges segments for cleaned ones of the same offsets; if it fails the log has failed. */
  swap(work: () => Promise<void>): Promise<void> {
    return this.change(() =>
      this.alone(() =>
        work().catch(error => {
          throw error instanceof CleaningAborted ? error : this.#fail(error)
        }),
      ),
    )
  }

  /**
   * Part of a change: lets an empty log begin at `baseOffset`, below its start, for `write`, whose first batch holds the start.
   * If the write fails the log is empty at its start again.
   */
  readonly beginInsideBatch = async (baseOffset: number, write: () => Promise<void>): Promise<void> => {
    const { logStartOffset } = this.#contents
    let failure: { error: unknown } | undefined
    await this.cut({ logStartOffset, logEndOffset: baseOffset }, async () => {
      await startFullyAt(this.#contents, baseOffset)
      await write().catch(error => {
        failure = { error }
      })
      if (this.#contents.logEndOffset > logStartOffset) this.#contents.logStartOffset = logStartOffset
      else await startFullyAt(this.#contents, logStartOffset)
    })
    if (failure) throw failure.error
  }

  /** Resolves when everything appended before the call is durable. */
  async flush(): Promise<void> {
    this.#assertUsable()
    if (!this.#isFlushed) await this.#flusher.flush()
  }

  /** Makes everything durable and closes the files. `clean`: the next start need not verify anything. */
  close(): Promise<{ clean: boolean }> {
    return this.#queue.run(async () => {
      if (!this.#closed && !this.#failure) {
        await this.#flusher.exclusive(() => this.#saveForCleanStart()).catch(error => this.#fail(error))
      }
      this.#closed = true
      for (const segment of this.#contents.segments.all) await segment.close()
      return { clean: this.#failure === undefined }
    })
  }

  /** Closes the log and removes its directory. After a crash on the way the next start removes what is left. */
  delete(of: { topic: string; partition: number }): Promise<void> {
    return this.#queue.run(async () => {
      this.#closed = true
      const { directory, environment, segments } = this.#contents
      const parent = directory.slice(0, directory.lastIndexOf('/'))
      const condemned = `${parent}/${deletedDirectoryName(of.topic, of.partition)}`
      await this.#flusher.exclusive(async () => {
        for (const segment of segments.all) await segment.close()
        await environment.fs.rename(directory, condemned)
        await environment.fs.syncDirectory(parent)
      })
      await environment.fs.removeDirectory(condemned)
    })
  }

  /** Segments go only once the new start is durable: of some that a crash brings back nobody knows the open transactions. */
  async #raiseLogStart(offset: number): Promise<void> {
    const { name, logStartOffset, logEndOffset, epochs } = this.#contents
    if (offset > logEndOffset) {
      throw new LogError('out-of-range', `${name} ends at ${logEndOffset}: it cannot start at ${offset}`)
    }
    if (offset <= logStartOffset) return
    // A crash must not leave a log that ends below its start.
    if (offset > this.#flushedOffset) await this.#flushPass()
    raiseLogStart(this.#contents, offset)
    if (segmentsBelow(this.#contents, offset).length > 0) await this.#checkpoint.save()
    await epochs.save()
    await removeSegmentsBelow(this.#contents, offset)
    this.#checkpoint.changed()
  }

  /**
   * What may fail and be tried again, then what may not: after a failed sync nobody knows what is on disk. A snapshot becomes
   * durable after the segments before it: recovery relies on that.
   */
  async #flushPass(before?: Promise<void>): Promise<void> {
    const { segments, rolled, snapshots, logEndOffset } = this.#contents
    const { active } = segments
    const closing = [...rolled]
    const { pending } = snapshots
    for (const segment of closing) await segment.save()
    try {
      for (const segment of closing) await segment.syncAll()
      await active.file.sync()
      await this.#contents.syncNames()
    } catch (error) {
      // An empty segment can have been removed meanwhile: then the next pass does without it.
      const complete = [...closing, active].every(segment => segments.all.includes(segment))
      throw complete ? this.#fail(error) : error
    }
    await before
    for (const offset of pending) await snapshots.save(offset)
    for (const segment of closing) rolled.delete(segment)
    this.#flushedOffset = Math.max(this.#flushedOffset, logEndOffset)
    if (closing.length > 0) this.#checkpoint.changed()
    else this.#checkpoint.flushed()
  }

  /** What went before may have flushed everything, or closed the log. */
  async #flushUnlessDone(before: Promise<void>): Promise<void> {
    if (this.#isFlushed) return
    this.#assertUsable()
    if (this.#isTidy) return await this.#flushPass(before)
    this.#thorough = true
    try {
      await this.#flushPass()
    } finally {
      this.#thorough = false
    }
  }

  /** The next start then reads no batches but the last few. */
  async #saveForCleanStart(): Promise<void> {
    const { segments, snapshots, producers, logStartOffset, logEndOffset, epochs } = this.#contents
    await segments.active.finish()
    if (logEndOffset > logStartOffset && !snapshots.has(logEndOffset)) snapshots.take(logEndOffset, producers.encode())
    // The next start forgets an epoch without batches.
    if ((epochs.latest?.startOffset ?? 0) < logEndOffset) await epochs.save()
    if (!this.#isFlushed) await this.#flushPass()
    await segments.active.save()
    await segments.active.indexes.sync()
  }

  get #isFlushed(): boolean {
    return this.#isTidy && this.#flushedOffset >= this.#contents.logEndOffset
  }

  /** What is not durable lies in the active segment, and its name is. Only then may passes overlap. */
  get #isTidy(): boolean {
    const { rolled, namesChanged, snapshots } = this.#contents
    return rolled.size === 0 && snapshots.pending.length === 0 && !namesChanged
  }

  #assertUsable(): void {
    if (this.#failure) throw this.#failure
    if (this.#closed) throw new LogError('closed', `${this.#contents.name} is closed`)
  }

  #asLogError(error: unknown): unknown {
    if (error instanceof LogError) return error.failed ? this.#fail(error) : error
    if (error instanceof CleaningAborted) return error
    if (error instanceof assert.AssertionError) return this.#fail(error)
    const reason = messageOf(error)
    return new LogError('storage', `${this.#contents.name}: ${reason}`, { cause: error })
  }

  #fail(cause: unknown): LogError {
    const { environment, name } = this.#contents
    const reason = messageOf(cause)
    if (cause instanceof LogError && cause.failed) this.#failure ??= cause
    this.#failure ??= new LogError('storage', `${name} has failed: ${reason}`, { cause, failed: true })
    environment.logger.error('the log has failed; it needs recovery', { log: name, reason })
    return this.#failure
  }
}
