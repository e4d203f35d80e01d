/** One source partition of the simulation: its log, its leader epochs, and every history that it ever had. Driven by the random actions. */
import { type BatchHeader, isControl, readBatchHeader } from '../../src/protocol/batches/batch-header.ts'
import { buildBatch } from '../../src/protocol/batches/build-batch.ts'
import { buildEndMarker } from '../../src/protocol/batches/control-batch.ts'

/** A batch with what tells it from any other. */
export interface SourceBatch {
  readonly header: BatchHeader
  readonly bytes: Buffer
}

/** Everything between two unclean elections, what retention deleted included. */
export interface History {
  readonly batches: SourceBatch[]
  /** The largest log start of that time. */
  deletedBelow: number
}

export interface NewBatch {
  readonly count: number
  /** Offsets left out before it, as compaction does. */
  readonly hole: number
  readonly kind: 'plain' | 'idempotent' | 'transactional' | 'abort' | 'commit'
  /** Makes the content unique. */
  readonly serial: number
}

const transactionalProducer = 700n
/** How long a new leader may lag behind in what it knows to be committed. */
const electionMs = 3000

export class SourceLog {
  logStartOffset = 0
  logEndOffset = 0
  /** What consumers may read; behind the log end for a while after appends and elections. */
  highWatermark = 0
  leaderEpoch = 0
  /** High watermark before the last election, and when that was. */
  #committed = 0
  #electedMs = 0
  /** As in Kafka's leader-epoch cache: cut at both ends with the log. */
  #epochs: { readonly epoch: number; startOffset: number }[] = [{ epoch: 0, startOffset: 0 }]
  /** Since the creation; the last one is the present. */
  readonly histories: History[] = [{ batches: [], deletedBelow: 0 }]
  /** What could be read from when on; the last one holds now. */
  readonly samples: { readonly fromMs: number; readonly highWatermark: number; readonly lastStable: number }[] = []

  get batches(): readonly SourceBatch[] {
    return this.histories.at(-1)?.batches ?? []
  }

  /** The largest log start that there ever was. */
  get highestLogStart(): number {
    return Math.max(...this.histories.map(({ deletedBelow }) => deletedBelow))
  }

  /** Where the open transaction begins, or the high watermark. */
  get lastStableOffset(): number {
    let first = this.highWatermark
    for (const { header } of this.batches.toReversed()) {
      if (header.producerId !== transactionalProducer || header.lastOffset >= this.highWatermark) continue
      if (isControl(header)) break
      first = header.baseOffset
    }
    return first
  }

  sample(nowMs: number): void {
    const { highWatermark, lastStableOffset: lastStable } = this
    const last = this.samples.at(-1)
    if (last?.highWatermark === highWatermark && last.lastStable === lastStable) return
    this.samples.push({ fromMs: nowMs, highWatermark, lastStable })
  }

  /** Was there a moment since `sinceMs` at which `offset` was everything, and no transaction open? */
  endedAt(offset: number, sinceMs: number): boolean {
    return this.samples.some(({ highWatermark, lastStable }, index) => {
      const untilMs = this.samples[index + 1]?.fromMs ?? Number.POSITIVE_INFINITY
      return untilMs >= sinceMs && highWatermark === offset && lastStable === offset
    })
  }

  append({ count, hole, kind, serial }: NewBatch): void {
    const baseOffset = this.logEndOffset + hole
    const bytes =
      kind === 'abort' || kind === 'commit'
        ? buildEndMarker({
            type: kind,
            producerId: transactionalProducer,
            producerEpoch: 0,
            coordinatorEpoch: 0,
            offset: baseOffset,
            timestamp: BigInt(serial),
            leaderEpoch: this.leaderEpoch,
          })
        : dataBatch({ baseOffset, count, kind, serial, leaderEpoch: this.leaderEpoch })
    const header = readBatchHeader(bytes, 0)
    this.histories.at(-1)?.batches.push({ header, bytes })
    this.logEndOffset = header.lastOffset + 1
  }

