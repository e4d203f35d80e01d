/** Short forms of client appends and fetches on a PartitionBench, for tests of the fetch path. */
import { strictEqual } from 'node:assert/strict'
import { batchesIn } from '../../protocol/batches/batch-iteration.ts'
import { type BatchInput, buildBatch } from '../../protocol/batches/build-batch.ts'
import { appendFromClient } from '../append-from-client.ts'
import { fetchFromLog } from '../fetch-from-log.ts'
import type { FetchQuery, FetchTarget } from '../fetch-query.ts'
import type { Partition } from '../partition.ts'
import type { FetchedPartition } from '../read-partition.ts'
import type { PartitionBench } from './open-partition.ts'

export const data = (bytes = 10, input: Partial<BatchInput> = {}) =>
  buildBatch({ records: [{ timestamp: 1_700_000_000_000n, key: null, value: Buffer.alloc(bytes) }], ...input })

export async function append(bench: PartitionBench, partition: Partition, records = data()): Promise<void> {
  const request = { records, acks: 1, timeoutMs: 0, produceVersion: 13, refusal: () => undefined } as const
  strictEqual((await appendFromClient(partition, request, bench)).errorCode, 0)
}

export const target = (partition: Partition, change: Partial<FetchTarget> = {}): FetchTarget => ({
  topicId: partition.topicId,
  topic: partition.topic,
  partition: partition.index,
  fetchOffset: 0,
  currentLeaderEpoch: -1,
  lastFetchedEpoch: -1,
  partitionBytesMax: 1 << 20,
  ...change,
})

export const query = (targets: readonly FetchTarget[], change: Partial<FetchQuery> = {}): FetchQuery => ({
  replicaId: -1,
  isolation: 'read_uncommitted',
  maxWaitMs: 0,
  minBytes: 1,
  bytesMax: 1 << 20,
  targets,
  signal: new AbortController().signal,
  ...change,
})

export const offsets = (fetched: FetchedPartition | undefined) =>
  Array.from(batchesIn(fetched?.records ?? Buffer.alloc(0)), header => header.baseOffset)

export const abortedIn = (fetched: FetchedPartition | undefined) =>
  fetched?.abortedTransactions?.map(({ producerId, firstOffset }) => [producerId, firstOffset])

export const turns = async (count = 20) => {
  for (let i = 0; i < count; i++) await new Promise<void>(resolve => setImmediate(resolve))
}

/** A running fetch, and whether it has been answered. */
export function start(bench: PartitionBench, asked: FetchQuery) {
  const running = { answered: false, result: Promise.resolve<FetchedPartition[]>([]) }
  running.result = fetchFromLog(bench, asked, bench.clock).then(result => {
    running.answered = true
    return result
  })
  return running
}
