/** Up to where both clusters have the same, as far as it is recorded, here or there. Called by plan-restore; comparisons decide whether it is true. */
import type { OperationContext } from '../operations/operation-context.ts'
import type { DestinationTopic, SourceTopic } from '../ports.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import type { StatusContents } from '../status/status-contents.ts'
import type { StopPointStatus } from '../status/status-records.ts'

/** What one side has recorded of how it stopped. */
interface Stopped {
  readonly points: readonly Pick<StopPointStatus, 'partition' | 'stopOffset' | 'ofSource'>[]
  /** That it had then. */
  readonly partitions: number
}

/**
 * By partition. Where a mirror stopped is where both part. Of two such ends, where the roles changed more than once, the larger one
 * counts. The end of a source that was kept counts only where its mirror has recorded none: whoever was a mirror when that source was
 * kept, and has stopped since, knows what it had, which may be nothing at all. Of partitions that were added since it had nothing.
 */
export function recordedEnds(
  { desired, destination }: Pick<OperationContext, 'desired' | 'destination'>,
  { linkId }: Pick<LinkRecord, 'linkId'>,
  of: { readonly topic: DestinationTopic; readonly sourceTopic: SourceTopic; readonly contents: StatusContents },
): ReadonlyMap<number, number> {
  const { topic, sourceTopic, contents } = of
  const { topicId } = sourceTopic
  const points = contents.stopPoints(topicId).filter(point => {
    const isOurs = point.sourceClusterId === destination.clusterId && point.sourceTopicId === topic.topicId
    return point.linkId === linkId && isOurs
  })
  const { partitions = 0 } = contents.mirrorOf(linkId, { mirrorTopic: sourceTopic.name, topicId }) ?? {}
  const own = desired.mirror(linkId, topic.name)
  const isOwn = own?.topicId === topic.topicId && own.sourceTopicId === topicId
  const here = isOwn ? [{ points: own.stopPoints, partitions: own.startOffsets.length }] : []
  return endsOf([{ points, partitions }, ...here], topic.partitions)
}

/** `partitions`: that the topic has now. */
export function endsOf(stopped: readonly Stopped[], partitions: number): ReadonlyMap<number, number> {
  const ends = stopped.flatMap(({ points, partitions: known }) => {
    const [first] = points
    if (!first || known === 0) return []
    const added = Array.from({ length: Math.max(0, partitions - known) }, (_, index) => known + index)
    return [...points, ...added.map(partition => ({ partition, stopOffset: 0, ofSource: first.ofSource }))]
  })
  const largest = (of: typeof ends) => {
    const found = new Map<number, number>()
    for (const { partition, stopOffset } of of) found.set(partition, Math.max(stopOffset, found.get(partition) ?? 0))
    return found
  }
  const ofMirrors = largest(ends.filter(({ ofSource }) => !ofSource))
  return new Map([...largest(ends.filter(({ ofSource }) => ofSource)), ...ofMirrors])
}