  /** A clean election: nothing is lost, but the new leader may not know yet how far it may be read. */
  elect(behind: number, nowMs: number): void {
    this.#committed = this.highWatermark
    this.#electedMs = nowMs
    this.leaderEpoch++
    this.#epochs.push({ epoch: this.leaderEpoch, startOffset: this.logEndOffset })
    const known = this.batches.findLast(({ header }) => header.lastOffset < this.highWatermark - behind)
    this.highWatermark = Math.max(this.logStartOffset, (known?.header.lastOffset ?? -1) + 1)
  }

  /** An unclean election: what reaches beyond `offset` is gone, and another history begins. */
  truncateTo(offset: number): void {
    this.#committed = 0
    const kept = this.batches.filter(batch => batch.header.lastOffset < offset)
    this.logEndOffset = Math.max(offset, (kept.at(-1)?.header.lastOffset ?? -1) + 1)
    this.highWatermark = Math.min(this.highWatermark, this.logEndOffset)
    this.logStartOffset = Math.min(this.logStartOffset, this.logEndOffset)
    this.histories.push({ batches: [...kept], deletedBelow: this.logStartOffset })
    this.#epochs = this.#epochs.filter(({ startOffset }) => startOffset < this.logEndOffset)
    this.leaderEpoch++
    this.#epochs.push({ epoch: this.leaderEpoch, startOffset: this.logEndOffset })
  }

  /** Retention, or DeleteRecords. */
  raiseLogStart(offset: number): void {
    this.logStartOffset = Math.max(this.logStartOffset, Math.min(offset, this.highWatermark))
    const present = this.histories.at(-1)
    if (present) present.deletedBelow = this.logStartOffset
    const covering = this.#epochs.findLastIndex(({ startOffset }) => startOffset <= this.logStartOffset)
    if (covering <= 0) return
    const [first, ...rest] = this.#epochs.slice(covering)
    if (first) this.#epochs = [{ ...first, startOffset: this.logStartOffset }, ...rest]
  }

  /** Followers catch up soon after an election. */
  settleAfterElection(nowMs: number): void {
    if (nowMs - this.#electedMs >= electionMs) this.highWatermark = Math.max(this.highWatermark, this.#committed)
  }

  settleHighWatermark(): void {
    this.highWatermark = this.logEndOffset
  }

  /** Kafka's answer to OffsetForLeaderEpoch. */
  endOfEpoch(requested: number): { epoch: number; endOffset: number } {
    const unknown = { epoch: -1, endOffset: -1 }
    const latest = this.#epochs.at(-1)
    const first = this.#epochs[0]
    if (!latest || !first || requested > latest.epoch) return unknown
    if (requested === latest.epoch) return { epoch: requested, endOffset: this.logEndOffset }
    const higher = this.#epochs.find(({ epoch }) => epoch > requested)
    if (!higher) return unknown
    if (requested < first.epoch) return { epoch: requested, endOffset: first.startOffset }
    const floor = this.#epochs.findLast(({ epoch }) => epoch <= requested)
    return { epoch: floor?.epoch ?? -1, endOffset: higher.startOffset }
  }

  /** At most `count` batches from `offset` on, below the high watermark. */
  read(offset: number, count: number): Buffer {
    const found: Buffer[] = []
    for (const { header, bytes } of this.batches) {
      if (header.lastOffset < Math.max(offset, this.logStartOffset)) continue
      if (header.lastOffset >= this.highWatermark || found.length === count) break
      found.push(bytes)
    }
    return Buffer.concat(found)
  }
}

function dataBatch(batch: Omit<NewBatch, 'hole'> & { baseOffset: number; leaderEpoch: number }): Buffer {
  const { baseOffset, count, kind, serial, leaderEpoch } = batch
  const producer =
    kind === 'plain'
      ? {}
      : {
          producerId: kind === 'transactional' ? transactionalProducer : BigInt(serial % 5),
          producerEpoch: 0,
          baseSequence: 0,
        }
  const value = Buffer.from(`value ${serial}`)
  return buildBatch({
    baseOffset,
    leaderEpoch,
    ...producer,
    transactional: kind === 'transactional',
    records: Array.from({ length: count }, (_, offsetDelta) => ({
      offsetDelta,
      timestamp: BigInt(serial),
      key: null,
      value,
    })),
  })
}
