/** The cleaner's door to one log: says how dirty it is and runs one pass over it; PartitionLog has one, LogCleaner uses it. */
import { abortedTransactions } from '../batch-lookup.ts'
import type { LogCheckpoint } from '../log-checkpoint.ts'
import type { LogContents } from '../log-contents.ts'
import type { LogWriter } from '../log-writer.ts'
import { condemnedBytes, type RetentionRules } from '../retention.ts'
import type { Segment } from '../segment.ts'
import { readSteadily } from '../steady-read.ts'
import type { LastRecord } from './clean-batch.ts'
import { CleaningAborted, type CleaningCounts, type CleaningPlan } from './cleaning-plan.ts'
import { CleaningRun, type CleaningTools } from './cleaning-run.ts'
import { type Dirt, dirtOf } from './dirt.ts'
import type { SegmentSizes } from './segment-groups.ts'
import { discardCleaned, swapSegments } from './swap-segments.ts'

/** What the cleaner brings along; the file system is the log's. */
export interface PassTools extends Omit<CleaningTools, 'fs' | 'signal'> {
  /** Aborted when the cleaner shall end. */
  readonly stop?: AbortSignal
}

/** What one pass did. */
export interface CleaningResult extends Readonly<CleaningCounts> {
  readonly fromOffset: number
  /** Everything below is clean now. */
  readonly endOffset: number
  readonly segmentsBefore: number
  readonly segmentsAfter: number
  /** How full the offset map got, 0 to 1; at 1 another pass follows. */
  readonly mapUse: number
}

/** Neighbours whose cleaned successor is written. */
interface Exchange {
  readonly replaced: readonly Segment[]
  /** As they were when they were read. */
  readonly sizes: readonly SegmentSizes[]
  readonly endOffset: number
}

export class LogCleaning {
  readonly #contents: LogContents
  readonly #writer: LogWriter
  readonly #checkpoint: LogCheckpoint
  #stopped = false
  /** The pass that is running. */
  #running: { readonly ended: Promise<unknown>; readonly abort: AbortController } | undefined
  /** As far as the pass knows of. */
  #cuts = 0
  /** Segments that it may still read. */
  #left: readonly Segment[] = []

  constructor(of: { contents: LogContents; writer: LogWriter; checkpoint: LogCheckpoint }) {
    this.#contents = of.contents
    this.#writer = of.writer
    this.#checkpoint = of.checkpoint
  }

