/** Memory of large frames, used again and again: copying for hours then allocates next to nothing. The sources of a node share one. */
import type { Clock, Timer } from '../core/clock.ts'

/** Smaller frames are not worth it. */
const POOLED_BYTES_MIN = 64 * 1024
/** Memory that nobody needed for this long is given back to the system. */
const IDLE_MS = 10_000

interface Idle {
  readonly memory: ArrayBuffer
  /** Nobody took it since the last look. */
  stale: boolean
}

export class FrameBuffers {
  readonly #idleBytesMax: number
  readonly #clock: Clock
  /** By size, a power of two; the one that was used last is taken first: it is most likely in the processor's cache. */
  readonly #idle = new Map<number, Idle[]>()
  #idleBytes = 0
  /** Handed out and not given back. */
  readonly #taken = new WeakSet<ArrayBufferLike>()
  #timer: Timer | undefined

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
    const capacity = 2 ** Math.ceil(Math.log2(sizeBytes))
    const memory = this.#idle.get(capacity)?.pop()?.memory
    if (memory) this.#idleBytes -= capacity
    const buffer = memory ? Buffer.from(memory, 0, sizeBytes) : Buffer.allocUnsafeSlow(capacity).subarray(0, sizeBytes)
    this.#taken.add(buffer.buffer)
    return buffer
  }

  /** Takes back what `take` gave, by any view of it. Nobody may read or write it any more. Does nothing with other buffers. */
  give(view: Buffer): void {
    const memory = view.buffer
    if (!this.#taken.delete(memory) || !(memory instanceof ArrayBuffer)) return
    const capacity = memory.byteLength
    if (this.#idleBytes + capacity > this.#idleBytesMax) return
    const idle = this.#idle.get(capacity) ?? []
    idle.push({ memory, stale: false })
    this.#idle.set(capacity, idle)
    this.#idleBytes += capacity
    this.#timer ??= this.#clock.after(IDLE_MS, () => this.#dropStale())
  }

  #dropStale(): void {
    this.#timer = undefined
    for (const [capacity, idle] of this.#idle) {
      const kept = idle.filter(entry => !entry.stale)
      this.#idleBytes -= (idle.length - kept.length) * capacity
      for (const entry of kept) entry.stale = true
      this.#idle.set(capacity, kept)
    }
    if (this.#idleBytes > 0) this.#timer = this.#clock.after(IDLE_MS, () => this.#dropStale())
  }
}
