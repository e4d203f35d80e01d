/** One end of a comparison, read batch by batch in chunks; used by compare-partition. */
import type { BatchHeader } from '../../protocol/batches/batch-header.ts'
import { batchesIn, bytesOfBatch } from '../../protocol/batches/batch-iteration.ts'

export interface ReadableEnd {
  /**
   * Whole batches, from the one that holds `offset`, or the next behind it, on; empty = there is nothing more. Rejects with
   * OffsetsGone where the log starts above `offset` by now.
   */
  read(offset: number): Promise<Buffer>
}

/** The log does not reach down to an offset any more. */
export class OffsetsGone extends Error {
  readonly logStartOffset: number

  constructor(logStartOffset: number) {
    super(`the log starts at offset ${logStartOffset} by now`)
    this.name = 'OffsetsGone'
    this.logStartOffset = logStartOffset
  }
}

/** One batch with the buffer that holds it. */
export interface ReadBatch {
  readonly header: BatchHeader
  readonly buffer: Buffer
}

export const batchBytes = ({ header, buffer }: ReadBatch): Buffer => bytesOfBatch(buffer, header)

export class BatchReader {
  readonly #end: ReadableEnd
  #buffer: Buffer = Buffer.alloc(0)
  #batches: BatchHeader[] = []
  #index = 0
  #position: number
  #ended = false

  constructor(end: ReadableEnd, from: number) {
    this.#end = end
    this.#position = from
  }

  /** The next batch that begins below `below`, without taking it; undefined = there is none. Throws BatchError. */
  async peek(below: number): Promise<ReadBatch | undefined> {
    for (;;) {
      const header = this.#batches[this.#index]
      if (header && header.lastOffset < this.#position) this.#index++
      else if (header) return header.baseOffset < below ? { header, buffer: this.#buffer } : undefined
      else if (this.#ended || this.#position >= below) return undefined
      else await this.#readMore()
    }
  }

  /** Goes on behind `offset` and forgets nothing that was read. */
  skipTo(offset: number): void {
    this.#position = Math.max(this.#position, offset)
  }

  /** Reads anew from `offset` on. */
  reset(offset: number): void {
    this.#batches = []
    this.#index = 0
    this.#position = offset
    this.#ended = false
  }

  async #readMore(): Promise<void> {
    this.#buffer = await this.#end.read(this.#position)
    this.#batches = [...batchesIn(this.#buffer)]
    this.#index = 0
    this.#ended = this.#batches.length === 0
  }
}
