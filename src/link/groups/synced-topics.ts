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
  /** Which of the topics, by their names here, are still what the round takes them for; to be asked when offsets have been read. Absent = all. */
  confirmed?(): Promise<ReadonlySet<string>>
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

/**
 * Topics of this cluster that the peer mirrors: offsets that groups commit there come back. `again`: what the other cluster publishes
 * by then; undefined = not known.
 */
export function remoteMirrors(
  parts: { readonly desired: DesiredState; readonly destination: Destination },
  link: LinkRecord,
  of: { readonly contents: StatusContents; readonly again: () => Promise<StatusContents | undefined> },
): SyncedTopics {
  const { desired, destination } = parts
  const found = mirroredThere(parts, link, of.contents)
  const ids = new Map(found.map(({ topic, topicId }) => [topic, topicId]))
  return {
    topicType: 'REMOTE_MIRROR',
    topics: found,
    isSynced: topic => {
      const topicId = ids.get(topic)
      return topicId !== undefined && destination.topic(topic)?.topicId === topicId && isOrdinary(desired, topicId)
    },
    isLeftOut: () => false,
    // A mirror that stopped meanwhile may have records of its own by now, and its groups offsets in these.
    confirmed: async () => {
      const contents = await of.again()
      const there = contents ? mirroredThere(parts, link, contents) : []
      const before = new Map(found.map(({ topic, mirrorEpoch }) => [topic, mirrorEpoch]))
      return new Set(there.filter(now => before.get(now.topic) === now.mirrorEpoch).map(({ topic }) => topic))
    },
  }
}

const isOrdinary = (desired: DesiredState, topicId: Uuid) =>
  [...desired.mirrorsOfTopic(topicId)].every(({ state }) => state === 'STOPPED')

interface MirroredThere extends SyncedTopic {
  /** Another one = its state has changed. */
  readonly mirrorEpoch: string
}

function mirroredThere(
  { desired, destination }: { readonly desired: DesiredState; readonly destination: Destination },
  { linkId }: LinkRecord,
  contents: StatusContents,
): readonly MirroredThere[] {
  const found = (mirror: MirrorStatus): readonly MirroredThere[] => {
    const [source] = mirror.chain
    if (mirror.linkId !== linkId || !meaningful.has(mirror.state)) return []
    if (source?.clusterId !== destination.clusterId) return []
    const topic = destination.topic(source.topic)
    if (!topic || !isSameTopicId(topic.topicId, source.topicId) || !isOrdinary(desired, topic.topicId)) return []
    const { name, topicId, partitions } = topic
    const mirrorEpoch = `${mirror.topicId} ${mirror.stateEpoch}`
    return [{ remoteTopic: mirror.mirrorTopic, topic: name, topicId, partitions, mirrorEpoch }]
  }
  return contents
    .mirrorTopicsOf(linkId)
    .flatMap(name => contents.mirrorsNamed(name))
    .flatMap(found)
}
