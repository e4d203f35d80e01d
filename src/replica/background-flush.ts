/** Flushes what nobody waits for (mirrored bytes, acks=0) after a while; ReplicaSet owns the one of the node. */
import type { Clock, Timer } from '../core/clock.ts'
import type { Partition } from './partition.ts'

/** Logs flushed at the same time; each holds one of the few threads that the process has for files, and others wait for those. */
const PARALLEL_FLUSHES = 2

export class BackgroundFlush {
  readonly #intervalMs: number
  readonly #clock: Clock
  readonly #failed: (partition: Partition, error: unknown) => void
  readonly #dirty = new Set<Partition>()
  /** Due, and not taken up yet. */
  readonly #queue = new Set<Partition>()
  #running = 0
  #timer: Timer | undefined
  #closed = false

  constructor(options: { intervalMs: number; clock: Clock; failed: (partition: Partition, error: unknown) => void }) {
    this.#intervalMs = options.intervalMs
    this.#clock = options.clock
    this.#failed = options.failed
  }

  /** The partition is flushed within about one interval. A failed flush is reported and tried again. */
  add(partition: Partition): void {
    if (this.#closed) return
    this.#dirty.add(partition)
    this.#timer ??= this.#clock.after(this.#intervalMs, () => this.#flushDirty())
  }

  /** Whoever closes the logs flushes them. */
  close(): void {
    this.#closed = true
    this.#timer?.cancel()
    this.#dirty.clear()
    this.#queue.clear()
  }

  #flushDirty(): void {
    this.#timer = undefined
    for (const partition of this.#dirty) this.#queue.add(partition)
    this.#dirty.clear()
    for (let free = PARALLEL_FLUSHES - this.#running; free > 0 && this.#queue.size > 0; free--) void this.#work()
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

  async #flush(partition: Partition): Promise<void> {
    if (partition.unavailable) return
    try {
      await partition.log.flush()
    } catch (error) {
      if (partition.unavailable) return
      this.#failed(partition, error)
      this.add(partition)
    }
  }
}
