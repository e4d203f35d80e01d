/** Bounds the memory that loaded indexes take over all logs of a node; entry files register here what they load. */

/** Something whose loaded bytes can be dropped and read again. */
export interface Evictable {
  evict(): void
}

/** Enough for the indexes of 256 GiB of log at Kafka's default interval. */
const LOADED_BYTES_MAX = 512 * 1024 * 1024

export class IndexCache {
  readonly #bytesMax: number
  readonly #loaded = new Map<Evictable, number>()
  #bytes = 0

  constructor(bytesMax = LOADED_BYTES_MAX) {
    this.#bytesMax = bytesMax
  }

  get loadedBytes(): number {
    return this.#bytes
  }

  /** Marks `owner` as just used with `bytes` loaded; the least recently used others are evicted while the sum is too large. */
  use(owner: Evictable, bytes: number): void {
    this.forget(owner)
    this.#loaded.set(owner, bytes)
    this.#bytes += bytes
    for (const other of this.#loaded.keys()) {
      if (this.#bytes <= this.#bytesMax || other === owner) return
      this.forget(other)
      other.evict()
    }
  }

  forget(owner: Evictable): void {
    this.#bytes -= this.#loaded.get(owner) ?? 0
    this.#loaded.delete(owner)
  }
}
