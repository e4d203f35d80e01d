/** Reads whole batches from a log, by offset; PartitionLog calls it, any number of reads at a time and beside appends. */
import { BatchCursor } from '../protocol/batches/batch-cursor.ts'
import { abortedTransactions } from './batch-lookup.ts'
import type { LogContents } from './log-contents.ts'
import { LogError } from './log-error.ts'
import type { Segment } from './segment.ts'
import { readSteadily } from './steady-read.ts'
import type { AbortedTransaction } from './transaction-index.ts'

export interface ReadRequest {
  readonly offset: number
  /** Bound of the answer; only a first batch with `minOneBatch` may pass it. */
  readonly maxBytes: number
  /** Batches that reach this offset are left out: high watermark, last stable offset or log end. */
  readonly maxOffset: number
  /** Answer the first batch even if it is larger than `maxBytes`. */
  readonly minOneBatch: boolean
  /** Also say what in the answer was aborted: both as of one moment, since the cleaner removes aborted records and what is known of them. */
  readonly withAborted?: boolean
  /** Where the memory of the answer comes from; default: fresh. */
  readonly allocate?: (bytes: number) => Buffer
}

export type ReadResult =
  | {
      readonly kind: 'batches'
      /** Whole batches; the first holds `offset` or, in a hole, follows it. Empty if there is none below `maxOffset`. */
      readonly records: Buffer
      /** Where the next read continues; `offset` itself if there was nothing. */
      readonly nextOffset: number
      /** Aborted transactions with records in it, if asked for. */
      readonly aborted?: readonly AbortedTransaction[]
    }
  | { readonly kind: 'offset-out-of-range'; readonly logStartOffset: number; readonly logEndOffset: number }

const NOTHING = Buffer.alloc(0)
/** Readers of one log whose place is remembered. */
const PLACES_MAX = 16
/** So much at the end of a log was probably written lately, and lies in the system's cache. */
const RECENT_BYTES = 1024 * 1024

/** Where the batch after a read lies, so that a sequential reader needs no lookup. */
interface Place {
  readonly segment: Segment
  readonly position: number
}

export class LogReader {
  readonly #contents: LogContents
  #places = new Map<number, Place>()
  #placesOfCut = 0

  constructor(contents: LogContents) {
    this.#contents = contents
  }

  async read(request: ReadRequest): Promise<ReadResult> {
    try {
      return await readSteadily(this.#contents, () => this.#readOnce(request))
    } catch (error) {
      const { name, logStartOffset, logEndOffset } = this.#contents
      // A segment can go while it is being read, because the log start passed it.
      if (request.offset < logStartOffset) return { kind: 'offset-out-of-range', logStartOffset, logEndOffset }
      throw new LogError('storage', `${name} cannot be read at offset ${request.offset}`, { cause: error })
    }
  }

  async #readOnce(request: ReadRequest): Promise<ReadResult> {
    const { logStartOffset, logEndOffset } = this.#contents
    if (request.offset < logStartOffset || request.offset > logEndOffset) {
      return { kind: 'offset-out-of-range', logStartOffset, logEndOffset }
    }
    const bound = Math.min(request.maxOffset, logEndOffset)
    const nothing: ReadResult = { kind: 'batches', records: NOTHING, nextOffset: request.offset }
    if (request.offset >= bound) return nothing
    const place = await this.#find(request.offset)
    if (!place) return nothing
    const bytes = await this.#readFrom(place, request)
    const cursor = new BatchCursor()
    let end = 0
    let nextOffset = request.offset
    while (end < bytes.length && cursor.moveTo(bytes, end) === 'whole' && cursor.lastOffset < bound) {
      end += cursor.sizeBytes
      nextOffset = cursor.lastOffset + 1
    }
    // A place that was found before a cut may lie anywhere now.
    if (end > 0 && this.#placesOfCut === this.#contents.cuts)
      this.#remember(nextOffset, { segment: place.segment, position: place.position + end })
    const found = { kind: 'batches', records: bytes.subarray(0, end), nextOffset } as const
    if (!request.withAborted || end === 0) return found
    return { ...found, aborted: await abortedTransactions(this.#contents, request.offset, nextOffset) }
  }

  async #find(offset: number): Promise<Place | undefined> {
    const segments = this.#contents.segments.all
    const known = this.#place(offset)
    if (known && known.position < known.segment.sizeBytes && segments.includes(known.segment)) return known
    for (let index = this.#contents.segments.indexFor(offset); index < segments.length; index++) {
      const segment = segments[index]
      const found = segment && (await segment.find(offset))
      if (found) return { segment, position: found.position }
    }
    return undefined
  }

  #place(offset: number): Place | undefined {
    if (this.#placesOfCut !== this.#contents.cuts) this.#places.clear()
    this.#placesOfCut = this.#contents.cuts
    return this.#places.get(offset)
  }

  #remember(offset: number, place: Place): void {
    this.#places.delete(offset)
    this.#places.set(offset, place)
    const oldest = this.#places.keys().next()
    if (this.#places.size > PLACES_MAX && !oldest.done) this.#places.delete(oldest.value)
  }

  /** At most `maxBytes`, but a whole first batch if that is asked for. */
  async #readFrom({ segment, position }: Place, request: ReadRequest): Promise<Buffer> {
    const { allocate = Buffer.allocUnsafe, maxBytes, minOneBatch } = request
    const available = segment.sizeBytes - position
    const isRecent = available <= RECENT_BYTES && segment === this.#contents.segments.active
    const readExactly = async (length: number, memory = allocate) => {
      const bytes = memory(length)
      const count = await segment.file.read(bytes, position, isRecent ? 'cached' : undefined)
      return count === length ? bytes : bytes.subarray(0, count)
    }
    const bytes = await readExactly(Math.min(maxBytes, available))
    if (!minOneBatch) return bytes
    const cursor = new BatchCursor()
    const state = cursor.moveTo(bytes, 0)
    if (state === 'whole') return bytes
    const header = state === 'short' ? await readExactly(Math.min(1024, available), Buffer.allocUnsafe) : bytes
    cursor.moveTo(header, 0)
    const whole = cursor.sizeBytes <= header.length
    return whole ? header.subarray(0, cursor.sizeBytes) : readExactly(cursor.sizeBytes)
  }
}
