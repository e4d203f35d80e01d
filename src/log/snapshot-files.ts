/** The producer state snapshots of one log directory: which there are, and their saving, loading and removal. */
import { segmentFileName } from './file-names.ts'
import { type FileSystem, saveFile } from './file-system.ts'

/** A snapshot is named by the log end offset at which it was taken. Those taken at a roll are written with the next flush. */
export class SnapshotFiles {
  readonly #fs: FileSystem
  readonly #directory: string
  readonly #saved: Set<number>
  readonly #pending = new Map<number, Buffer>()

  constructor(fs: FileSystem, directory: string, offsets: Iterable<number>) {
    this.#fs = fs
    this.#directory = directory
    this.#saved = new Set(offsets)
  }

  has(offset: number): boolean {
    return this.#saved.has(offset) || this.#pending.has(offset)
  }

  /** Keeps a snapshot in memory until `save`. */
  take(offset: number, snapshot: Buffer): void {
    this.#pending.set(offset, snapshot)
  }

  /** Offsets of the kept snapshots. */
  get pending(): number[] {
    return [...this.#pending.keys()]
  }

  /** Makes one kept snapshot durable. Everything below it in the log must be so already: recovery relies on that. */
  async save(offset: number): Promise<void> {
    const snapshot = this.#pending.get(offset)
    if (!snapshot) return
    // Before the attempt: one that fails late may have left the file.
    this.#saved.add(offset)
    await saveFile(this.#fs, this.#path(offset), snapshot)
    this.#pending.delete(offset)
  }

  /** Offset of the newest snapshot at or below `offset`, undefined if there is none. */
  latestOffset(offset: number): number | undefined {
    const found = Math.max(-1, ...[...this.#saved, ...this.#pending.keys()].filter(candidate => candidate <= offset))
    return found < 0 ? undefined : found
  }

  /** The newest snapshot at or below `offset`, undefined if there is none. */
  async latestAtOrBelow(offset: number): Promise<{ offset: number; bytes: Buffer } | undefined> {
    const found = this.latestOffset(offset)
    if (found === undefined) return undefined
    return { offset: found, bytes: this.#pending.get(found) ?? (await this.#fs.readFile(this.#path(found))) }
  }

  /** Removes the snapshots for which `condemned` says so. */
  async removeWhere(condemned: (offset: number) => boolean): Promise<void> {
    for (const offset of this.#pending.keys()) if (condemned(offset)) this.#pending.delete(offset)
    for (const offset of this.#saved) {
      if (!condemned(offset)) continue
      await this.#fs.remove(this.#path(offset))
      this.#saved.delete(offset)
    }
  }

  #path(offset: number): string {
    return `${this.#directory}/${segmentFileName(offset, 'snapshot')}`
  }
}
