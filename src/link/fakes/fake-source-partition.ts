/** One partition of the source in memory; tests change it as they like. */
import { readBatchHeader } from '../../protocol/batches/batch-header.ts'
import type { EpochEnd } from '../ports.ts'

export class FakeSourcePartition {
  logStartOffset = 0
  highWatermark = 0
  leaderEpoch = 0
  /** Where the first open transaction begins; undefined = none is open. */
  openSince: number | undefined
  /** Of the producer that has it open, where the source tells. */
  transactionalId: string | undefined
  batches: Buffer[] = []
  /** Set: the answer to every question about the end of an epoch. */
  epochEnd: EpochEnd | undefined

  append(...batches: Buffer[]): void {
    for (const batch of batches) {
      this.batches.push(batch)
      this.highWatermark = readBatchHeader(batch, 0).lastOffset + 1
    }
  }

  /** An unclean election: what begins or reaches beyond `offset` is gone, and a new leader epoch begins. */
  truncateTo(offset: number): void {
    this.batches = this.batches.filter(batch => readBatchHeader(batch, 0).lastOffset < offset)
    this.highWatermark = offset
    this.leaderEpoch++
  }

  from(offset: number): Buffer {
    return Buffer.concat(this.batches.filter(batch => readBatchHeader(batch, 0).lastOffset >= offset))
  }
}
