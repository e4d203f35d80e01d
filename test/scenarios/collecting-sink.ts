/** A mirror partition that only keeps what it gets, checking every batch: the suites read real clusters into it. */
import { strictEqual } from 'node:assert/strict'
import type { Uuid } from '../../src/core/uuid.ts'
import type { FetchedBatches, FetchPosition, FetchSink, FetchTrouble } from '../../src/link/ports.ts'
import { batchesIn } from '../../src/protocol/batches/batch-iteration.ts'
import { verifyBatch } from '../../src/protocol/batches/verify-batch.ts'

/** Follows the source wherever it says that its log is. */
export class CollectingSink implements FetchSink {
  readonly topicId: Uuid | undefined
  /** Next offset wanted. */
  offset = 0
  readonly batches: FetchedBatches[] = []
  readonly troubles: FetchTrouble[] = []
  readonly epochEnds: { requestedEpoch: number; epoch: number; endOffset: number }[] = []
  #lastEpoch: number | undefined
  readonly #chunks: Buffer[] = []

  constructor({ topicId }: { topicId?: Uuid }) {
    this.topicId = topicId
  }

  /** All whole batches so far. */
  get bytes(): Buffer {
    return Buffer.concat(this.#chunks)
  }

  /** Keeps the whole batches of an answer. */
  take(records: Buffer): void {
    for (const header of batchesIn(records)) {
      verifyBatch(records, header)
      strictEqual(header.baseOffset >= this.offset || this.#chunks.length === 0, true)
      this.#chunks.push(Buffer.from(records.subarray(header.position, header.position + header.sizeBytes)))
      this.offset = header.lastOffset + 1
      this.#lastEpoch = header.leaderEpoch
    }
  }

  position(): FetchPosition {
    return { offset: this.offset, lastSourceEpoch: this.#lastEpoch }
  }

  async onEpochEnd(answer: { requestedEpoch: number; epoch: number; endOffset: number }): Promise<'continue'> {
    this.epochEnds.push(answer)
    return 'continue'
  }

  async onBatches(batches: FetchedBatches): Promise<'continue'> {
    this.batches.push(batches)
    this.take(batches.records)
    return 'continue'
  }

  async onTrouble(trouble: FetchTrouble): Promise<'continue'> {
    this.troubles.push(trouble)
    if (trouble.kind === 'offset-out-of-range') this.offset = trouble.earliest
    return 'continue'
  }
}
