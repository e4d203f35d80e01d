/** Flushes what nobody waits for (mirrored bytes, acks=0) after a while; ReplicaSet owns the one of the node. */
import type { Clock, Timer } from '../core/clock.ts'
import type { Replica } from './replica.ts'

/** Logs flushed at the same time; each holds one of the few threads that the process has for files, and others wait for those. */
const PARALLEL_FLUSHES = 2

export class BackgroundFlush {
  readonly #intervalMs: number
  readonly #clock: Clock
  readonly #failed: (partition: Replica, error: unknown) => void
  readonly #dirty = new Set<Replica>()
  /** Those whose `flush.ms` is shorter than the interval. */
  readonly #hasty = new Map<Replica, Timer>()
  /** Due, and not taken up yet. */
  readonly #queue = new Set<Replica>()
  #running = 0
  #timer: Timer | undefined
  #closed = false

  constructor(options: { intervalMs: number; clock: Clock; failed: (partition: Replica, error: unknown) => void }) {
    this.#intervalMs = options.intervalMs
    this.#clock = options.clock
    this.#failed = options.failed
  }

  /**
   * The partition is flushed within about one interval, or earlier where its topic asks for that: after `flush.ms`, or at once
   * when `flush.messages` records wait. A failed flush is reported and tried again.
   */
  add(partition: Replica): void {
    if (this.#closed) return
    const { flushMessages, flushMs } = partition.settings
    const { logEndOffset, flushedOffset } = partition.log
    if (logEndOffset - flushedOffset >= flushMessages) this.#flushNow(partition)
    else if (flushMs < this.#intervalMs) this.#flushAfter(partition, flushMs)
    else this.#addDirty(partition)
  }

  #addDirty(partition: Replica): void {
    if (this.#closed) return
    this.#dirty.add(partition)
    this.#timer ??= this.#clock.after(this.#intervalMs, () => this.#flushDirty())
  }

  #flushAfter(partition: Replica, delayMs: number): void {
    if (this.#hasty.has(partition)) return
    const timer = this.#clock.after(delayMs, () => {
      this.#hasty.delete(partition)
      this.#flushNow(partition)
    })
    this.#hasty.set(partition, timer)
  }

  #flushNow(partition: Replica): void {
    this.#queue.add(partition)
    this.#workOn()
  }

  /** Whoever closes the logs flushes them. */
  close(): void {
    this.#closed = true
    this.#timer?.cancel()
    for (const timer of this.#hasty.values()) timer.cancel()
    this.#hasty.clear()
    this.#dirty.clear()
    this.#queue.clear()
  }

  #flushDirty(): void {
    this.#timer = undefined
    for (const partition of this.#dirty) this.#queue.add(partition)
    this.#dirty.clear()
    this.#workOn()
  }

  #workOn(): void {
    const free = Math.min(PARALLEL_FLUSHES - this.#running, this.#queue.size)
    for (let started = 0; started < free; started++) void this.#work()
  }

  /** A disk that stalls under one partition holds up this worker, not the next interval. */
  async #work(): Promise<void> {
    this.#running++
    for (const partition of this.#queue) {
      this.#queue.delete(partition)
      await this.#flush(partition)
    }
    this.#running--
  }

  async #flush(partition: Replica): Promise<void> {
    if (partition.unavailable) return
    try {
      await partition.log.flush()
    } catch (error) {
      if (partition.unavailable) return
      this.#failed(partition, error)
      // Not at once, whatever the topic asks for: a disk that fails would be asked over and over.
      this.#addDirty(partition)
    }
  }
}
