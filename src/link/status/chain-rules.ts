/** What the chain behind a source topic means for a mirror that is to be created (semantics §3, §8); asked by plan-mirror and by the evaluation of topics. */
import { linkError } from '../errors.ts'
import type { SourceTopic } from '../ports.ts'
import type { TopicOrigins } from '../source-topics/topic-origins.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import {
  chainOf,
  chainText,
  type MirrorChain,
  mirrorChain,
  type SourceChain,
  type SourceStatusView,
} from './source-chain.ts'

/** The mirror that is to be: of a topic of the link's remote cluster, under this name. */
export interface PlannedMirror {
  readonly link: Pick<LinkRecord, 'remoteClusterId'>
  readonly sourceTopic: Pick<SourceTopic, 'name' | 'topicId'>
  readonly mirrorTopic: string
  /** Id of this cluster. */
  readonly clusterId: string
}

/**
 * The chain behind it, with sentences about what could not be checked. Throws MIRROR_LOOP where the source topic is,
 * directly or through others, a mirror of a topic of that name here.
 */
export function checkedChain(
  view: SourceStatusView,
  planned: PlannedMirror,
): { readonly chain: MirrorChain; readonly warnings: readonly string[] } {
  const behind = chainOf(view, planned.sourceTopic)
  const chain = chainTo(planned, behind)
  if (chain.isLoop) throw linkError('MIRROR_LOOP', { topic: planned.mirrorTopic, of: chainText(chain.hops.slice(1)) })
  return { chain, warnings: warningsOf(behind, chain) }
}

function warningsOf(behind: SourceChain, { hops, end }: MirrorChain): string[] {
  if (behind.kind === 'unknown') return [`Not checked for loops: ${behind.message}.`]
  if (end === 'unchecked')
    return [`Not checked for loops beyond cluster ${hops.at(-1)?.clusterId}: ${chainText(hops)}.`]
  if (end === 'too-long') return [`Not checked for loops beyond ${hops.length} clusters: ${chainText(hops)}.`]
  return end === 'loop' ? [`The source topic is in a loop of mirrors, which nobody can write: ${chainText(hops)}.`] : []
}

/** What the evaluation of topics (auto-create, explain) asks, from one reading of what the remote cluster publishes. */
export function topicOrigins(
  view: SourceStatusView,
  { link, clusterId }: Pick<PlannedMirror, 'link' | 'clusterId'>,
): TopicOrigins {
  return (sourceTopic, mirrorTopic) => {
    const behind = chainOf(view, sourceTopic)
    if (behind.kind === 'origin') return { kind: 'ordinary' }
    if (behind.kind === 'unknown')
      return { kind: 'unknown', reason: behind.message, publishesNothing: behind.why === 'absent' }
    const { isLoop } = chainTo({ link, sourceTopic, mirrorTopic, clusterId }, behind)
    return { kind: 'mirror', of: chainText(behind.hops), isLoop }
  }
}

/** From this cluster back; no topic of the mirror's name is there yet, so any that the chain names is this one. */
function chainTo({ link, sourceTopic, mirrorTopic, clusterId }: PlannedMirror, behind: SourceChain): MirrorChain {
  const source = { clusterId: link.remoteClusterId ?? '', topic: sourceTopic.name, topicId: sourceTopic.topicId }
  return mirrorChain({ clusterId, topic: mirrorTopic, topicId: undefined }, source, behind)
}
