/** A mirror log in memory that loses what was not flushed when its process is killed. */

import type { RetentionLimits } from '../../core/retention-limits.ts'
import { type BatchHeader, isControl, isTransactional, readBatchHeader } from '../../protocol/batches/batch-header.ts'
import { batchesIn, bytesOfBatch } from '../../protocol/batches/batch-iteration.ts'
import { buildEndMarker } from '../../protocol/batches/control-batch.ts'
import { restampBatch } from '../../protocol/batches/restamp-batch.ts'
import { type MirrorLog, MirrorLogConflict, type MirrorLogState, type OpenTransaction } from '../ports.ts'
import type { CrashingProcess } from './crashing-process.ts'

interface StoredBatch {
  readonly header: BatchHeader
  readonly bytes: Buffer
}

/** What is on disk and in memory of one partition; shared by all processes. */
export class FakePartition {
  logStartOffset = 0
  logEndOffset = 0
  /** Everything below survives a kill. */
  flushedOffset = 0
  leaderEpoch = 0
  /** Batches get the leader epoch, as in a real log; false = they keep the source's, which tests can look at. */
  stampsEpochs = false
  batches: StoredBatch[] = []
  /** Holds nothing, also not what is below the log start and not in `batches` any more. */
  isEmpty = true
  cleanedOffset = 0
  /** What retention would delete. */
  bytesAtRisk = 0
  /** Others led it for a moment, and from here on it holds what they appended. */
  foreignFrom: number | undefined
  /** Whose records are below has been forgotten. */
  producersFrom = 0

  /** The machine lost what was not flushed. */
  loseUnflushed(): void {
    this.batches = this.batches.filter(batch => batch.header.lastOffset < this.flushedOffset)
    this.logEndOffset = Math.max(this.logStartOffset, this.flushedOffset)
    if (this.flushedOffset <= this.logStartOffset) this.isEmpty = this.batches.length === 0
  }

  append(bytes: Buffer): void {
    for (const header of batchesIn(bytes)) {
      const stamped = Buffer.from(bytesOfBatch(bytes, header))
      if (this.stampsEpochs) restampBatch(stamped, 0, { leaderEpoch: this.leaderEpoch })
      this.batches.push({ header: readBatchHeader(stamped, 0), bytes: stamped })
      this.logEndOffset = header.lastOffset + 1
      this.isEmpty = false
    }
  }

  openTransactions(): OpenTransaction[] {
    const open = new Map<bigint, OpenTransaction>()
    for (const { header } of this.batches) {
      const { producerId, producerEpoch, baseOffset } = header
      if (isControl(header)) open.delete(producerId)
      else if (isTransactional(header) && !open.has(producerId))
        open.set(producerId, { producerId, producerEpoch, firstOffset: baseOffset })
    }
    return [...open.values()]
  }
}

export class FakeMirrorLog implements MirrorLog {
  readonly capabilities = { truncate: true, startAnywhere: true }
  readonly #partition: FakePartition
  readonly #process: CrashingProcess

  constructor(partition: FakePartition, process: CrashingProcess) {
    this.#partition = partition
    this.#process = process
  }

  state(): MirrorLogState {
    const { logStartOffset, logEndOffset, leaderEpoch, isEmpty } = this.#partition
    const { cleanedOffset, batches } = this.#partition
    const known = { replicasEnd: logEndOffset, lastEpoch: batches.at(-1)?.header.leaderEpoch }
    const state = { logStartOffset, logEndOffset, highWatermark: logEndOffset, leaderEpoch, isEmpty, cleanedOffset }
    return { ...state, ...known }
  }

  async refresh(): Promise<MirrorLogState> {
    return this.state()
  }

  async reclaim(): Promise<void> {
    const { foreignFrom } = this.#partition
    if (foreignFrom !== undefined) await this.truncateTo(foreignFrom)
    this.#partition.foreignFrom = undefined
  }

  append(batches: Buffer, { expectedEndOffset }: { expectedEndOffset: number }): Promise<MirrorLogState> {
    return this.#process.effect('append', () => {
      const partition = this.#partition
      if (expectedEndOffset !== partition.logEndOffset)
        throw new MirrorLogConflict(`the log ends at ${partition.logEndOffset}, not ${expectedEndOffset}`)
      partition.append(batches)
      return this.state()
    })
  }

  startAt(offset: number): Promise<MirrorLogState> {
    return this.#process.effect('start at', () => {
      const partition = this.#partition
      if (partition.logStartOffset === partition.logEndOffset) {
        partition.logStartOffset = offset
        partition.isEmpty = true
      }
      partition.logEndOffset = offset
      partition.flushedOffset = offset
      return this.state()
    })
  }

  raiseLogStart(offset: number): Promise<MirrorLogState> {
    return this.#process.effect('raise log start', () => {
      const partition = this.#partition
      partition.logStartOffset = Math.max(partition.logStartOffset, Math.min(offset, partition.logEndOffset))
      partition.batches = partition.batches.filter(batch => batch.header.lastOffset >= partition.logStartOffset)
      return this.state()
    })
  }

  truncateTo(offset: number): Promise<MirrorLogState> {
    return this.#process.effect('truncate', () => {
      const partition = this.#partition
      partition.batches = partition.batches.filter(batch => batch.header.lastOffset < offset)
      partition.logEndOffset = offset
      partition.flushedOffset = Math.min(partition.flushedOffset, offset)
      partition.cleanedOffset = Math.min(partition.cleanedOffset, offset)
      return this.state()
    })
  }

  openTransactions(): readonly OpenTransaction[] {
    return this.#partition.openTransactions()
  }

  async abortOpenTransactions(): Promise<readonly OpenTransaction[]> {
    const open = this.#partition.openTransactions()
    for (const { producerId, producerEpoch } of open)
      await this.#process.effect('append abort marker', () => {
        const { logEndOffset: offset, leaderEpoch } = this.#partition
        const marker = { producerId, producerEpoch, coordinatorEpoch: 0, offset, timestamp: 0n, leaderEpoch }
        this.#partition.append(buildEndMarker({ type: 'abort', ...marker }))
      })
    this.#partition.producersFrom = this.#partition.logEndOffset
    return open
  }

  async lastBatch(): Promise<{ baseOffset: number; lastOffset: number; crc: number } | undefined> {
    return this.#partition.batches.at(-1)?.header
  }

  async compactedTo(): Promise<number> {
    return this.#partition.cleanedOffset
  }

  async readBatches({ offset }: { offset: number; maxBytes: number }): Promise<Buffer> {
    const wanted = this.#partition.batches.filter(batch => batch.header.lastOffset >= offset)
    return Buffer.concat(wanted.map(batch => batch.bytes))
  }

  producerIdMax(): bigint {
    const producerIds = this.#partition.batches.map(batch => batch.header.producerId)
    return producerIds.sort((a, b) => (a < b ? 1 : -1))[0] ?? -1n
  }

  producerIds(): readonly bigint[] {
    const { batches, producersFrom } = this.#partition
    const remembered = batches.filter(({ header }) => header.baseOffset >= producersFrom)
    return [...new Set(remembered.map(({ header }) => header.producerId))].filter(id => id >= 0n)
  }

  async retentionBytesAtRisk({ retentionMs, retentionBytes }: RetentionLimits): Promise<number> {
    return retentionMs < 0 && retentionBytes < 0 ? 0 : this.#partition.bytesAtRisk
  }

  flush(): Promise<void> {
    return this.#process.effect('flush', () => {
      this.#partition.flushedOffset = this.#partition.logEndOffset
    })
  }
}
