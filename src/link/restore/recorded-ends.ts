/** Up to where both clusters have the same, as far as it is recorded, here or there. Called by plan-restore; comparisons decide whether it is true. */
import type { OperationContext } from '../operations/operation-context.ts'
import type { DestinationTopic, SourceTopic } from '../ports.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import type { StatusContents } from '../status/status-contents.ts'
import type { StopPointStatus } from '../status/status-records.ts'

type RecordedEnd = Pick<StopPointStatus, 'partition' | 'stopOffset' | 'ofSource'>

/**
 * By partition. Where a mirror stopped is where both part. Of two such ends, where the roles changed more than once, the larger one
 * counts. The end of a source that was kept counts only where its mirror has recorded none: whoever was a mirror when that source was
 * kept, and has stopped since, knows what it had, which may be nothing at all.
 */
export function recordedEnds(
  { desired, destination }: Pick<OperationContext, 'desired' | 'destination'>,
  { linkId }: Pick<LinkRecord, 'linkId'>,
  of: { readonly topic: DestinationTopic; readonly sourceTopic: SourceTopic; readonly contents: StatusContents },
): ReadonlyMap<number, number> {
  const { topic, sourceTopic, contents } = of
  const there = contents.stopPoints(sourceTopic.topicId).filter(point => {
    const isOurs = point.sourceClusterId === destination.clusterId && point.sourceTopicId === topic.topicId
    return point.linkId === linkId && isOurs
  })
  const own = desired.mirror(linkId, topic.name)
  const isOwn = own?.topicId === topic.topicId && own.sourceTopicId === sourceTopic.topicId
  return endsOf([...there, ...(isOwn ? own.stopPoints : [])])
}

export function endsOf(recorded: readonly RecordedEnd[]): ReadonlyMap<number, number> {
  const largest = (ends: readonly RecordedEnd[]) => {
    const found = new Map<number, number>()
    for (const { partition, stopOffset } of ends) found.set(partition, Math.max(stopOffset, found.get(partition) ?? 0))
    return found
  }
  const ofMirrors = largest(recorded.filter(({ ofSource }) => !ofSource))
  return new Map([...largest(recorded.filter(({ ofSource }) => ofSource)), ...ofMirrors])
}
