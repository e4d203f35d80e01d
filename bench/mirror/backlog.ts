/** Fills a topic of the source with batches of one size, as fast as the source takes them; called before a copy is measured. */
import { randomBytes } from 'node:crypto'
import { buildBatch } from '../../src/protocol/batches/build-batch.ts'
import type { Assignment, ClusterClient } from './cluster-client.ts'

export const RECORD_BYTES = 1000

/** What a topic holds. */
export interface Backlog {
  readonly topic: string
  readonly partitions: number
  readonly recordsPerBatch: number
  /** Of one batch, header included. */
  readonly batchBytes: number
  readonly batches: number
}

export const backlogBytes = (backlog: Backlog): number => backlog.batches * backlog.batchBytes
export const backlogRecords = (backlog: Backlog): number => backlog.batches * backlog.recordsPerBatch

/** Batches of one request; a request holds at most one for each partition. */
const REQUEST_BATCHES_MAX = 64
const REQUESTS_UNDER_WAY_MAX = 8

/** Creates the topic and fills its partitions evenly with about `bytes`. */
export async function fillTopic(
  source: ClusterClient,
  topic: string,
  size: {
    readonly partitions: number
    readonly recordsPerBatch: number
    readonly bytes: number
    readonly assignment?: Assignment
  },
): Promise<Backlog> {
  const { partitions, recordsPerBatch } = size
  const records = batchOf(recordsPerBatch)
  const rounds = Math.ceil(size.bytes / records.length / partitions)
  await source.createTopic(topic, partitions, size.assignment)
  const requests: number[][] = []
  for (let first = 0; first < partitions; first += REQUEST_BATCHES_MAX)
    requests.push(Array.from({ length: Math.min(REQUEST_BATCHES_MAX, partitions - first) }, (_, i) => first + i))
  const underWay = new Set<Promise<void>>()
  for (let round = 0; round < rounds; round++) {
    for (const targets of requests) {
      const sent = source.produce(
        topic,
        targets.map(partition => ({ partition, records })),
      )
      underWay.add(sent)
      void sent.finally(() => underWay.delete(sent)).catch(() => {})
      if (underWay.size >= REQUESTS_UNDER_WAY_MAX) await Promise.race(underWay)
    }
  }
  await Promise.all(underWay)
  return { topic, partitions, recordsPerBatch, batchBytes: records.length, batches: rounds * partitions }
}

/** Uncompressed, of random bytes. */
function batchOf(recordsPerBatch: number): Buffer {
  const timestamp = BigInt(Date.now())
  const records = Array.from({ length: recordsPerBatch }, (_, offsetDelta) => ({
    offsetDelta,
    timestamp,
    key: null,
    value: randomBytes(RECORD_BYTES),
  }))
  return buildBatch({ records })
}
