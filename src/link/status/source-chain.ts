/** Is a topic of another cluster a mirror, and of what? Answered from what that cluster publishes; asked at creation, by auto-create and by the chain check. */
import { messageOf } from '../../core/errors.ts'
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import { isSameTopicId } from '../mirror/topic-identity.ts'
import { SourceError, type SourceTopicConfig } from '../ports.ts'
import type { StatusContents } from './status-contents.ts'
import { type ChainEnd, type ChainHop, hopsMax, isMirroring, type MirrorStatus } from './status-records.ts'

/** What reading `__lockstep_status` of a remote cluster came to. */
export type SourceStatusView =
  | { readonly kind: 'read'; readonly contents: StatusContents }
  /** There is none (no Lockstep, or an old one), or it holds nothing yet. */
  | { readonly kind: 'absent' }
  /** The link's principal may not read it. */
  | { readonly kind: 'refused'; readonly message: string }
  /** Not now; `contents` = what was read before. */
  | { readonly kind: 'failed'; readonly error: unknown; readonly contents: StatusContents | undefined }

/** Will another reading do better, rather than another record? */
export const isOutage = (view: SourceStatusView): view is Extract<SourceStatusView, { readonly kind: 'failed' }> =>
  view.kind === 'failed' &&
  !(view.error instanceof SourceError && ['protocol', 'cluster-id'].includes(view.error.failure))

export type SourceChain =
  | { readonly kind: 'origin' }
  /** `hops`: what the topic mirrors, then what that mirrors, and so on. */
  | {
      readonly kind: 'mirror'
      readonly hops: readonly ChainHop[]
      readonly end: ChainEnd
      readonly record: MirrorStatus
    }
  | { readonly kind: 'unknown'; readonly why: 'absent' | 'refused' | 'failed' | 'unreadable'; readonly message: string }

/** A topic of the remote cluster. The zero uuid stands for any topic of the name. */
export interface AskedTopic {
  readonly name: string
  readonly topicId: Uuid
}

export function chainOf(view: SourceStatusView, topic: AskedTopic): SourceChain {
  switch (view.kind) {
    case 'absent':
      return { kind: 'unknown', why: 'absent', message: 'the remote cluster publishes no __lockstep_status' }
    case 'refused':
      return { kind: 'unknown', why: 'refused', message: view.message }
    case 'failed': {
      const message = `__lockstep_status of the remote cluster could not be read: ${messageOf(view.error)}`
      return { kind: 'unknown', why: 'failed', message }
    }
    case 'read': {
      const record = mirrorOf(view.contents, topic)
      if (record) return { kind: 'mirror', hops: record.chain, end: knownEnd(record.chainEnd), record }
      const problem = view.contents.problemOf(topic.name)
      if (problem === undefined) return { kind: 'origin' }
      const message = `__lockstep_status of the remote cluster does not say what topic ${topic.name} is: ${problem}`
      return { kind: 'unknown', why: 'unreadable', message }
    }
  }
}

/**
 * What the configs of a topic really are where its cluster says so, since a cluster may hold other values in their place
 * while a topic is a mirror. Also from what was read before a failure. undefined = as the cluster describes them.
 */
export function trueConfigs(
  view: SourceStatusView,
  topic: AskedTopic,
): ReadonlyMap<string, SourceTopicConfig> | undefined {
  const contents = view.kind === 'read' || view.kind === 'failed' ? view.contents : undefined
  const record = contents && mirrorOf(contents, topic)
  if (!record || record.configs.length === 0) return undefined
  return new Map(record.configs.map(({ name, value, overridden }) => [name, { value, overridden }]))
}

/** May a topic of that name be a mirror at the source, so far as its cluster says? */
export function isMirrorName(view: SourceStatusView, topic: string): boolean {
  const contents = view.kind === 'read' || view.kind === 'failed' ? view.contents : undefined
  return contents?.mirrorsNamed(topic).some(isMirroring) ?? false
}

/** The record by which a topic is a mirror now. */
function mirrorOf(contents: StatusContents, { name, topicId }: AskedTopic): MirrorStatus | undefined {
  return contents.mirrorsNamed(name).find(record => isMirroring(record) && isSameTopicId(record.topicId, topicId))
}

const ends: readonly string[] = ['origin', 'unchecked', 'loop', 'too-long'] satisfies ChainEnd[]

/** A word of another version says nothing that could be relied on. */
export const knownEnd = (text: string): ChainEnd => (ends.includes(text) ? (text as ChainEnd) : 'unchecked')

/** What stands behind a mirror here: its source, then the chain behind that. */
export interface MirrorChain {
  readonly hops: readonly ChainHop[]
  readonly end: ChainEnd
  /** The chain comes back to the mirror itself. */
  readonly isLoop: boolean
}

/** Where a mirror is, or is to be; without an id it does not exist yet, and any topic of the name counts as it. */
export interface MirrorPlace {
  readonly clusterId: string
  readonly topic: string
  readonly topicId: Uuid | undefined
}

/** The whole chain of a mirror: followed until it comes back to where it was, and never further than `hopsMax`. */
export function mirrorChain(place: MirrorPlace, source: ChainHop, behind: SourceChain | MirrorChain): MirrorChain {
  const further = 'hops' in behind ? behind : { hops: [], end: 'origin' as const }
  const end: ChainEnd = 'kind' in behind && behind.kind === 'unknown' ? 'unchecked' : further.end
  const hops: ChainHop[] = []
  for (const hop of [source, ...further.hops]) {
    if (isPlace(hop, place)) return { hops: [...hops, hop], end: 'loop', isLoop: true }
    if (hops.some(known => isSameTopic(known, hop))) return { hops, end: 'loop', isLoop: false }
    if (hops.length === hopsMax) return { hops, end: 'too-long', isLoop: false }
    hops.push(hop)
  }
  return { hops, end, isLoop: false }
}

const isPlace = ({ clusterId, topic, topicId }: ChainHop, place: MirrorPlace): boolean =>
  clusterId === place.clusterId &&
  topic === place.topic &&
  (place.topicId === undefined || topicId === ZERO_UUID || topicId === place.topicId)

const isSameTopic = (left: ChainHop, right: ChainHop): boolean =>
  left.clusterId === right.clusterId && left.topic === right.topic && left.topicId === right.topicId

/** For messages: `orders of cluster A, orders of cluster B`. */
export const chainText = (hops: readonly ChainHop[]): string =>
  hops.map(({ topic, clusterId }) => `${topic} of cluster ${clusterId}`).join(', ')
