/** Which leader epoch began at which offset (`leader-epoch-checkpoint`): Kafka's LeaderEpochFileCache; owned by PartitionLog. */
import assert from 'node:assert/strict'
import { formatCheckpoint, parseCheckpoint } from './checkpoint-file.ts'
import { type FileSystem, loadText, saveFile } from './file-system.ts'

export interface EpochEntry {
  readonly epoch: number
  /** Offset of the first batch of this epoch. */
  readonly startOffset: number
}

/** Answer to "where does this epoch end?"; both -1 if the log does not know. */
export interface EpochEnd {
  readonly epoch: number
  readonly endOffset: number
}

/** Epochs and start offsets both strictly ascend. Changes are in memory until `save`. */
export class LeaderEpochs {
  readonly #fs: FileSystem
  readonly #path: string
  #entries: EpochEntry[]
  #dirty = false

  private constructor(fs: FileSystem, path: string, entries: EpochEntry[]) {
    this.#fs = fs
    this.#path = path
    this.#entries = entries
  }

  /** A file that is missing or damaged counts as empty: recovery finds the epochs in the batches. */
  static async load(fs: FileSystem, path: string): Promise<LeaderEpochs> {
    const entries = parseCheckpoint((await loadText(fs, path)) ?? '', 2)?.map(([epoch, start]) => ({
      epoch: Number(epoch),
      startOffset: Number(start),
    }))
    const valid = entries?.every((entry, index) => {
      const before = entries[index - 1]
      const whole = Number.isSafeInteger(entry.epoch) && Number.isSafeInteger(entry.startOffset)
      return whole && (!before || (before.epoch < entry.epoch && before.startOffset < entry.startOffset))
    })
    return new LeaderEpochs(fs, path, valid && entries ? entries : [])
  }

  get entries(): readonly EpochEntry[] {
    return this.#entries
  }

  get latest(): EpochEntry | undefined {
    return this.#entries.at(-1)
  }

  /** Records that `epoch` begins at `startOffset`. Entries that contradict it, at the end of the list, go. */
  assign(epoch: number, startOffset: number): void {
    assert(epoch >= 0 && startOffset >= 0, `epoch ${epoch} cannot start at ${startOffset}`)
    const latest = this.latest
    if (latest && latest.epoch === epoch && latest.startOffset <= startOffset) return
    this.#entries = this.#entries.filter(entry => entry.epoch < epoch && entry.startOffset < startOffset)
    this.#entries.push({ epoch, startOffset })
    this.#dirty = true
  }

  /** Takes in what batches below the first entry say; `found` ascends strictly. */
  addBefore(found: readonly EpochEntry[]): void {
    const [first, ...later] = this.#entries
    const entries = [...found]
    if (first && entries.at(-1)?.epoch !== first.epoch) entries.push(first)
    this.#entries = [...entries, ...later]
    this.#dirty = true
  }

  /** Forgets later epochs that claim to start at or below `offset`, where a batch of `epoch` lies. */
  dropClaims(epoch: number, offset: number): void {
    if ((this.epochAt(offset) ?? -1) <= epoch) return
    this.#entries = this.#entries.filter(entry => entry.epoch <= epoch || entry.startOffset > offset)
    this.#dirty = true
  }

  /** Forgets epochs that start at or above `endOffset`. */
  truncateFromEnd(endOffset: number): void {
    const latest = this.latest
    if (!latest || latest.startOffset < endOffset) return
    this.#entries = this.#entries.filter(entry => entry.startOffset < endOffset)
    this.#dirty = true
  }

  /** Forgets epochs that end at or below `startOffset`; the epoch that holds it then begins there. */
  truncateFromStart(startOffset: number): void {
    const later = this.#entries.filter(entry => entry.startOffset > startOffset)
    const holder = this.#entries[this.#entries.length - later.length - 1]
    if (!holder || (holder === this.#entries[0] && holder.startOffset === startOffset)) return
    this.#entries = [{ epoch: holder.epoch, startOffset }, ...later]
    this.#dirty = true
  }

  clear(): void {
    this.#dirty ||= this.#entries.length > 0
    this.#entries = []
  }

  /** The largest epoch at or below the requested one, and where it ends; `logEndOffset` is the end of the newest one. */
  endOffsetFor(requested: number, logEndOffset: number): EpochEnd {
    if (requested < 0) return { epoch: -1, endOffset: -1 }
    if (this.latest?.epoch === requested) return { epoch: requested, endOffset: logEndOffset }
    const higher = this.#entries.findIndex(entry => entry.epoch > requested)
    const next = this.#entries[higher]
    if (!next) return { epoch: -1, endOffset: -1 }
    const floor = this.#entries[higher - 1]
    // Below the first known epoch the data is gone: answering its start lets a follower continue from there.
    return { epoch: floor?.epoch ?? requested, endOffset: next.startOffset }
  }

  /** The epoch that the record at `offset` was written in. */
  epochAt(offset: number): number | undefined {
    return this.#entries.findLast(entry => entry.startOffset <= offset)?.epoch
  }

  /** Nothing changed since the last save. */
  get isSaved(): boolean {
    return !this.#dirty
  }

  /** Makes the changes since the last save durable. */
  async save(): Promise<void> {
    if (!this.#dirty) return
    const lines = this.#entries.map(entry => `${entry.epoch} ${entry.startOffset}`)
    this.#dirty = false
    try {
      await saveFile(this.#fs, this.#path, formatCheckpoint(lines))
    } catch (error) {
      this.#dirty = true
      throw error
    }
  }
}
