/** Writes orders into a topic with every codec in turn, as fast as it can or at a steady rate; called by the demo's scenes. */
import { type Clock, sleep } from '../../core/clock.ts'
import type { Random } from '../../core/random.ts'
import { compressionNames } from '../../protocol/batches/batch-header.ts'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import { orderOf, partitionOfKey } from './orders.ts'
import type { PartitionBatches, TopicClient } from './topic-client.ts'

type RecordInput = Parameters<typeof buildBatch>[0]['records'][number]

/** What the producer needs of a topic; TopicClient in the demo. */
export type OrderTopic = Pick<TopicClient, 'partitions' | 'append'>

/** Requests without an answer. */
const IN_FLIGHT_MAX = 4

export class OrderProducer {
  readonly #topic: OrderTopic
  readonly #clock: Clock
  readonly #random: Random
  /** Offset after the last acknowledged record, by partition. */
  readonly #ends: number[]
  readonly #waiting = new Set<Promise<void>>()
  #failure: unknown
  #sent = 0
  #bytes = 0
  #rounds = 0

  constructor(topic: OrderTopic, { clock, random }: { clock: Clock; random: Random }) {
    this.#topic = topic
    this.#clock = clock
    this.#random = random
    this.#ends = Array.from({ length: topic.partitions }, () => 0)
  }

  /** Records acknowledged. */
  get records(): number {
    return this.#ends.reduce((sum, end) => sum + end, 0)
  }

  /** Bytes of the batches sent, compressed as they were. */
  get bytes(): number {
    return this.#bytes
  }

  /** End of each partition's log as far as it was acknowledged; the producer is the only writer. */
  get endOffsets(): readonly number[] {
    return this.#ends
  }

  /**
   * Writes `records` orders, `perRequest` in each request, and waits for all acknowledgements. Stops early at an abort.
   * Rejects with the first failure, now and ever after: the log's content is not known then.
   */
  async write(records: number, options: { perRequest: number; signal: AbortSignal }): Promise<void> {
    for (let left = records; left > 0 && !options.signal.aborted; left -= options.perRequest) {
      if (this.#waiting.size >= IN_FLIGHT_MAX) await Promise.race(this.#waiting)
      if (this.#failure !== undefined) throw this.#failure
      const sending = this.#send(Math.min(left, options.perRequest))
        .catch(error => {
          this.#failure ??= error
        })
        .finally(() => this.#waiting.delete(sending))
      this.#waiting.add(sending)
    }
    await Promise.all(this.#waiting)
    if (this.#failure !== undefined) throw this.#failure
  }

  /** Writes at a steady rate until the abort, or until `bytesMax` have been written (true = that was the reason). */
  async stream(options: {
    recordsPerSecond: number
    tickMs: number
    bytesMax: number
    signal: AbortSignal
  }): Promise<boolean> {
    const { recordsPerSecond, tickMs, bytesMax, signal } = options
    const perTick = Math.ceil((recordsPerSecond * tickMs) / 1000)
    let dueMs = this.#clock.monotonicMs()
    while (!signal.aborted) {
      if (this.#bytes >= bytesMax) return true
      await this.write(perTick, { perRequest: perTick, signal })
      const nowMs = this.#clock.monotonicMs()
      // After a stall nothing is made up for: the rate is a bound.
      dueMs = Math.max(dueMs + tickMs, nowMs)
      await sleep(this.#clock, dueMs - nowMs, signal)
    }
    return false
  }

  async #send(records: number): Promise<void> {
    const parts = this.#build(records)
    const bases = await this.#topic.append(parts)
    for (const { partition, count } of parts)
      this.#ends[partition] = Math.max(this.#ends[partition] ?? 0, (bases.get(partition) ?? 0) + count)
  }

  /** One batch per partition; codecs take turns over rounds and partitions, so that each partition sees all of them. */
  #build(records: number): (PartitionBatches & { count: number })[] {
    const byPartition = new Map<number, RecordInput[]>()
    const nowMs = this.#clock.nowMs()
    for (let i = 0; i < records; i++) {
      const { customer, text } = orderOf(this.#sent++, nowMs, this.#random)
      const key = Buffer.from(customer)
      const partition = partitionOfKey(key, this.#topic.partitions)
      const record = { timestamp: BigInt(nowMs), key, value: Buffer.from(text) }
      const list = byPartition.get(partition)
      if (list) list.push(record)
      else byPartition.set(partition, [record])
    }
    const round = this.#rounds++
    return [...byPartition].map(([partition, list]) => {
      const compression = compressionNames[(round + partition) % compressionNames.length] ?? 'none'
      const batches = buildBatch({ records: list, compression })
      this.#bytes += batches.length
      return { partition, batches, count: list.length }
    })
  }
}
