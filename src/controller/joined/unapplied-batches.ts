/** Batches of the metadata log that were fetched but are not known to be committed; the observer applies from the front and cuts from the end. */
import type { BatchHeader } from '../../protocol/batches/batch-header.ts'
import { batchesIn, bytesOfBatch } from '../../protocol/batches/batch-iteration.ts'
import { verifyBatch } from '../../protocol/batches/verify-batch.ts'

interface HeldBatch {
  readonly bytes: Buffer
  readonly lastOffset: number
  readonly epoch: number
}

/** Where a log ends: the offset behind its last batch, and that batch's epoch. */
export interface LogEnd {
  readonly offset: number
  readonly epoch: number
}

/** What an answer holds does not continue our log. */
export class MetadataGap extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'MetadataGap'
  }
}

export class UnappliedBatches {
  /** End of what was taken out, or of the snapshot. */
  #applied: LogEnd
  #held: HeldBatch[] = []
  #bytes = 0

  constructor(applied: LogEnd) {
    this.#applied = applied
  }

  get applied(): LogEnd {
    return this.#applied
  }

  /** Where the next fetch goes on. */
  get end(): LogEnd {
    const last = this.#held.at(-1)
    return last ? { offset: last.lastOffset + 1, epoch: last.epoch } : this.#applied
  }

  /** Memory of what is held. */
  get bytes(): number {
    return this.#bytes
  }

  /** Takes the complete batches of an answer. Throws BatchError, or MetadataGap if they do not continue our log. */
  add(answer: Buffer): void {
    for (const header of batchesIn(answer)) {
      verifyBatch(answer, header)
      if (header.baseOffset !== this.end.offset)
        throw new MetadataGap(`a batch at offset ${header.baseOffset} came where ${this.end.offset} was asked for`)
      this.#hold(Buffer.from(bytesOfBatch(answer, header)), header)
    }
  }

  #hold(bytes: Buffer, { lastOffset, leaderEpoch: epoch }: BatchHeader): void {
    this.#held.push({ bytes, lastOffset, epoch })
    this.#bytes += bytes.length
  }

  /** Everything below the high watermark, in one piece; it counts as applied from now on. */
  takeCommitted(highWatermark: number): Buffer {
    const kept = this.#held.findIndex(batch => batch.lastOffset >= highWatermark)
    const taken = this.#held.splice(0, kept === -1 ? this.#held.length : kept)
    const last = taken.at(-1)
    if (last) this.#applied = { offset: last.lastOffset + 1, epoch: last.epoch }
    const bytes = Buffer.concat(taken.map(batch => batch.bytes))
    this.#bytes -= bytes.length
    return bytes
  }

  /**
   * The leader's log and ours part: its last epoch that is not above ours is `epoch` and ends at `endOffset`. Keeps what both
   * have. False if they part below what was applied, which Kafka's quorum never lets happen.
   */
  cut({ epoch, endOffset }: { readonly epoch: number; readonly endOffset: number }): boolean {
    const fits = (batch: HeldBatch) => batch.epoch < epoch || (batch.epoch === epoch && batch.lastOffset < endOffset)
    const from = this.#held.findIndex(batch => !fits(batch))
    const dropped = from === -1 ? [] : this.#held.splice(from)
    for (const { bytes } of dropped) this.#bytes -= bytes.length
    const { applied } = this
    return epoch > applied.epoch || (epoch === applied.epoch && endOffset >= applied.offset)
  }

  /** A snapshot took the place of all. */
  restart(applied: LogEnd): void {
    this.drop()
    this.#applied = applied
  }

  /** What is held is fetched again. */
  drop(): void {
    this.#held = []
    this.#bytes = 0
  }
}
