/** A file of fixed-size entries that only grows or is cut: what the offset, time and transaction indexes are made of. */
import type { FileSystem, LogFile } from './file-system.ts'
import type { Evictable, IndexCache } from './index-cache.ts'

const EMPTY = Buffer.alloc(0)

/** Where an entry file lives and how large its entries are. */
export interface EntryFilePlace {
  readonly fs: FileSystem
  readonly path: string
  readonly entryBytes: number
  readonly cache: IndexCache
  /** What the file holds already is on disk; else an earlier process may have left it to the system. */
  readonly durable: boolean
}

/**
 * Entries in memory until `save`, then in the file; saved ones are loaded when a lookup needs them and may be evicted.
 * Losing unsaved entries in a crash is fine: recovery rebuilds the indexes of every segment that was not flushed.
 */
export class EntryFile implements Evictable {
  readonly #place: EntryFilePlace
  readonly #file: LogFile
  /** Entries in the file. */
  #saved: number
  /** Saved entries, when loaded. */
  #head: Buffer | undefined
  /** Entries behind them that are not in the file yet. */
  #tail: Buffer = EMPTY
  #tailBytes = 0
  #exists: boolean
  /** Something was written since the last sync. */
  #dirty: boolean
  /** The file may be longer than what counts as saved, after a failed write or cut. */
  #torn = false

  private constructor(place: EntryFilePlace, saved: number, exists: boolean) {
    this.#place = place
    this.#file = place.fs.file(place.path)
    this.#saved = saved
    this.#exists = exists
    this.#dirty = exists && !place.durable
  }

  /** Opens what is there: `torn` if the size is not a multiple of the entry size, and then there are no entries. */
  static async open(place: EntryFilePlace): Promise<{ entries: EntryFile; state: 'good' | 'missing' | 'torn' }> {
    const size = await place.fs.sizeOf(place.path)
    if (size === undefined) return { entries: EntryFile.empty(place), state: 'missing' }
    const torn = size % place.entryBytes !== 0
    const entries = new EntryFile(place, torn ? 0 : size / place.entryBytes, true)
    entries.#torn = torn
    return { entries, state: torn ? 'torn' : 'good' }
  }

  /** Starts empty; the file comes into being with `createFile` or the first save. */
  static empty(place: EntryFilePlace): EntryFile {
    return new EntryFile(place, 0, false)
  }

  get path(): string {
    return this.#place.path
  }

  get count(): number {
    return this.#saved + this.#tailBytes / this.#place.entryBytes
  }

  /** Bytes of all entries. */
  get bytes(): number {
    return this.count * this.#place.entryBytes
  }

  /** Bytes that a crash would lose. */
  get unsavedBytes(): number {
    return this.#tailBytes
  }

  /** Creates or empties the file. */
  async createFile(): Promise<void> {
    await (await this.#place.fs.create(this.#place.path)).close()
    this.#exists = true
    this.#dirty = true
  }

  /**
   * Starts over with no entries, whatever the file holds: it is emptied by the next save. It exists afterwards if `create`, or
   * if it did.
   */
  async reset(options: { create: boolean }): Promise<void> {
    this.evict()
    this.#tailBytes = 0
    if (this.#exists) this.#torn ||= this.#saved > 0
    else if (options.create) await this.createFile()
    this.#saved = 0
  }

  /** Makes room for one more entry: write it at the returned position of the returned buffer. */
  append(): { buffer: Buffer; at: number } {
    const at = this.#tailBytes
    if (at + this.#place.entryBytes > this.#tail.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.#tail.length * 2, this.#place.entryBytes * 8))
      this.#tail.copy(larger, 0, 0, at)
      this.#tail = larger
    }
    this.#tailBytes += this.#place.entryBytes
    return { buffer: this.#tail, at }
  }

  /** The newest entries that are still unsaved; lookups near the log end need nothing else. */
  unsaved(): Buffer {
    return this.#tail.subarray(0, this.#tailBytes)
  }

  /** All saved entries; they come before the unsaved ones. */
  async saved(): Promise<Buffer> {
    if (this.#saved === 0) return EMPTY
    const bytes = this.#saved * this.#place.entryBytes
    if (this.#head === undefined || this.#head.length < bytes) {
      const loaded = Buffer.allocUnsafe(bytes)
      const read = await this.#file.read(loaded, 0)
      if (read < bytes) throw new Error(`${this.path} has ${read} bytes, not ${bytes}`)
      this.#head = loaded
    }
    const head = this.#head
    this.#place.cache.use(this, head.length)
    // A truncation can have happened while loading.
    return head.subarray(0, this.#saved * this.#place.entryBytes)
  }

  /** Saved and unsaved entries of one moment: a save may run beside. */
  async all(): Promise<{ saved: Buffer; unsaved: Buffer }> {
    for (;;) {
      const saved = await this.saved()
      if (saved.length === this.#saved * this.#place.entryBytes) return { saved, unsaved: this.unsaved() }
    }
  }

  /** The newest entry. */
  async last(): Promise<Buffer | undefined> {
    const { entryBytes } = this.#place
    if (this.#tailBytes > 0) return this.#tail.subarray(this.#tailBytes - entryBytes, this.#tailBytes)
    if (this.#saved === 0) return undefined
    const entry = Buffer.allocUnsafe(entryBytes)
    await this.#file.read(entry, (this.#saved - 1) * entryBytes)
    return entry
  }

  /** Keeps the first `count` entries. */
  async truncate(count: number): Promise<void> {
    const { entryBytes } = this.#place
    if (count >= this.#saved) {
      this.#tailBytes = Math.min(this.#tailBytes, (count - this.#saved) * entryBytes)
      return
    }
    this.evict()
    this.#tailBytes = 0
    this.#saved = count
    this.#torn = true
    await this.#cutTorn()
  }

  /** Writes the unsaved entries to the file. On failure they stay unsaved. One call at a time. */
  async save(): Promise<void> {
    await this.#cutTorn()
    const bytes = this.#tailBytes
    if (bytes === 0) return
    const { entryBytes } = this.#place
    if (!this.#exists) await this.createFile()
    const entries = Buffer.from(this.#tail.subarray(0, bytes))
    this.#torn = true
    this.#dirty = true
    await this.#file.write([entries], this.#saved * entryBytes)
    this.#torn = false
    if (this.#head !== undefined && this.#head.length === this.#saved * entryBytes) {
      this.#head = Buffer.concat([this.#head, entries])
      this.#place.cache.use(this, this.#head.length)
    }
    // Entries may have been appended meanwhile.
    this.#tail = Buffer.from(this.#tail.subarray(bytes, this.#tailBytes))
    this.#tailBytes -= bytes
    this.#saved += bytes / entryBytes
  }

  /** Saves, then waits until the file is durable. A file that never had an entry may not exist. */
  async sync(): Promise<void> {
    await this.save()
    if (!this.#dirty) return
    await this.#file.sync()
    this.#dirty = false
  }

  async #cutTorn(): Promise<void> {
    if (!this.#torn) return
    this.#dirty = true
    await this.#file.truncate(this.#saved * this.#place.entryBytes)
    this.#torn = false
  }

  evict(): void {
    this.#place.cache.forget(this)
    this.#head = undefined
  }

  async close(): Promise<void> {
    this.evict()
    await this.#file.close()
  }

  async remove(): Promise<void> {
    await this.close()
    if (this.#exists) await this.#place.fs.remove(this.#place.path)
  }
}
