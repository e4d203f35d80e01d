/** Reverse: the mirror becomes writable and its source a mirror of it, without a loss and without copying anew. Called by alter-mirrors; the reversal tasks of both sides walk it to its end. */

import { mapBounded } from '../coordination/bounded.ts'
import type { MirrorId } from '../coordination/mirror-changes.ts'
import { mirrorQueue } from '../coordination/mirror-queue.ts'
import { linkError } from '../errors.ts'
import { peerOf } from '../peers/peer-link.ts'
import type { SourceCluster } from '../ports.ts'
import { peerProblem } from '../reversal/reversal-parts.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import { type MirrorRecord, newReversal } from '../state-records/mirror-record.ts'
import { linkErrorOf } from '../states/link-health.ts'
import type { StatusContents } from '../status/status-contents.ts'
import { isMirroring } from '../status/status-records.ts'
import { lookAtMirror } from '../tasks/mirror-look.ts'
import { askSource, requireRunning } from './ask-source.ts'
import { assertTransition } from './assert-transition.ts'
import type { VerbResult } from './mirror-positions.ts'
import type { OperationContext } from './operation-context.ts'

export interface ReverseOptions {
  /** The old source ends as PAUSED. */
  readonly paused: boolean
  /** All topics of the request, if they change roles as one; else empty. */
  readonly together: readonly string[]
}

/** Topics that are looked at at the same time. */
const parallel = 8

interface Reversible {
  readonly record: MirrorRecord
  readonly result: VerbResult
}

/** Resolves when it is accepted, durably. Rejects with the table's refusal, or with why the other side cannot take part. */
export async function reverseMirror(
  context: OperationContext,
  id: MirrorId,
  { paused, together }: ReverseOptions,
): Promise<VerbResult> {
  const { record, result } = await assertReversible(context, id)
  const { topicId } = record
  await context.operations.run(mirrorQueue(id), async () => {
    const reason = 'reverse asked for: waiting for the other cluster to close its copy'
    await context.changes.transition({ ...id, topicId }, { event: 'reverse', reason }, next => {
      const of = { paused, together, sinceMs: context.clock.nowMs(), request: next.stateEpoch }
      return { ...next, reversal: newReversal(of) }
    })
  })
  context.runtime(id.linkId)?.task('Reversal')?.start()
  // Whether they are aborted is seen later.
  return { ...result, openTransactions: 0 }
}

/** What would be waited for, and which transactions end or are aborted; changes nothing. */
export async function previewReverse(context: OperationContext, id: MirrorId): Promise<VerbResult> {
  return (await assertReversible(context, id)).result
}

/**
 * Of those that are reversed as one either all are, or none: one that is refused when the source of another is closed already would
 * leave that without a writer. Those that were accepted when the same was asked for before are no obstacle.
 */
export async function assertAllReversible(
  context: OperationContext,
  linkId: MirrorId['linkId'],
  together: readonly string[],
): Promise<void> {
  const isAccepted = (name: string) => {
    const record = context.desired.mirror(linkId, name)
    return record?.state === 'PENDING_SYNCHRONIZE' && record.reversal?.together.join() === together.join()
  }
  const ids = together.filter(name => !isAccepted(name)).map(mirrorTopic => ({ linkId, mirrorTopic }))
  for (const id of ids) assertTransition(context, id, 'reverse')
  await mapBounded(ids, parallel, id => assertReversible(context, id, unasked))
}

const unasked = async (): Promise<VerbResult> => ({ partitions: [], openTransactions: 0 })

