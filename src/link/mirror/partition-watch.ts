/**
 * Restarts one mirror partition that makes no progress while its source is ahead, and says so (semantics §4.9). Made by MirrorTopic,
 * looked at by the watchdog of the link. What is reported otherwise (source down, appends refused) is left alone.
 */
import { Backoff } from '../../core/backoff.ts'
import type { Clock } from '../../core/clock.ts'
import type { Random } from '../../core/random.ts'
import type { PartitionFigures } from './partition-figures.ts'
import type { PartitionPipeline } from './partition-pipeline.ts'

export interface PartitionWatchOptions {
  readonly sourceTopic: string
  readonly figures: PartitionFigures
  readonly pipeline: Pick<PartitionPipeline, 'isWanted' | 'restart'>
  /** How long nothing may happen before the source is asked; above the longest time between two reports of one trouble. */
  readonly stallMs: number
  /** Counted; what is `first` at this log end is kept in the history too. */
  readonly report: (message: string, isFirst: boolean) => void
  readonly clock: Clock
  readonly random: Random
}

/** Longest wait between two restarts at the same log end. */
const restartMsMax = 3_600_000
/** One look accounts for no more: time in which this process did not run is nobody's stall. */
const lookMsMax = 30_000

export class PartitionWatch {
  readonly #o: PartitionWatchOptions
  readonly #backoff: Backoff
  #logEnd: number | undefined
  #troublesSeen = 0
  #lookedAtMs: number
  #idleMs = 0
  /** So much idle time makes it suspect. */
  #patienceMs: number

  constructor(options: PartitionWatchOptions) {
    this.#o = options
    const { stallMs, random, clock } = options
    this.#backoff = new Backoff({ initialMs: 2 * stallMs, maxMs: Math.max(restartMsMax, 2 * stallMs), random })
    this.#patienceMs = stallMs
    this.#lookedAtMs = clock.monotonicMs()
  }

  get sourceTopic(): string {
    return this.#o.sourceTopic
  }

  get partition(): number {
    return this.#o.figures.partition
  }

  /** Has nothing happened for so long that the source should be asked whether it is ahead? Called once per period. */
  look(): boolean {
    const { figures, pipeline, clock } = this.#o
    const nowMs = clock.monotonicMs()
    const passedMs = Math.min(nowMs - this.#lookedAtMs, lookMsMax)
    this.#lookedAtMs = nowMs
    const logEnd = figures.logState()?.logEndOffset
    const hasMoved = logEnd !== this.#logEnd
    // A trouble excuses while it is met again and again: one that was met once may have been forgotten with the partition.
    const isReported = figures.trouble !== undefined && figures.troublesSeen !== this.#troublesSeen
    this.#logEnd = logEnd
    this.#troublesSeen = figures.troublesSeen
    if (hasMoved || !pipeline.isWanted) this.#goesOn()
    else if (isReported || this.#isAtTheEnd()) this.excuse()
    else this.#idleMs += passedMs
    return this.#idleMs >= this.#patienceMs
  }

  /** Not now: something else explains it, or the source does not answer. */
  excuse(): void {
    this.#idleMs = 0
  }

  /** What the source says about its end after `look` was true. Does not wait for anything. */
  judge(sourceEnd: number): void {
    const { figures, pipeline, report } = this.#o
    const logEnd = figures.logState()?.logEndOffset
    if (logEnd === undefined || logEnd !== this.#logEnd || !pipeline.isWanted) return this.excuse()
    if (sourceEnd <= logEnd) return this.#goesOn()
    const isFirst = this.#backoff.attempts === 0
    const what = `no progress at offset ${logEnd} while the source ends at ${sourceEnd}`
    const answers = this.#wasAnsweredWithin(this.#o.stallMs)
      ? 'it answers fetches without data'
      : 'no fetch was answered'
    const isRestarted = pipeline.restart()
    const done = isRestarted
      ? `restarted (${this.#backoff.attempts + 1})`
      : 'a restart waits for work that does not end'
    figures.stall = { logEnd, message: `${what}; ${answers}; ${done}` }
    this.excuse()
    if (!isRestarted) return
    this.#patienceMs = Math.max(this.#o.stallMs, this.#backoff.nextMs())
    report(figures.stall.message, isFirst)
  }

  #goesOn(): void {
    this.excuse()
    this.#backoff.reset()
    this.#patienceMs = this.#o.stallMs
    this.#o.figures.stall = undefined
  }

  #wasAnsweredWithin(ms: number): boolean {
    const { figures, clock } = this.#o
    const { seenAtMs } = figures.lag
    return seenAtMs !== undefined && clock.monotonicMs() - seenAtMs < ms
  }

  /** A source that answers and has nothing more is not asked again. */
  #isAtTheEnd(): boolean {
    const { figures, stallMs } = this.#o
    return this.#logEnd !== undefined && this.#wasAnsweredWithin(stallMs / 4) && figures.lag.lag(this.#logEnd) === 0
  }
}
