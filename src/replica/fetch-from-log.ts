/** Reads many partitions for one Fetch request and waits for data as long as it may (long poll); the Fetch handler calls it. */
import type { Clock } from '../core/clock.ts'
import { boundOf, type FetchQuery, type PartitionSource, type ReadSnapshot } from './fetch-query.ts'
import { awaitNews } from './fetch-wait.ts'
import { type FetchedPartition, readPartition } from './read-partition.ts'

/** One result per target, in the order asked. Errors of a partition are in its result; never rejects because of one. */
export async function fetchFromLog(
  source: PartitionSource,
  query: FetchQuery,
  clock: Clock,
): Promise<FetchedPartition[]> {
  const deadlineMs = clock.monotonicMs() + query.maxWaitMs
  let reads = await readAll(source, query)
  for (;;) {
    const remainingMs = deadlineMs - clock.monotonicMs()
    if (remainingMs <= 0 || query.signal.aborted || isComplete(reads, query)) break
    const snapshots = reads.flatMap(read => read.snapshot ?? [])
    const news = await awaitNews(snapshots, { query, readBytes: bytesOf(reads), remainingMs, clock })
    reads = await readAll(source, query, reads)
    if (news === 'answer') break
  }
  return reads.map(({ result, snapshot }) => {
    snapshot?.led?.followerTold(query.replicaId, result)
    return result
  })
}

interface Read {
  readonly result: FetchedPartition
  /** undefined for a partition that could not be read. */
  readonly snapshot: ReadSnapshot | undefined
}

/**
 * In the order of the request, each partition getting what the ones before it left of the byte limit. Given what was read before the
 * wait, those that are as they were are not read again: a follower of thousands of partitions waits for a few of them.
 */
async function readAll(source: PartitionSource, query: FetchQuery, before?: readonly Read[]): Promise<Read[]> {
  const reads: Read[] = []
  query.memory?.release()
  let bytesLeft = query.bytesMax
  let atLeastOneBatch = true
  for (const [index, target] of query.targets.entries()) {
    const known = before?.[index]
    if (known && isAsItWas(known, query)) {
      reads.push(known)
      continue
    }
    const read = await readPartition(source, target, {
      query,
      bytesMax: Math.min(bytesLeft, target.partitionBytesMax),
      atLeastOneBatch,
      recordsProgress: before === undefined,
    })
    const bytes = read.result.records.length
    if (bytes > 0) atLeastOneBatch = false
    bytesLeft = Math.max(0, bytesLeft - bytes)
    reads.push(read)
  }
  return reads
}

/** There was nothing to read, and nothing that the answer tells has changed. */
function isAsItWas({ snapshot, result }: Read, query: FetchQuery): boolean {
  if (!snapshot || result.divergingEpoch || snapshot.fetchOffset < snapshot.bound) return false
  const { partition, fetchOffset } = snapshot
  return (
    !partition.unavailable &&
    partition.leaderEpoch === snapshot.leaderEpoch &&
    partition.highWatermark === snapshot.highWatermark &&
    partition.lastStableOffset === result.lastStableOffset &&
    partition.log.logStartOffset === snapshot.logStartOffset &&
    partition.log.logEndOffset >= fetchOffset &&
    boundOf(partition, query) === snapshot.bound
  )
}

function isComplete(reads: readonly Read[], query: FetchQuery): boolean {
  if (reads.length === 0) return true
  if (reads.some(read => read.result.errorCode !== 0 || read.result.divergingEpoch !== undefined)) return true
  if (reads.some(read => hasUntold(read, query))) return true
  return bytesOf(reads) >= Math.min(query.minBytes, query.bytesMax)
}

/** A follower learns high watermark and log start from answers only, and its own fetch may have moved the first. */
const hasUntold = ({ snapshot, result }: Read, { replicaId }: FetchQuery): boolean =>
  snapshot?.led?.followerLacks(replicaId, result) ?? false

const bytesOf = (reads: readonly Read[]): number => reads.reduce((sum, read) => sum + read.result.records.length, 0)