async function assertReversible(
  context: OperationContext,
  id: MirrorId,
  look: typeof outlook = outlook,
): Promise<Reversible> {
  const record = assertTransition(context, id, 'reverse')
  const link = context.desired.link(id.linkId)
  const refuse = (reason: string) => linkError('MIRROR_CANNOT_REVERSE', { topic: id.mirrorTopic, reason })
  if (link?.mode !== 'BIDIRECTIONAL') throw refuse(`link '${link?.name ?? id.linkId}' is not bidirectional`)
  if (record.mirrorTopic !== record.sourceTopic) throw refuse('it has another name than its source')
  const { destination } = context
  if (destination.topicConfig(record.topicId, 'unclean.leader.election.enable')?.value === 'true')
    throw refuse('unclean.leader.election.enable is on')
  const { runtime, source, status } = requireRunning(context, id.linkId)
  if (runtime.configs.must('cluster.link.paused')) throw linkError('LINK_PAUSED', { link: link.name })
  const { health } = runtime
  if (health.state === 'FAILED' && health.failure !== undefined) {
    const told = { error: linkErrorOf(health.failure), reason: health.message ?? '' }
    throw linkError('SOURCE_NOT_AVAILABLE', { link: link.name, ...told })
  }
  return await askSource(link.name, async () => {
    const peer = peerOf(await status.newest(), link, destination.clusterId)
    if (peer.kind === 'problem') throw refuse(peer.message)
    if (peer.link.isPaused) throw refuse(`link '${link.name}' is paused at the other cluster`)
    await assertSourceTakesPart(record, { source, contents: peer.contents, link, refuse })
    const result = await look(context, record, source)
    return {
      record,
      result: { ...result, warnings: [...peerWarnings(peer.contents, link), ...(result.warnings ?? [])] },
    }
  })
}

/** It may have been mended since that side looked last, so it is no reason to refuse. */
function peerWarnings(contents: StatusContents, { linkId, name }: LinkRecord): string[] {
  const problem = peerProblem(contents, linkId)
  if (problem === undefined) return []
  return [`It cannot begin as long as the other half of link '${name}' cannot work with this one: ${problem}.`]
}

interface OtherSide {
  readonly source: SourceCluster
  readonly contents: StatusContents
  readonly link: LinkRecord
  readonly refuse: (reason: string) => Error
}

async function assertSourceTakesPart(
  record: MirrorRecord,
  { source, contents, link, refuse }: OtherSide,
): Promise<void> {
  const { sourceTopic, sourceTopicId } = record
  if (!contents.takesReverses)
    throw refuse('the topics of the other cluster cannot be reversed (it runs an older version of Lockstep)')
  const [topic] = await source.describeTopics([sourceTopic])
  if (topic?.topicId !== sourceTopicId)
    throw linkError('SOURCE_TOPIC_NOT_FOUND', { topic: sourceTopic, link: link.name })
  const mirror = contents.mirrorsNamed(sourceTopic).find(of => of.topicId === sourceTopicId && isMirroring(of))
  if (mirror) throw refuse(`it is a mirror at the other cluster, too (of link '${mirror.linkName}')`)
  const configs = (await source.describeTopicConfigs([sourceTopic])).get(sourceTopic)
  if (configs?.get('unclean.leader.election.enable')?.value === 'true')
    throw refuse('unclean.leader.election.enable is on at the other cluster')
}

async function outlook(context: OperationContext, record: MirrorRecord, source: SourceCluster): Promise<VerbResult> {
  const { logs, waiting, warnings } = await lookAtMirror(context, record, { source })
  const open = await source.openTransactions(record.sourceTopic, [...record.startOffsets.keys()]).catch(() => [])
  const seconds = context.reverseTransactionWaitMs / 1000
  const producers = new Set(open.map(({ producerId }) => producerId)).size
  const ofOpen = `${producers} transaction(s) are open at the source: it waits for them (by its own setting; ${seconds} s here), then aborts them.`
  return {
    partitions: logs.map((log, partition) => ({
      ...{ partition, endOffset: log.state().logEndOffset, stopOffset: null, lastKnownLag: null },
      waitingFor: waiting[partition] ?? null,
    })),
    openTransactions: producers,
    warnings: producers === 0 ? warnings : [...warnings, ofOpen],
  }
}
