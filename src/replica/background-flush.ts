/** Flushes what nobody waits for (mirrored bytes, acks=0) after a while; ReplicaSet owns the one of the node. */
import type { Clock, Timer } from '../core/clock.ts'
import { forEachBounded } from './bounded-work.ts'
import type { Partition } from './partition.ts'

/** Logs flushed at the same time: more would only make the disk slower for those who wait. */
const PARALLEL_FLUSHES = 4

export class BackgroundFlush {
  readonly #intervalMs: number
  readonly #clock: Clock
  readonly #failed: (partition: Partition, error: unknown) => void
  #dirty = new Set<Partition>()
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
    this.#timer ??= this.#clock.after(this.#intervalMs, () => void this.#run())
  }

  /** Whoever closes the logs flushes them. */
  close(): void {
    this.#closed = true
    this.#timer?.cancel()
    this.#dirty.clear()
  }

  async #run(): Promise<void> {
    const dirty = this.#dirty
    this.#dirty = new Set()
    const failed: Partition[] = []
    await forEachBounded(dirty, PARALLEL_FLUSHES, async partition => {
      if (partition.unavailable) return
      try {
        await partition.log.flush()
      } catch (error) {
        if (partition.unavailable) return
        this.#failed(partition, error)
        failed.push(partition)
      }
    })
    this.#timer = undefined
    for (const partition of [...failed, ...this.#dirty]) this.add(partition)
  }
}
