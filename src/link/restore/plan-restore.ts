/** Everything about a restore that can be found out before anything is cut: is it this topic's counterpart, may it be done, and where does each partition part. Called by restore-mirror, twice: before and after nobody can write any more. */
import { mapBounded } from '../coordination/bounded.ts'
import { linkError } from '../errors.ts'
import { askSource, requireRunning } from '../operations/ask-source.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import { peerOf } from '../peers/peer-link.ts'
import type { DestinationTopic, SourceTopic } from '../ports.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import type { CutRecord } from '../state-records/mirror-record.ts'
import { checkedChain } from '../status/chain-rules.ts'
import type { MirrorChain } from '../status/source-chain.ts'
import type { StatusContents } from '../status/status-contents.ts'
import { isMirroring } from '../status/status-records.ts'
import { findCutPoint } from './cut-point.ts'
import { countRecords } from './divergent-tail.ts'
import { recordedEnds } from './recorded-ends.ts'

/** Partitions that are looked at at the same time. */
const parallel = 8

export interface RestorePlan {
  readonly topic: DestinationTopic
  readonly sourceTopic: SourceTopic
  readonly chain: MirrorChain
  /** Index = partition. */
  readonly cuts: readonly CutRecord[]
  readonly warnings: readonly string[]
}

/** Changes nothing. Throws MIRROR_CANNOT_RESTORE with the reason, SOURCE_NOT_AVAILABLE, MIRROR_LOOP. */
export async function planRestore(context: OperationContext, link: LinkRecord, name: string): Promise<RestorePlan> {
  const refuse = (reason: string) => linkError('MIRROR_CANNOT_RESTORE', { topic: name, reason })
  const topic = localTopic(context, link, { name, refuse })
  const { source, status, runtime } = requireRunning(context, link.linkId)
  if (runtime.configs.must('cluster.link.paused')) throw linkError('LINK_PAUSED', { link: link.name })
  return await askSource(link.name, async () => {
    const { clusterId } = context.destination
    const [sourceTopic] = await source.describeTopics([name])
    if (!sourceTopic) throw linkError('SOURCE_TOPIC_NOT_FOUND', { topic: name, link: link.name })
    const view = await status.newest()
    const peer = peerOf(view, link, clusterId)
    if (peer.kind === 'problem') throw peer.why === 'failed' ? notRead(link, peer.message) : refuse(peer.message)
    assertPromoted(peer.contents, link, { topic: sourceTopic, refuse })
    const { chain, warnings: unchecked } = checkedChain(view, { link, sourceTopic, mirrorTopic: name, clusterId })
    if (sourceTopic.partitions.length < topic.partitions)
      throw refuse(`it has ${topic.partitions} partitions, at the other cluster ${sourceTopic.partitions.length}`)
    const limits = recordedEnds(context, link, { topic, sourceTopic, contents: peer.contents })
    const warnings = [...unchecked]
    const cuts = await mapBounded([...Array(topic.partitions).keys()], parallel, async partition => {
      const limit = limits.get(partition)
      if (limit === undefined)
        throw refuse(`nothing tells what partition ${partition} has in common with that of the other cluster`)
      const log = await context.destination.openEndingLog(topic.topicId, partition)
      const found = await findCutPoint({ source, sourceTopic: name, partition, log }, limit)
      if (typeof found === 'string') throw refuse(`partition ${partition}: ${found}`)
      warnings.push(...found.warnings.map(warning => `Partition ${partition}: ${warning}.`))
      const { offset, sourceEpoch } = found
      const { logEndOffset: endOffset } = log.state()
      return { partition, offset, endOffset, messages: await countRecords(log, offset), sourceEpoch }
    })
    return { topic, sourceTopic, chain, cuts, warnings }
  })
}

/** It may be read the next time, so nothing is given up because of it. */
const notRead = ({ name }: LinkRecord, reason: string) =>
  linkError('SOURCE_NOT_AVAILABLE', { link: name, error: 'UNKNOWN', reason })

type Refuse = (reason: string) => Error

function localTopic(
  { destination, desired }: OperationContext,
  link: LinkRecord,
  { name, refuse }: { readonly name: string; readonly refuse: Refuse },
): DestinationTopic {
  if (link.mode !== 'BIDIRECTIONAL') throw refuse(`link '${link.name}' is not bidirectional`)
  if ((link.configs.get('cluster.link.prefix') ?? '') !== '') throw refuse(`link '${link.name}' has a prefix`)
  const topic = destination.topic(name)
  if (!topic) throw refuse('it does not exist here')
  for (const { linkId, state } of desired.mirrorsOfTopic(topic.topicId))
    if (linkId !== link.linkId && state !== 'STOPPED')
      throw refuse(`it is a mirror of link '${desired.link(linkId)?.name ?? linkId}'`)
  if (destination.topicConfig(topic.topicId, 'unclean.leader.election.enable')?.value === 'true')
    throw refuse('unclean.leader.election.enable is on, so what it has may change behind the comparison')
  return topic
}

/** Two copies that both follow each other would have no writer. */
function assertPromoted(
  contents: StatusContents,
  link: LinkRecord,
  { topic, refuse }: { readonly topic: SourceTopic; readonly refuse: Refuse },
): void {
  const mirror = contents.mirrorsNamed(topic.name).find(({ linkId }) => linkId === link.linkId)
  if (mirror && mirror.topicId === topic.topicId && isMirroring(mirror))
    throw refuse(`the other cluster mirrors it (${mirror.state}): promote it or fail it over there first`)
}
