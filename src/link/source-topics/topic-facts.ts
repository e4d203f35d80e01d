/** What the conditions of one source topic are judged by; gathered from the link, the records, this cluster and the source. */
import type { Uuid } from '../../core/uuid.ts'
import type { LinkConfigs } from '../configs/link-configs.ts'
import { type NameFilter, parseNameFilters } from '../configs/name-filters.ts'
import type { MirrorView } from '../engine-api.ts'
import type { Destination, SourceTopic } from '../ports.ts'
import type { DesiredState } from '../replay/desired-state.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import type { LinkHealth } from '../states/link-health.ts'
import type { TaskError } from '../tasks/sync-task.ts'
import type { TopicOrigin, TopicOrigins } from './topic-origins.ts'

/** What the source says of the topic. */
export type AtSource =
  | { readonly kind: 'found'; readonly topic: SourceTopic }
  /** Not there, or hidden from the link. */
  | { readonly kind: 'missing' }
  /** Forbidden; the message is a clause. */
  | { readonly kind: 'refused'; readonly message: string }
  /** No answer; the message is a clause. */
  | { readonly kind: 'unanswered'; readonly message: string }

export interface LinkFacts {
  readonly linkId: Uuid
  readonly name: string
  readonly prefix: string
  readonly isPaused: boolean
  readonly autoCreate: boolean
  readonly filters: readonly NameFilter[]
  /** undefined = nothing runs for the link here yet. */
  readonly health: LinkHealth | undefined
}

/** Who has the name of the mirror here. */
export type NameOwner =
  | { readonly kind: 'topic' }
  | { readonly kind: 'creation' }
  | { readonly kind: 'mirror'; readonly link: string; readonly state: string }

export interface TopicFacts {
  readonly link: LinkFacts
  readonly sourceTopic: string
  readonly mirrorTopic: string
  readonly atSource: AtSource
  readonly origin: TopicOrigin
  /** undefined = nobody, or the link's own mirror of this topic. */
  readonly owner: NameOwner | undefined
  /** The link's own mirror of this topic, if its topic is still there. */
  readonly mirror: MirrorView | undefined
  /** Why the last attempt to create it failed. */
  readonly attempt: TaskError | undefined
}

/** Topics of this cluster and what is recorded of them. */
export interface TopicsHere {
  readonly desired: DesiredState
  readonly destination: Pick<Destination, 'topic'>
}

/** What facts are gathered from. */
export interface FactSources extends TopicsHere {
  /** Not needed by those who only ask about topics without a mirror. */
  readonly describe?: (record: MirrorRecord) => MirrorView
  readonly attempts?: ReadonlyMap<string, TaskError>
}

export function linkFacts(
  { linkId, name }: Pick<LinkRecord, 'linkId' | 'name'>,
  configs: LinkConfigs,
  health: LinkHealth | undefined,
): LinkFacts {
  return {
    linkId,
    name,
    prefix: configs.must('cluster.link.prefix'),
    isPaused: configs.must('cluster.link.paused'),
    autoCreate: configs.must('auto.create.mirror.topics.enable'),
    filters: parseNameFilters(configs.must('auto.create.mirror.topics.filters'), 'topicFilters'),
    health,
  }
}

/** `origins` is asked about what was found only. */
export function topicFacts(
  sources: FactSources,
  link: LinkFacts,
  topic: { readonly name: string; readonly atSource: AtSource; readonly origins: TopicOrigins },
): TopicFacts {
  const { name: sourceTopic, atSource, origins } = topic
  const mirrorTopic = `${link.prefix}${sourceTopic}`
  const record = ownMirror(sources, link.linkId, mirrorTopic)
  return {
    link,
    sourceTopic,
    mirrorTopic,
    atSource,
    origin:
      atSource.kind === 'found'
        ? origins(atSource.topic, mirrorTopic)
        : { kind: 'unknown', reason: 'the source told nothing of it' },
    owner: record ? undefined : nameOwner(sources, mirrorTopic),
    mirror: record && sources.describe?.(record),
    attempt: sources.attempts?.get(sourceTopic),
  }
}

/** The record of the link's mirror, while it is bound to the topic that has its name here. */
export function ownMirror(
  { desired, destination }: TopicsHere,
  linkId: Uuid,
  mirrorTopic: string,
): MirrorRecord | undefined {
  const record = desired.mirror(linkId, mirrorTopic)
  return record && destination.topic(mirrorTopic)?.topicId === record.topicId ? record : undefined
}

export function nameOwner({ desired, destination }: TopicsHere, mirrorTopic: string): NameOwner | undefined {
  if (desired.creationOf(mirrorTopic)) return { kind: 'creation' }
  const topic = destination.topic(mirrorTopic)
  if (!topic) return undefined
  const records = [...desired.mirrorsOfTopic(topic.topicId)]
  const record = records.find(({ state }) => state !== 'STOPPED') ?? records[0]
  if (!record) return { kind: 'topic' }
  return { kind: 'mirror', link: desired.link(record.linkId)?.name ?? record.linkId, state: record.state }
}
