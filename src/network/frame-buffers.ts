/**
 * Memory of large frames, used again and again: copying for hours then allocates next to nothing. The sources of a node share
 * one, the answers of its broker another.
 */
import type { Clock, Timer } from '../core/clock.ts'

/** Smaller frames are not worth it. */
export const POOLED_BYTES_MIN = 64 * 1024
/** Memory that nobody needed for so long is given back to the system. */
const IDLE_MS = 10_000
/** A frame may waste so much of its memory: the sizes of answers vary, and fresh memory is expensive. */
const CAPACITY_FACTOR_MAX = 2
/** New memory is larger than its first frame by up to one part in so many. */
const STEPS_PER_DOUBLING = 8

interface Idle {
  readonly memory: ArrayBuffer
  /** Nobody took it since the last look. */
  stale: boolean
}

export class FrameBuffers {
  readonly #idleBytesMax: number
  readonly #clock: Clock
  /** The one that was used last is at the end, and taken first: it is most likely in the processor's cache. */
  #idle: Idle[] = []
  #idleBytes = 0
  /** Handed out and not given back. */
  readonly #taken = new WeakSet<ArrayBufferLike>()
  #timer: Timer | undefined

  /** `idleBytesMax` bounds what is kept for later, beside what is in use; of more, the oldest goes. */
  constructor(options: { readonly idleBytesMax: number; readonly clock: Clock }) {
    this.#idleBytesMax = options.idleBytesMax
    this.#clock = options.clock
  }

  /** Memory held for later. */
  get idleBytes(): number {
    return this.#idleBytes
  }

  /** Exactly so long, with anything in it. What is never given back is collected like other garbage. */
  take(sizeBytes: number): Buffer {
    if (sizeBytes < POOLED_BYTES_MIN) return Buffer.allocUnsafeSlow(sizeBytes)
    const index = this.#idle.findLastIndex(
      ({ memory: { byteLength } }) => byteLength >= sizeBytes && byteLength <= sizeBytes * CAPACITY_FACTOR_MAX,
    )
    const [found] = index < 0 ? [] : this.#idle.splice(index, 1)
    if (found) this.#idleBytes -= found.memory.byteLength
    const memory = found?.memory ?? Buffer.allocUnsafeSlow(capacityFor(sizeBytes)).buffer
    this.#taken.add(memory)
    return Buffer.from(memory, 0, sizeBytes)
  }

  /** Takes back what `take` gave, by any view of it. Nobody may read or write it any more. Does nothing with other buffers. */
  give(view: Buffer): void {
    const memory = view.buffer
    if (!this.#taken.delete(memory) || !(memory instanceof ArrayBuffer)) return
    this.#idle.push({ memory, stale: false })
    this.#idleBytes += memory.byteLength
    while (this.#idleBytes > this.#idleBytesMax) this.#drop(this.#idle.shift())
    this.#timer ??= this.#clock.after(IDLE_MS, () => this.#dropStale())
  }

  #dropStale(): void {
    for (const entry of this.#idle) if (entry.stale) this.#drop(entry)
    this.#idle = this.#idle.filter(entry => !entry.stale)
    for (const entry of this.#idle) entry.stale = true
    this.#timer = this.#idle.length > 0 ? this.#clock.after(IDLE_MS, () => this.#dropStale()) : undefined
  }

  #drop(entry: Idle | undefined): void {
    this.#idleBytes -= entry?.memory.byteLength ?? 0
  }
}

function capacityFor(sizeBytes: number): number {
  const step = 2 ** Math.floor(Math.log2(sizeBytes)) / STEPS_PER_DOUBLING
  return Math.ceil(sizeBytes / step) * step
}
