/** Of which topics a link syncs offsets of groups: those that it mirrors, and those of this cluster that the other half of the link mirrors (semantics §5). Asked by the group offset sync. */
import type { Uuid } from '../../core/uuid.ts'
import type { TopicType } from '../configs/name-filters.ts'
import { isSameTopicId } from '../mirror/topic-identity.ts'
import type { Destination } from '../ports.ts'
import type { DesiredState } from '../replay/desired-state.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import type { StatusContents } from '../status/status-contents.ts'
import type { MirrorStatus } from '../status/status-records.ts'

/** One topic of this cluster with its counterpart. */
export interface SyncedTopic {
  /** Its name at the other cluster. */
  readonly remoteTopic: string
  /** Its name here. */
  readonly topic: string
  readonly topicId: Uuid
  readonly partitions: number
}

/** What a round is about, and what is synced of it at the moment when something is written. */
export interface SyncedTopics {
  readonly topicType: TopicType
  readonly topics: readonly SyncedTopic[]
  /** Of this topic here offsets are still written. */
  isSynced(topic: string): boolean
  /** What is known of this topic stays, although the round is not about it. */
  isLeftOut(topic: string): boolean
}

/** Mirrors of the link: offsets come with the data. */
export function localMirrors(desired: DesiredState, linkId: Uuid, mirrors: readonly MirrorRecord[]): SyncedTopics {
  const asked = new Set(mirrors.map(({ mirrorTopic }) => mirrorTopic))
  return {
    topicType: 'LOCAL_MIRROR',
    topics: mirrors.map(({ sourceTopic, mirrorTopic, topicId, startOffsets }) => {
      return { remoteTopic: sourceTopic, topic: mirrorTopic, topicId, partitions: startOffsets.length }
    }),
    isSynced: topic => {
      const record = desired.mirror(linkId, topic)
      return record !== undefined && record.state !== 'STOPPED' && record.stopping === undefined
    },
    isLeftOut: topic => {
      const record = desired.mirror(linkId, topic)
      return !asked.has(topic) && record !== undefined && record.state !== 'STOPPED'
    },
  }
}

/** States in which what a mirror holds is what its source has, so that offsets in it mean the same there. */
const meaningful: ReadonlySet<string> = new Set(['ACTIVE', 'PAUSED', 'PENDING_SYNCHRONIZE', 'PENDING_STOPPED'])

/** Topics of this cluster that the peer mirrors: offsets that groups commit there come back. */
export function remoteMirrors(
  { desired, destination }: { readonly desired: DesiredState; readonly destination: Destination },
  { linkId }: LinkRecord,
  contents: StatusContents,
): SyncedTopics {
  const isOrdinary = (topicId: Uuid) => [...desired.mirrorsOfTopic(topicId)].every(({ state }) => state === 'STOPPED')
  const found = (mirror: MirrorStatus): readonly SyncedTopic[] => {
    const [source] = mirror.chain
    if (mirror.linkId !== linkId || !meaningful.has(mirror.state)) return []
    if (source?.clusterId !== destination.clusterId) return []
    const topic = destination.topic(source.topic)
    if (!topic || !isSameTopicId(topic.topicId, source.topicId) || !isOrdinary(topic.topicId)) return []
    const { name, topicId, partitions } = topic
    return [{ remoteTopic: mirror.mirrorTopic, topic: name, topicId, partitions }]
  }
  const topics = contents
    .mirrorTopicsOf(linkId)
    .flatMap(name => contents.mirrorsNamed(name))
    .flatMap(found)
  const ids = new Map(topics.map(({ topic, topicId }) => [topic, topicId]))
  return {
    topicType: 'REMOTE_MIRROR',
    topics,
    isSynced: topic => {
      const topicId = ids.get(topic)
      return topicId !== undefined && destination.topic(topic)?.topicId === topicId && isOrdinary(topicId)
    },
    isLeftOut: () => false,
  }
}
