/** What a fetch asks and how its answer is read, partition by partition; the fetch slots and their sessions use it. Pure. */
import { offsetFromWire } from '../../core/offset.ts'
import type { FetchedBatches } from '../../link/ports.ts'
import type { FetchResponse } from '../../protocol/messages/01-fetch.ts'
import type { PartitionFetch, Route } from './partition-fetch.ts'

/** One partition in one request. */
export interface AskedPartition {
  readonly partition: PartitionFetch
  readonly route: Route
  readonly fetchOffset: number
}

export interface FetchLimits {
  readonly waitMs: number
  readonly minBytes: number
  readonly responseBytesMax: number
  readonly partitionBytesMax: number
}

export type PartitionAnswer = FetchResponse['responses'][number]['partitions'][number]

/** Finds the part of each partition, by topic id where the version has it. */
export class AnswerIndex {
  readonly #byIds: boolean
  readonly #topics = new Map<string, Map<number, PartitionAnswer>>()

  constructor(response: FetchResponse, version: number) {
    this.#byIds = version >= 13
    for (const { topic, topicId, partitions } of response.responses) {
      const key = this.#byIds ? topicId : topic
      const known = this.#topics.get(key) ?? new Map<number, PartitionAnswer>()
      for (const answer of partitions) known.set(answer.partitionIndex, answer)
      this.#topics.set(key, known)
    }
  }

  find({ partition, route }: AskedPartition): PartitionAnswer | undefined {
    return this.#topics.get(this.#byIds ? route.topicId : partition.topic)?.get(partition.partition)
  }
}

const EMPTY = Buffer.alloc(0)

/** What the sink gets. Throws RangeError on an offset beyond 2^53. */
export function batchesOf(answer: PartitionAnswer, asked: AskedPartition, receivedMs: number): FetchedBatches {
  return {
    records: answer.records ?? EMPTY,
    fetchOffset: asked.fetchOffset,
    highWatermark: offsetFromWire(answer.highWatermark),
    lastStableOffset: offsetFromWire(answer.lastStableOffset),
    logStartOffset: offsetFromWire(answer.logStartOffset),
    leaderEpoch: asked.route.leaderEpoch,
    receivedMs,
  }
}
