/** A log as a plain list of batches: the model that the property test compares PartitionLog with. */
import { type BatchHeader, isControl, isTransactional, readBatchHeader } from '../../protocol/batches/batch-header.ts'
import { decodeControlRecord } from '../../protocol/batches/control-batch.ts'
import { recordsOf } from '../../protocol/batches/records-of.ts'

export interface ModelBatch {
  readonly header: BatchHeader
  readonly bytes: Buffer
}

export interface ModelTransaction {
  readonly producerId: bigint
  readonly firstOffset: number
  readonly lastOffset: number
}

export class LogModel {
  /** All that are in the log or were removed at its start. */
  batches: ModelBatch[] = []
  logStartOffset = 0
  logEndOffset = 0

  /** Batches that a reader can see. */
  get visible(): ModelBatch[] {
    return this.batches.filter(({ header }) => header.lastOffset >= this.logStartOffset)
  }

  append(bytes: Buffer): void {
    for (let at = 0; at < bytes.length; ) {
      const header = readBatchHeader(bytes, at)
      const own = Buffer.from(bytes.subarray(at, at + header.sizeBytes))
      this.batches.push({ header: { ...header, position: 0 }, bytes: own })
      this.logEndOffset = header.lastOffset + 1
      at += header.sizeBytes
    }
  }

  /** Drops the batch that holds `offset` and all behind it. */
  truncateTo(offset: number): void {
    if (offset >= this.logEndOffset) return
    if (offset <= this.logStartOffset) return this.startAt(offset)
    const held = this.batches.find(({ header }) => header.lastOffset >= offset)
    const end = Math.min(offset, held?.header.baseOffset ?? offset)
    if (end <= this.logStartOffset) return this.startAt(this.logStartOffset)
    this.batches = this.batches.filter(({ header }) => header.lastOffset < end)
    this.logEndOffset = end
  }

  startAt(offset: number): void {
    this.batches = []
    this.logStartOffset = offset
    this.logEndOffset = offset
  }

  /** After a crash: what is left must be a prefix; returns whether it is. */
  cutToSurvivors(logEndOffset: number): void {
    this.batches = this.batches.filter(({ header }) => header.lastOffset < logEndOffset)
    this.logEndOffset = logEndOffset
  }

  read(offset: number, bound: number): Buffer[] {
    return this.batches
      .filter(({ header }) => header.lastOffset >= offset && header.lastOffset < bound)
      .map(({ bytes }) => bytes)
  }

  /** First record at or above the log start with at least this timestamp. */
  offsetForTimestamp(timestamp: bigint): number | undefined {
    for (const { header, bytes } of this.visible) {
      for (const record of recordsOf(bytes, header)) {
        if (record.timestamp >= timestamp && record.offset >= this.logStartOffset) return record.offset
      }
    }
    return undefined
  }

  transactions(): { open: ModelTransaction[]; aborted: ModelTransaction[] } {
    const open = new Map<bigint, ModelTransaction>()
    const aborted: ModelTransaction[] = []
    for (const { header, bytes } of this.batches) {
      const { producerId, baseOffset, lastOffset } = header
      if (producerId < 0n) continue
      const current = open.get(producerId)
      if (isControl(header)) {
        if (current && decodeControlRecord(bytes, header)?.type === 'abort') aborted.push({ ...current, lastOffset })
        open.delete(producerId)
      } else if (isTransactional(header) && !current) {
        open.set(producerId, { producerId, firstOffset: baseOffset, lastOffset: -1 })
      }
    }
    return { open: [...open.values()], aborted }
  }
}
