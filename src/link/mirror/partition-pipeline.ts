/** Starts and stops the pipeline of one mirror partition: opens its log, then lets the source's fetcher feed it. Used by MirrorTopic. */
import { Backoff } from '../../core/backoff.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Random } from '../../core/random.ts'
import { SerialQueue } from '../../core/serial-queue.ts'
import type { FetchSink, MirrorLog, SourceFetcher } from '../ports.ts'
import type { PartitionFigures } from './partition-figures.ts'

export interface PartitionPipelineOptions {
  readonly sourceTopic: string
  /** Where an empty log begins. */
  readonly startOffset: number
  readonly figures: PartitionFigures
  readonly fetcher: SourceFetcher
  readonly openLog: () => Promise<MirrorLog>
  readonly sink: (log: MirrorLog, signal: AbortSignal) => FetchSink & { readonly ended: boolean }
  readonly clock: Clock
  readonly random: Random
}

export class PartitionPipeline {
  readonly #o: PartitionPipelineOptions
  readonly #queue = new SerialQueue()
  /** Aborted when what runs shall end; replaced by the next start. */
  #abort: AbortController | undefined
  #fetching = false
  #sink: { readonly ended: boolean } | undefined
  #log: MirrorLog | undefined
  #restarting = false

  constructor(options: PartitionPipelineOptions) {
    this.#o = options
  }

  /** Fetching is wanted. Returns at once; troubles show in the figures. */
  start(): void {
    // A sink that has ended by itself is wanted again: its failure was cleared before anybody stopped the pipeline.
    if (this.#abort && this.#sink?.ended !== true) return
    if (this.#abort) void this.stop()
    const abort = new AbortController()
    this.#abort = abort
    void this.#queue.run(() => this.#run(abort.signal))
  }

  /** Fetching is wanted, and its sink has not ended it. */
  get isWanted(): boolean {
    return this.#abort !== undefined && this.#sink?.ended !== true
  }

  /** Begins anew at the same log end, after what runs has stopped; false if the restart before still waits for that. */
  restart(): boolean {
    if (this.#restarting || !this.isWanted) return false
    this.#restarting = true
    void this.stop().finally(() => {
      this.#restarting = false
    })
    this.start()
    return true
  }

  /** After it resolves nothing is fetched or appended any more. */
  async stop(): Promise<void> {
    this.#abort?.abort()
    this.#abort = undefined
    await this.#queue.run(async () => {
      if (!this.#fetching) return
      await this.#o.fetcher.stop(this.#o.sourceTopic, this.#o.figures.partition)
      this.#fetching = false
      this.#sink = undefined
      this.#o.figures.unasked(this.#o.clock.monotonicMs())
    })
  }

  /** Opens the log for its figures alone, once; a log that cannot be opened now is opened by the next start. */
  async attach(): Promise<void> {
    await this.#queue.run(async () => {
      if (this.#log) return
      try {
        this.#attached(await this.#o.openLog())
      } catch (error) {
        this.#o.figures.trouble = `the mirror's log is not open: ${messageOf(error)}`
      }
    })
  }

  async #run(signal: AbortSignal): Promise<void> {
    const log = await this.#openLog(signal)
    if (!log || signal.aborted) return
    this.#fetching = true
    const sink = this.#o.sink(log, signal)
    this.#sink = sink
    this.#o.fetcher.start(this.#o.sourceTopic, this.#o.figures.partition, sink)
  }

  async #openLog(signal: AbortSignal): Promise<MirrorLog | undefined> {
    const { figures, clock, random, startOffset } = this.#o
    const backoff = new Backoff({ initialMs: 50, maxMs: 5000, random })
    while (!signal.aborted) {
      try {
        const log = this.#log ?? (await this.#o.openLog())
        await beginLog(log, startOffset)
        this.#attached(log)
        return log
      } catch (error) {
        figures.trouble = `the mirror's log is not open: ${messageOf(error)}`
        await sleep(clock, backoff.nextMs(), signal)
      }
    }
    return undefined
  }

  #attached(log: MirrorLog): void {
    this.#log = log
    this.#o.figures.attach(log)
    this.#o.figures.trouble = undefined
  }
}

/** Where a mirror goes on. A log that never held anything begins with it; one that lost its data to retention has its own end. */
export function resumeOffset(log: MirrorLog, startOffset: number): number {
  const { logStartOffset, logEndOffset } = log.state()
  return logStartOffset === 0 && logEndOffset === 0 ? startOffset : logEndOffset
}

/** Makes the log ready to be mirrored into, or to end as a mirror. */
export async function beginLog(log: MirrorLog, startOffset: number): Promise<void> {
  await log.reclaim()
  const offset = resumeOffset(log, startOffset)
  if (offset > log.state().logEndOffset) await log.startAt(offset)
}
