/** The three indexes of one segment as a group: opened, cut, rebuilt, made durable and removed together; owned by Segment. */
import { EntryFile, type EntryFilePlace } from './entry-file.ts'
import { segmentFileName } from './file-names.ts'
import type { FileSystem } from './file-system.ts'
import type { IndexCache } from './index-cache.ts'
import type { LogConfig } from './log-config.ts'
import { OFFSET_ENTRY_BYTES, OffsetIndex } from './offset-index.ts'
import { TIME_ENTRY_BYTES, TimeIndex } from './time-index.ts'
import { TRANSACTION_ENTRY_BYTES, TransactionIndex } from './transaction-index.ts'

/** Where a segment's files are. */
export interface SegmentPlace {
  readonly fs: FileSystem
  readonly directory: string
  readonly baseOffset: number
  readonly cache: IndexCache
  /** Behind the names of the files, while the segment is not in a log. */
  readonly suffix?: string
  /** Known to have no transaction index: the system need not be asked when it is opened. */
  readonly noTransactions?: boolean
  /** What the files hold already is on disk: after a clean stop. */
  readonly durable?: boolean
}

/** Unsaved entries are written out beyond this. */
const UNSAVED_BYTES_MAX = 4096

export class SegmentIndexes {
  readonly offsets: OffsetIndex
  readonly times: TimeIndex
  /** Its file comes into being with the first aborted transaction. */
  readonly transactions: TransactionIndex
  readonly #files: readonly EntryFile[]

  private constructor(baseOffset: number, files: { offsets: EntryFile; times: EntryFile; transactions: EntryFile }) {
    this.offsets = new OffsetIndex(files.offsets, baseOffset)
    this.times = new TimeIndex(files.times, baseOffset)
    this.transactions = new TransactionIndex(files.transactions)
    this.#files = [files.offsets, files.times, files.transactions]
  }

  /** Empty indexes; existing files are emptied or removed. */
  static async create(place: SegmentPlace): Promise<SegmentIndexes> {
    const places = placesOf(place)
    await place.fs.remove(places.transactions.path)
    const offsets = EntryFile.empty(places.offsets)
    const times = EntryFile.empty(places.times)
    await offsets.createFile()
    await times.createFile()
    return new SegmentIndexes(place.baseOffset, { offsets, times, transactions: EntryFile.empty(places.transactions) })
  }

  /** `usable` is false if a file is missing or has a torn entry: then all must be rebuilt. */
  static async open(place: SegmentPlace): Promise<{ indexes: SegmentIndexes; usable: boolean }> {
    const places = placesOf(place)
    const [offsets, times, transactions] = await Promise.all([
      EntryFile.open(places.offsets),
      EntryFile.open(places.times),
      openUnless(place.noTransactions, places.transactions),
    ])
    const files = { offsets: offsets.entries, times: times.entries, transactions: transactions.entries }
    // Without an aborted transaction there is no transaction index.
    const usable = offsets.state === 'good' && times.state === 'good' && transactions.state !== 'torn'
    return { indexes: new SegmentIndexes(place.baseOffset, files), usable }
  }

  /** `segment.index.bytes` is reached; the time index keeps room for its last entry. */
  isFull(config: LogConfig): boolean {
    const offsets = Math.floor(config.segmentIndexBytes / OFFSET_ENTRY_BYTES)
    const times = Math.floor(config.segmentIndexBytes / TIME_ENTRY_BYTES)
    return this.offsets.entries.count >= offsets || this.times.entries.count >= times - 1
  }

  get mustSpill(): boolean {
    return this.#files.some(file => file.unsavedBytes >= UNSAVED_BYTES_MAX)
  }

  /** Writes out entries once there are many; a full disk is no error here, they stay in memory. */
  async spill(): Promise<void> {
    for (const file of this.#files) if (file.unsavedBytes >= UNSAVED_BYTES_MAX) await file.save().catch(() => {})
  }

  /** Drops what points at or above `offset`. */
  async truncateTo(offset: number): Promise<void> {
    await this.offsets.truncateTo(offset)
    await this.times.truncateTo(offset)
    await this.transactions.truncateTo(offset)
  }

  /** Empties all three, whatever was there. */
  async reset(): Promise<void> {
    await this.offsets.entries.reset({ create: true })
    await this.times.reset()
    await this.transactions.entries.reset({ create: false })
  }

  /** Writes all entries to the files. */
  async save(): Promise<void> {
    for (const file of this.#files) await file.save()
  }

  /** Saves, and waits until the files are durable. */
  async sync(): Promise<void> {
    for (const file of this.#files) await file.sync()
  }

  async close(): Promise<void> {
    for (const file of this.#files) await file.close()
  }

  async remove(): Promise<void> {
    for (const file of this.#files) await file.remove()
  }
}

function openUnless(isMissing: boolean | undefined, place: EntryFilePlace): ReturnType<typeof EntryFile.open> {
  return isMissing ? Promise.resolve({ entries: EntryFile.empty(place), state: 'missing' }) : EntryFile.open(place)
}

function placesOf(place: SegmentPlace): Record<'offsets' | 'times' | 'transactions', EntryFilePlace> {
  const of = (kind: 'index' | 'timeindex' | 'txnindex', entryBytes: number): EntryFilePlace => ({
    fs: place.fs,
    cache: place.cache,
    path: `${place.directory}/${segmentFileName(place.baseOffset, kind)}${place.suffix ?? ''}`,
    entryBytes,
    durable: place.durable ?? false,
  })
  return {
    offsets: of('index', OFFSET_ENTRY_BYTES),
    times: of('timeindex', TIME_ENTRY_BYTES),
    transactions: of('txnindex', TRANSACTION_ENTRY_BYTES),
  }
}
