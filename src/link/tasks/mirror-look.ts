/** One look at a mirror and its source: is anything missing? Promotes decide by it, previews show it. */
import { mapBounded } from '../coordination/bounded.ts'
import { isSameTopicId } from '../mirror/topic-identity.ts'
import type { Destination, MirrorLog, SourceCluster, SourceTransaction } from '../ports.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'

export interface MirrorLook {
  readonly record: MirrorRecord
  /** Index = partition. */
  readonly logs: readonly MirrorLog[]
  /** What each partition waits for; undefined = it has everything, and no transaction is open. Index = partition. */
  readonly waiting: readonly (string | undefined)[]
  /** What an operator should know about a promote. */
  readonly warnings: readonly string[]
}

/** Partitions whose logs are opened at the same time. */
const parallel = 16

/** The source is asked before the logs are looked at: what a log has then was at the source. Rejects with SourceError. */
export async function lookAtMirror(
  { destination }: { readonly destination: Destination },
  record: MirrorRecord,
  { source, signal }: { readonly source: SourceCluster; readonly signal?: AbortSignal },
): Promise<MirrorLook> {
  const { sourceTopic, topicId, startOffsets } = record
  const partitions = [...startOffsets.keys()]
  const ask = (isolation: 'read_uncommitted' | 'read_committed') =>
    source.listOffsets(sourceTopic, partitions, { spec: 'latest', isolation, signal })
  const [highWatermarks, lastStable] = await Promise.all([ask('read_uncommitted'), ask('read_committed')])
  // Questions go by the topic's name: what was answered is about this mirror if the topic is the same one afterwards, too.
  const [topic] = await source.describeTopics([sourceTopic], signal)
  const logs = await mapBounded(partitions, parallel, partition => destination.openMirrorLog(topicId, partition))
  if (topic && !isSameTopicId(topic.topicId, record.sourceTopicId))
    return { record, logs, waiting: logs.map(() => 'the source topic was deleted and created anew'), warnings: [] }
  const open = partitions.filter(partition => (lastStable.get(partition) ?? -1) < (highWatermarks.get(partition) ?? -1))
  const transactions = await whoseTransactions(source, sourceTopic, { partitions: open, signal })
  const { obstacles, warnings } = await destination.fence.outlook(topicId, 'promote')
  const waiting = logs.map((log, partition) => {
    const highWatermark = highWatermarks.get(partition) ?? -1
    const transaction = transactions.get(partition)
    const there = { highWatermark, lastStable: lastStable.get(partition) ?? -1, transaction }
    return waitingFor(log, there) ?? obstacles.get(partition)
  })
  return { record, logs, waiting, warnings }
}

/** The oldest open transaction of each partition, in words. It is told where the source can: a look never fails for it. */
async function whoseTransactions(
  source: SourceCluster,
  topic: string,
  { partitions, signal }: { readonly partitions: readonly number[]; readonly signal: AbortSignal | undefined },
): Promise<ReadonlyMap<number, string>> {
  if (partitions.length === 0) return new Map()
  try {
    const found = await source.openTransactions(topic, partitions, signal)
    const oldestLast = found.toSorted((a, b) => b.startOffset - a.startOffset)
    return new Map(oldestLast.map(transaction => [transaction.partition, whose(transaction)]))
  } catch {
    return new Map()
  }
}

const whose = ({ transactionalId, producerId }: SourceTransaction): string =>
  transactionalId === undefined ? `producer ${producerId}` : `transactional id '${transactionalId}'`

function waitingFor(
  log: MirrorLog,
  there: { highWatermark: number; lastStable: number; transaction: string | undefined },
): string | undefined {
  const { logEndOffset, highWatermark } = log.state()
  if (there.highWatermark < 0) return 'the source does not tell its high watermark'
  const behind = there.highWatermark - logEndOffset
  if (behind > 0)
    return `${behind} offsets behind the source, whose high watermark is ${there.highWatermark} (the mirror ends at ${logEndOffset})`
  if (behind < 0) return `the mirror ends at ${logEndOffset}, above the source's high watermark ${there.highWatermark}`
  if (there.lastStable < there.highWatermark)
    return `a transaction at the source${there.transaction === undefined ? '' : ` (${there.transaction})`} is open since offset ${there.lastStable} (high watermark ${there.highWatermark})`
  if (highWatermark < logEndOffset) return `in-sync replicas have it up to ${highWatermark} of ${logEndOffset}`
  return undefined
}
