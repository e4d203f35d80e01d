/** Random appends to a compacted log, plain, idempotent and transactional, with a model of what readers must find: for cleaner tests. */
import type { Random } from '../../../core/random.ts'
import type { Compression } from '../../../protocol/batches/batch-header.ts'
import { buildBatch } from '../../../protocol/batches/build-batch.ts'
import { buildEndMarker } from '../../../protocol/batches/control-batch.ts'
import type { RecordInput } from '../../../protocol/batches/record-encoder.ts'

/** One record as it was appended. */
export interface ModelRecord {
  readonly offset: number
  readonly timestamp: bigint
  readonly key: string | null
  readonly value: string | null
  /** undefined = not transactional. */
  readonly transaction: ModelTransaction | undefined
  readonly appendedMs: number
}

export interface ModelTransaction {
  readonly producerId: bigint
  readonly firstOffset: number
  outcome: 'open' | 'commit' | 'abort'
}

interface ModelProducer {
  readonly producerId: bigint
  epoch: number
  nextSequence: number
  open: ModelTransaction | undefined
  /** Its next batch begins a transaction. */
  readonly transactional: boolean
}

const CODECS: readonly Compression[] = ['none', 'none', 'none', 'gzip', 'snappy', 'lz4', 'zstd']

export class KeyedWorkload {
  records: ModelRecord[] = []
  endOffset = 0
  readonly producers = new Map<bigint, ModelProducer>()
  readonly #random: Random
  readonly #keys: number
  readonly #withoutKeys: boolean
  readonly #producers: number

  constructor(random: Random, options: { keys: number; withoutKeys?: boolean; transactions?: boolean }) {
    this.#random = random
    this.#keys = options.keys
    this.#withoutKeys = options.withoutKeys ?? false
    this.#producers = options.transactions === false ? 3 : 6
  }

  below(bound: number): number {
    return Math.floor(this.#random() * bound)
  }

  /** The bytes of the next append, for offsets from the end on; the model has them already. */
  next(nowMs: number): Buffer {
    const producerId = BigInt(this.below(this.#producers))
    if (producerId === 0n) return this.#data(undefined, nowMs)
    const producer = this.#producer(producerId)
    const ends = producer.open !== undefined && this.#random() < 0.4
    if (ends || (producer.transactional && this.#random() < 0.05)) return this.#end(producer, nowMs)
    return this.#data(producer, nowMs)
  }

  /** Ends what is open, so that everything can be cleaned. */
  endAll(nowMs: number): Buffer[] {
    return [...this.producers.values()].filter(({ open }) => open).map(producer => this.#end(producer, nowMs))
  }

  /** Records that read_committed consumers see from `start` on, up to the last stable offset. */
  committed(start: number): ModelRecord[] {
    const stable = this.stableOffset
    const isVisible = ({ transaction }: ModelRecord) => (transaction?.outcome ?? 'commit') === 'commit'
    return this.records.filter(record => record.offset >= start && record.offset < stable && isVisible(record))
  }

  get stableOffset(): number {
    const open = [...this.producers.values()].flatMap(producer => producer.open?.firstOffset ?? [])
    return Math.min(this.endOffset, ...open)
  }

  #producer(producerId: bigint): ModelProducer {
    const known = this.producers.get(producerId)
    if (known) return known
    const made = { producerId, epoch: 0, nextSequence: 0, open: undefined, transactional: producerId > 2n }
    this.producers.set(producerId, made)
    return made
  }

  #data(producer: ModelProducer | undefined, nowMs: number): Buffer {
    if (producer && !producer.open && this.#random() < 0.05) {
      producer.epoch++
      producer.nextSequence = 0
    }
    const baseOffset = this.endOffset
    const count = 1 + this.below(4)
    if (producer?.transactional && !producer.open)
      producer.open = { producerId: producer.producerId, firstOffset: baseOffset, outcome: 'open' }
    const records: RecordInput[] = Array.from({ length: count }, (_, index) => {
      const key = this.#withoutKeys && this.#random() < 0.05 ? null : `k${this.below(this.#keys)}`
      const value = this.#random() < 0.2 ? null : `v${baseOffset + index}`.padEnd(this.below(60), '.')
      const timestamp = BigInt(nowMs - this.below(1000))
      const transaction = producer?.open
      this.records.push({ offset: baseOffset + index, timestamp, key, value, transaction, appendedMs: nowMs })
      const headers = this.#random() < 0.2 ? [{ key: 'h', value: Buffer.from('x') }] : []
      return {
        timestamp,
        key: key === null ? null : Buffer.from(key),
        value: value === null ? null : Buffer.from(value),
        headers,
      }
    })
    const identity = producer && {
      producerId: producer.producerId,
      producerEpoch: producer.epoch,
      baseSequence: producer.nextSequence,
      transactional: producer.transactional,
    }
    if (producer) producer.nextSequence += count
    this.endOffset += count
    const compression = CODECS[this.below(CODECS.length)] ?? 'none'
    const appendTime = this.#random() < 0.1 ? { logAppendTime: records[0]?.timestamp ?? 0n } : {}
    if ('logAppendTime' in appendTime) this.#stampAll(baseOffset, appendTime.logAppendTime)
    return buildBatch({ baseOffset, records, compression, ...identity, ...appendTime })
  }

  #stampAll(from: number, timestamp: bigint): void {
    this.records = this.records.map(record => (record.offset >= from ? { ...record, timestamp } : record))
  }

  #end(producer: ModelProducer, nowMs: number): Buffer {
    const type = this.#random() < 0.5 ? 'commit' : 'abort'
    if (producer.open) producer.open.outcome = type
    producer.open = undefined
    const offset = this.endOffset++
    const { producerId, epoch: producerEpoch } = producer
    const timestamp = BigInt(nowMs)
    return buildEndMarker({ type, producerId, producerEpoch, coordinatorEpoch: 3, offset, timestamp, leaderEpoch: 0 })
  }
}