  /** Below it, records may have been removed because a later one of their key was there; 0 if none was. */
  get cleanedOffset(): number {
    return Math.max(this.#contents.compactedTo, this.#checkpoint.cleanedOffset() ?? 0)
  }

  /** How many bytes `applyRetention` of the log would remove now. Changes nothing. */
  condemnedBytes(highWatermark: number, rules: RetentionRules): Promise<number> {
    return readSteadily(this.#contents, () => condemnedBytes(this.#contents, highWatermark, rules))
  }

  /** What could be cleaned now; undefined if nothing. Nothing at or above `stableOffset` is touched. */
  dirt(stableOffset: number): Promise<Dirt | undefined> {
    const checkpoint = this.#checkpoint.cleanedOffset()
    return readSteadily(this.#contents, () => dirtOf(this.#contents, { checkpoint, stableOffset }))
  }

  /**
   * Cleans what `dirt` says, beside appends and reads. One pass at a time. Rejects with CleaningAborted if the log was cut or
   * closed meanwhile, with LogError 'storage' or a system error if the disk failed, with another error if the log is damaged.
   */
  async clean(dirt: Dirt, tools: PassTools): Promise<CleaningResult> {
    if (this.#running || this.#stopped) throw new CleaningAborted('it is running, or the log is closed')
    const abort = new AbortController()
    const signal = tools.stop ? AbortSignal.any([tools.stop, abort.signal]) : abort.signal
    const running = this.#pass(dirt, { ...tools, signal, fs: this.#contents.environment.fs })
    this.#running = { ended: running.catch(() => {}), abort }
    try {
      return await running
    } finally {
      this.#running = undefined
    }
  }

  /** Ends what is running, for ever: the log is going to be closed. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#running?.abort.abort()
    await this.#running?.ended
  }

  async #pass(dirt: Dirt, tools: CleaningTools): Promise<CleaningResult> {
    this.#left = []
    this.#cuts = dirt.cuts
    try {
      return await this.#cleanSegments(dirt, tools)
    } catch (error) {
      const { failure } = this.#writer
      if (failure) throw failure
      // Files changed, or went, under the pass.
      const { all } = this.#contents.segments
      const isDisturbed = this.#isCut || this.#left.some(segment => !all.includes(segment))
      throw isDisturbed && !(error instanceof CleaningAborted)
        ? new CleaningAborted('the log was cut or closed')
        : error
    }
  }

  /** By somebody else, since the pass began. */
  get #isCut(): boolean {
    return this.#cuts !== this.#contents.cuts || this.#stopped
  }

  async #cleanSegments(dirt: Dirt, tools: CleaningTools): Promise<CleaningResult> {
    const contents = this.#contents
    if (this.#isCut) throw new CleaningAborted('the log was cut')
    // What is going to be replaced must be durable, and known to be: a crash would take the hole of a removed batch for a lost tail.
    await this.#writer.flush()
    await this.#checkpoint.save()
    const below = () => contents.segments.all.filter(({ baseOffset }) => baseOffset < dirt.firstUncleanableOffset)
    const segments = below()
    if (segments.length === 0) throw new CleaningAborted('its segments went')
    this.#left = segments
    const run = new CleaningRun(await planOf(contents, dirt, segments), tools)
    const endOffset = await run.index()
    for (const group of run.groups(endOffset)) {
      const replaced = group.flatMap(({ baseOffset }) => segments.filter(segment => segment.baseOffset === baseOffset))
      if (this.#isCut) throw new CleaningAborted('the log was cut or closed')
      if (this.#areGone(replaced)) continue
      if (await run.rewrite(group)) await this.#swapOrDiscard({ replaced, sizes: group, endOffset })
    }
    this.#checkpoint.cleaned(endOffset)
    const [segmentsBefore, segmentsAfter] = [segments.length, below().length]
    return {
      ...run.counts,
      fromOffset: dirt.firstDirtyOffset,
      endOffset,
      segmentsBefore,
      segmentsAfter,
      mapUse: run.mapUse,
    }
  }

  /** Of a log that has failed recovery looks after the files. */
  async #swapOrDiscard(of: Exchange): Promise<void> {
    try {
      await this.#swap(of)
    } catch (error) {
      if (!this.#writer.failure) await discardCleaned(this.#contents, of.sizes[0]?.baseOffset ?? 0)
      throw error
    }
  }

  /** The log start has passed them. */
  #areGone(segments: readonly Segment[]): boolean {
    return !segments.some(segment => this.#contents.segments.all.includes(segment))
  }

  async #swap({ replaced, sizes, endOffset }: Exchange): Promise<void> {
    await this.#writer.swap(async () => {
      if (this.#isCut) throw new CleaningAborted('the log was cut or closed')
      const { all } = this.#contents.segments
      const first = replaced[0] ? all.indexOf(replaced[0]) : -1
      const unchanged = replaced.every(
        (segment, index) => all[first + index] === segment && segment.sizeBytes === sizes[index]?.sizeBytes,
      )
      if (first < 0 || !unchanged || first + replaced.length >= all.length)
        throw new CleaningAborted('segments of the log went')
      this.#contents.compactedTo = Math.max(this.#contents.compactedTo, endOffset)
      await swapSegments(this.#contents, replaced)
      this.#cuts = this.#contents.cuts
      this.#left = this.#left.filter(segment => !replaced.includes(segment))
    })
  }
}

async function planOf(contents: LogContents, dirt: Dirt, segments: readonly Segment[]): Promise<CleaningPlan> {
  const { config, environment, directory } = contents
  const { firstDirtyOffset, firstUncleanableOffset } = dirt
  const firstDirty = segments.findLast(({ baseOffset }) => baseOffset <= firstDirtyOffset)
  return {
    directory,
    segments: segments.map(({ baseOffset, sizeBytes, indexes }) => ({
      baseOffset,
      sizeBytes,
      offsetIndexBytes: indexes.offsets.entries.bytes,
      timeIndexBytes: indexes.times.entries.bytes,
    })),
    firstDirtyOffset,
    firstDirtyPosition: (await firstDirty?.indexes.offsets.lookup(firstDirtyOffset))?.position ?? 0,
    firstUncleanableOffset,
    aborted: await abortedTransactions(contents, 0, firstUncleanableOffset),
    lastRecords: lastRecordsOf(contents),
    segmentBytes: config.segmentBytes,
    segmentIndexBytes: config.segmentIndexBytes,
    indexIntervalBytes: config.indexIntervalBytes,
    deleteRetentionMs: config.deleteRetentionMs,
    nowMs: environment.clock.nowMs(),
  }
}

function lastRecordsOf({ producers }: LogContents): ReadonlyMap<bigint, LastRecord> {
  const last = new Map<bigint, LastRecord>()
  for (const { producerId, producerEpoch, lastBatch } of producers.entries())
    last.set(producerId, lastBatch ? { lastOffset: lastBatch.lastOffset } : { epoch: producerEpoch })
  return last
}
