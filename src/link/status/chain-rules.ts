/** What the chain behind a source topic means for a mirror that is to be created (semantics §3, §8); asked by plan-mirror and by auto-create. */
import { linkError } from '../errors.ts'
import type { SourceTopic } from '../ports.ts'
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
  { link, sourceTopic, mirrorTopic, clusterId }: PlannedMirror,
): { readonly chain: MirrorChain; readonly warnings: readonly string[] } {
  const behind = chainOf(view, sourceTopic)
  const source = { clusterId: link.remoteClusterId ?? '', topic: sourceTopic.name, topicId: sourceTopic.topicId }
  const chain = mirrorChain({ clusterId, topic: mirrorTopic, topicId: undefined }, source, behind)
  if (chain.isLoop) throw linkError('MIRROR_LOOP', { topic: mirrorTopic, chain: chainText(chain.hops) })
  return { chain, warnings: warningsOf(behind, chain) }
}

function warningsOf(behind: SourceChain, { hops, end }: MirrorChain): string[] {
  if (behind.kind === 'unknown') return [`Not checked for loops: ${behind.message}.`]
  if (end === 'unchecked')
    return [`Not checked for loops beyond cluster ${hops.at(-1)?.clusterId}: ${chainText(hops)}.`]
  if (end === 'too-long') return [`Not checked for loops beyond ${hops.length} clusters: ${chainText(hops)}.`]
  return end === 'loop' ? [`The source topic is in a loop of mirrors, which nobody can write: ${chainText(hops)}.`] : []
}

/** Why auto-create leaves a topic out: with a prefix, mirrors would be mirrored under ever longer names (semantics §8). */
export function autoCreateRefusal(behind: SourceChain, prefix: string): string | undefined {
  if (prefix === '' || behind.kind !== 'mirror') return undefined
  return `it is itself a mirror (of ${chainText(behind.hops)}), and the link has a prefix`
}
