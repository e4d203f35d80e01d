/** One look at all partitions of a link for those that are stuck while their source is ahead (semantics §4.9). Run by the link runtime. */
import { mapBounded } from '../coordination/bounded.ts'
import type { PartitionWatch } from '../mirror/partition-watch.ts'
import type { SourceCluster, SourceConnectionSettings } from '../ports.ts'

/** How often it looks. */
export const watchdogPeriodMs = 10_000
/** Partitions asked about in one look; the rest stays suspect. */
const askedMax = 256
/** Partitions asked about at the same time. */
const parallel = 8
const stallMsMin = 60_000
const backoffMsMax = 12_000

/** How long a partition may rest: a source that does not answer has been reported at least once in that time. */
export function stallMsOf({ requestTimeoutMs, connectTimeoutMs, fetch }: SourceConnectionSettings): number {
  const silenceMs = requestTimeoutMs + connectTimeoutMs + fetch.waitMaxMs + Math.max(backoffMsMax, fetch.backoffMs)
  return Math.max(stallMsMin, 2 * silenceMs)
}

/** Asks the source about suspects only, each for itself; never waits for a partition. Does not reject. */
export async function watchPartitions(
  source: SourceCluster,
  watches: readonly PartitionWatch[],
  signal: AbortSignal,
): Promise<void> {
  const suspects = watches.filter(watch => watch.look()).slice(0, askedMax)
  await mapBounded(suspects, parallel, async watch => {
    const { sourceTopic, partition } = watch
    try {
      const query = { spec: 'latest', isolation: 'read_uncommitted', signal } as const
      const latest = await source.listOffsets(sourceTopic, [partition], query)
      if (!signal.aborted) watch.judge(latest.get(partition) ?? -1)
    } catch {
      // The source's fault, which the fetch of the partition reports when it meets it.
      watch.excuse()
    }
  })
}
