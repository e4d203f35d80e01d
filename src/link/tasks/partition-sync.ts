/** PartitionSync: partitions that a source topic gained appear at its mirror, from their first record on (semantics §4.8). Run by the link runtime. */
import { mapBounded } from '../coordination/bounded.ts'
import type { MirrorChanges } from '../coordination/mirror-changes.ts'
import { isSameTopicId } from '../mirror/topic-identity.ts'
import type { Destination, SourceCluster } from '../ports.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { withHistory } from '../states/transition.ts'
import { askTopics } from './ask-topics.ts'
import { type TaskError, taskErrorOf } from './sync-task.ts'

/** Topics grown at the same time. */
const parallel = 8

export interface PartitionSyncParts {
  readonly source: SourceCluster
  readonly destination: Pick<Destination, 'createPartitions'>
  readonly changes: MirrorChanges
  readonly signal: AbortSignal
  readonly nowMs: () => number
}

/** One round over these mirrors. One bad topic does not stop the rest. */
export async function syncPartitions(
  parts: PartitionSyncParts,
  mirrors: readonly MirrorRecord[],
): Promise<readonly TaskError[]> {
  const names = [...new Set(mirrors.map(mirror => mirror.sourceTopic))]
  const { source, signal } = parts
  const { found, errors } = await askTopics(names, some => source.describeTopics(some, signal), signal)
  const topics = new Map(found.map(topic => [topic.name, topic]))
  await mapBounded(mirrors, parallel, async record => {
    const topic = topics.get(record.sourceTopic)
    if (
      !topic ||
      !isSameTopicId(topic.topicId, record.sourceTopicId) ||
      topic.partitions.length <= record.startOffsets.length
    )
      return
    try {
      await grow(parts, record, topic.partitions.length)
    } catch (error) {
      errors.push(taskErrorOf(error, record.mirrorTopic))
    }
  })
  return errors
}

/** The topic first, then its record: whoever finds the topic grown already only has the record to write. */
async function grow(parts: PartitionSyncParts, record: MirrorRecord, count: number): Promise<void> {
  const { source, destination, changes, signal, nowMs } = parts
  const { linkId, mirrorTopic, sourceTopic, topicId, startOffsets: known } = record
  const added = Array.from({ length: count - known.length }, (_, index) => known.length + index)
  const query = { spec: 'earliest', isolation: 'read_uncommitted', signal } as const
  const earliest = await source.listOffsets(sourceTopic, added, query)
  const starts = added.map(partition => Math.max(0, earliest.get(partition) ?? 0))
  await destination.createPartitions(topicId, count)
  await changes.update({ linkId, mirrorTopic, topicId }, current => {
    const isLate = current.stopping !== undefined || current.startOffsets.length !== known.length
    if (isLate || current.state === 'STOPPED') return current
    const reason = `the source topic has ${count} partitions, ${added.length} more than the mirror had`
    const grown = { ...current, startOffsets: [...known, ...starts] }
    return withHistory(grown, { event: 'partitions-added', reason, timeMs: nowMs() })
  })
}
