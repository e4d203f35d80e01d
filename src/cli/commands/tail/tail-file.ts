/** A file of whole record batches, as restores export what they cut off, and segments of logs are: read batch by batch, never as a whole. Used by `lockstep tail read`. */
import { type FileHandle, open } from 'node:fs/promises'
import { type BatchHeader, isControl, readBatchHeader } from '../../../protocol/batches/batch-header.ts'
import { decodeControlRecord } from '../../../protocol/batches/control-batch.ts'
import { verifyBatch } from '../../../protocol/batches/verify-batch.ts'

/** A batch that says it is larger is damaged: Kafka's requests are not. */
const batchBytesMax = 1024 * 1024 * 1024

const headerBytes = 61

/** What became of a transaction, as far as the file tells. */
export type TransactionEnd = 'committed' | 'aborted' | 'open'

export class TailFile {
  readonly path: string
  readonly #file: FileHandle
  /** By producer id: where its transactions end, ascending. */
  readonly #ends = new Map<bigint, { readonly offset: number; readonly end: TransactionEnd }[]>()
  readonly #headers: BatchHeader[] = []

  private constructor(path: string, file: FileHandle) {
    this.path = path
    this.#file = file
  }

  /** Reads headers and markers. Rejects with a sentence where the file holds anything but whole batches. */
  static async open(path: string): Promise<TailFile> {
    const file = await open(path)
    try {
      const tail = new TailFile(path, file)
      await tail.#index()
      return tail
    } catch (error) {
      await file.close()
      throw error
    }
  }

  /** Every batch, markers included; positions are those in the file. */
  get batches(): readonly BatchHeader[] {
    return this.#headers
  }

  /** undefined = not part of a transaction. Of one whose marker is not in the file: open. */
  endOf({ producerId, lastOffset }: Pick<BatchHeader, 'producerId' | 'lastOffset'>): TransactionEnd {
    return this.#ends.get(producerId)?.find(({ offset }) => offset > lastOffset)?.end ?? 'open'
  }

  /** The bytes of one batch, whose CRC is right, and its header in them. */
  async read({ position, sizeBytes }: BatchHeader): Promise<{ bytes: Buffer; header: BatchHeader }> {
    const bytes = await this.#bytes(position, sizeBytes)
    const header = readBatchHeader(bytes, 0)
    verifyBatch(bytes, header)
    return { bytes, header }
  }

  async close(): Promise<void> {
    await this.#file.close()
  }

  async #index(): Promise<void> {
    const { size } = await this.#file.stat()
    for (let position = 0; position < size; ) {
      const header = { ...readBatchHeader(await this.#bytes(position, headerBytes), 0), position }
      if (header.sizeBytes > batchBytesMax || position + header.sizeBytes > size)
        throw new Error(`${this.path}: the batch at byte ${position} says it has ${header.sizeBytes} bytes`)
      this.#headers.push(header)
      if (isControl(header)) await this.#noteMarker(header)
      position += header.sizeBytes
    }
  }

  async #noteMarker(found: BatchHeader): Promise<void> {
    const { bytes, header } = await this.read(found)
    const type = decodeControlRecord(bytes, header)?.type
    if (type !== 'commit' && type !== 'abort') return
    const ends = this.#ends.get(found.producerId) ?? []
    ends.push({ offset: found.baseOffset, end: type === 'commit' ? 'committed' : 'aborted' })
    this.#ends.set(found.producerId, ends)
  }

  async #bytes(position: number, length: number): Promise<Buffer> {
    const bytes = Buffer.alloc(length)
    const { bytesRead } = await this.#file.read(bytes, 0, length, position)
    if (bytesRead < length) throw new Error(`${this.path}: it ends in the middle of a batch, at byte ${position}`)
    return bytes
  }
}
