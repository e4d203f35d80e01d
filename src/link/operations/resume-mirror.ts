/**
 * Resume: a paused mirror goes on at its own log end; a failed one too, if its source still has what the mirror ends with
 * (semantics §3). Called by alter-mirrors.
 */

import { messageOf } from '../../core/errors.ts'
import { mapBounded } from '../coordination/bounded.ts'
import type { MirrorId } from '../coordination/mirror-changes.ts'
import { mirrorQueue } from '../coordination/mirror-queue.ts'
import { linkError } from '../errors.ts'
import { askBounds, compareBatch } from '../mirror/compare-batches.ts'
import { divergenceOf } from '../mirror/epoch-judgement.ts'
import { rangesBelow } from '../mirror/epoch-ledger.ts'
import { isSameTopicId } from '../mirror/topic-identity.ts'
import type { SourceCluster, SourceTopic } from '../ports.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { askSource, requireRunning } from './ask-source.ts'
import { assertTransition } from './assert-transition.ts'
import { mirrorPositions, type VerbResult } from './mirror-positions.ts'
import type { OperationContext } from './operation-context.ts'

/** Partitions compared at the same time. */
const parallel = 8

/** Resolves when the mirror is fetched again. Rejects with the table's refusal or MIRROR_CANNOT_RESUME. */
export async function resumeMirror(context: OperationContext, id: MirrorId): Promise<VerbResult> {
  // Outside of the mirror's queue: a failover does not wait for a source that does not answer.
  const record = await assertResumable(context, id)
  const deleted = await deletedAtSource(context, record)
  return await context.operations.run(mirrorQueue(id), async () => {
    const again = record.failedFrom === 'PENDING_STOPPED' ? '; the promote that failed has to be asked for again' : ''
    const { topicId } = record
    const event = { event: 'resume', reason: `resumed on request${again}` } as const
    await context.changes.transition({ ...id, topicId }, event)
    await context.reconcile()
    return withDeleted(mirrorPositions(context, id), deleted)
  })
}

export async function previewResume(context: OperationContext, id: MirrorId): Promise<VerbResult> {
  const record = await assertResumable(context, id)
  const deleted = await deletedAtSource(context, record)
  return withDeleted(mirrorPositions(context, id), deleted)
}

function withDeleted(result: VerbResult, deleted: ReadonlyMap<number, number>): VerbResult {
  const partitions = result.partitions.map(part => {
    const deletedAtSource = deleted.get(part.partition)
    return deletedAtSource === undefined ? part : { ...part, deletedAtSource }
  })
  return { ...result, partitions }
}

/** By partition, how far the source's log start is ahead of the mirror's; nothing for a source that does not answer. */
async function deletedAtSource(context: OperationContext, record: MirrorRecord): Promise<ReadonlyMap<number, number>> {
  const runtime = context.runtime(record.linkId)
  const partitions = [...record.startOffsets.keys()]
  if (!runtime?.source || record.state === 'ACTIVE') return new Map()
  const signal = AbortSignal.timeout(runtime.configs.must('request.timeout.ms'))
  try {
    const question = { spec: 'earliest', isolation: 'read_uncommitted', signal } as const
    const earliest = await runtime.source.listOffsets(record.sourceTopic, partitions, question)
    const found = await mapBounded(partitions, parallel, async partition => {
      const { logStartOffset } = (await context.destination.openMirrorLog(record.topicId, partition)).state()
      return [partition, Math.max(0, (earliest.get(partition) ?? logStartOffset) - logStartOffset)] as const
    })
    return new Map(found)
  } catch (error) {
    context.logger.debug('a resume does not know what the source has deleted', { error: messageOf(error) })
    return new Map()
  }
}

async function assertResumable(context: OperationContext, id: MirrorId): Promise<MirrorRecord> {
  const record = assertTransition(context, id, 'resume')
  if (record.state !== 'FAILED') return record
  const link = context.desired.link(id.linkId)?.name ?? id.linkId
  const { source } = requireRunning(context, id.linkId)
  const reason = await askSource(link, () => obstacle(context, record, source))
  if (reason !== undefined) throw linkError('MIRROR_CANNOT_RESUME', { topic: id.mirrorTopic, reason })
  return record
}

/** Why the source is not the one that this mirror is a copy of; undefined = it is. */
async function obstacle(
  context: OperationContext,
  record: MirrorRecord,
  source: SourceCluster,
): Promise<string | undefined> {
  const { sourceTopic } = record
  const [topic] = await source.describeTopics([sourceTopic])
  const changed = topicObstacle(topic, record)
  if (changed !== undefined) return changed
  // With the policy to truncate, what has parted is cut when the partition starts.
  const policy = context.runtime(record.linkId)?.configs.must('mirror.unclean.truncation.policy')
  if (policy === 'truncate') return undefined
  const failed = record.failures.map(({ partition }) => partition)
  const found = await mapBounded(failed, parallel, partition =>
    partitionObstacle(context, record, { source, partition }),
  )
  return found.find(reason => reason !== undefined)
}

function topicObstacle(topic: SourceTopic | undefined, record: MirrorRecord): string | undefined {
  const { sourceTopic, sourceTopicId, startOffsets } = record
  if (!topic) return `the source has no topic '${sourceTopic}'`
  const { topicId, partitions } = topic
  if (!isSameTopicId(topicId, sourceTopicId))
    return `the source topic has id ${topicId} instead of ${sourceTopicId}: it was deleted and created anew`
  return partitions.length < startOffsets.length
    ? `the source topic has ${partitions.length} partitions, the mirror ${startOffsets.length}`
    : undefined
}

async function partitionObstacle(
  context: OperationContext,
  record: MirrorRecord,
  { source, partition }: { source: SourceCluster; partition: number },
): Promise<string | undefined> {
  const { topicId, sourceTopic, sourceClusterId } = record
  const log = await context.destination.openMirrorLog(topicId, partition)
  const state = log.state()
  if (state.logStartOffset === state.logEndOffset) return undefined
  const ranges = rangesBelow(context.desired.epochRanges(topicId, partition, sourceClusterId), state.logEndOffset)
  const requestedEpoch = ranges.at(-1)?.epoch
  if (requestedEpoch !== undefined) {
    const answer = await source.endOfEpoch(sourceTopic, partition, { epoch: requestedEpoch })
    const divergence = divergenceOf({ ...answer, requestedEpoch }, { ...state, ranges })
    if (divergence) return `partition ${partition}: ${divergence.reason}`
  }
  const last = await log.lastBatch()
  if (!last) return undefined
  const copies = { source, sourceTopic, partition, log }
  const verdict = await compareBatch(copies, last, await askBounds(copies))
  return verdict === 'different'
    ? `partition ${partition}: the batch at offset ${last.baseOffset}, the mirror's last, is another one at the source`
    : undefined
}
