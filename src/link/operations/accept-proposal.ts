/** What the leader of a mirror partition on another node asks the link coordinator to write: looked at, then written as it is. Called by the engine. */
import type { StateProposal, StateRecord } from '../ports.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { decodeStateRecord } from '../state-records/record-codec.ts'
import type { SourceEpochsRecord } from '../state-records/source-epochs-record.ts'
import type { OperationContext } from './operation-context.ts'

/** Writes those records that their sender may have written; the others are left out, and it decides again. */
export async function acceptProposal(context: OperationContext, proposal: StateProposal): Promise<void> {
  for (const record of proposal.records) {
    const refusal = await accept(context, proposal, record)
    if (refusal !== undefined) context.logger.warn('a proposal is refused', { sender: proposal.sender, refusal })
  }
}

/** Resolves to why not. */
async function accept(
  context: OperationContext,
  proposal: StateProposal,
  record: StateRecord,
): Promise<string | undefined> {
  const change = decodeStateRecord(record)
  if (change.kind === 'source-epochs') {
    await context.journal.certain()
    const refusal = epochsRefusal(context, proposal, change.record)
    if (refusal === undefined) await context.journal.append([record])
    return refusal
  }
  if (change.kind !== 'mirror') return `it may not write a record of kind ${change.kind}`
  let refusal: string | undefined
  await context.changes.accept(change.record, record, () => {
    refusal = mirrorRefusal(context, proposal, change.record)
    return refusal === undefined
  })
  return refusal
}

function epochsRefusal(
  { desired }: OperationContext,
  { leads, isCurrent }: StateProposal,
  { topicId, partition }: SourceEpochsRecord,
): string | undefined {
  if (!leads(topicId, partition)) return `it does not lead partition ${partition} of topic ${topicId}`
  const mirrors = [...desired.mirrorsOfTopic(topicId)].filter(({ state }) => state !== 'STOPPED')
  if (mirrors.length === 0) return `topic ${topicId} is no mirror`
  // Whoever comes to lead a partition after the others have said that they stopped appends nothing.
  if (mirrors.every(({ stopping }) => stopping !== undefined)) return `the mirror of topic ${topicId} stops`
  return isCurrent() ? undefined : stale
}

/** A leader tells of failures, troubles and incidents; states change by verbs alone. */
function mirrorRefusal(
  { desired }: OperationContext,
  { leads, isCurrent }: StateProposal,
  next: MirrorRecord,
): string | undefined {
  const { linkId, mirrorTopic, topicId } = next
  const current = desired.mirror(linkId, mirrorTopic)
  if (current?.topicId !== topicId) return `there is no such mirror of topic '${mirrorTopic}'`
  if (!current.startOffsets.some((_, partition) => leads(topicId, partition)))
    return `it leads no partition of '${mirrorTopic}'`
  if (!isCurrent()) return stale
  const failed = next.state === 'FAILED' && current.state !== 'STOPPED' && current.stopping === undefined
  if (next.state !== current.state && !failed) return `a mirror does not go from ${current.state} to ${next.state} so`
  const { stopping, stopPoints, startOffsets, sourceTopicId } = next
  const isSame =
    (stopping === undefined) === (current.stopping === undefined) &&
    stopPoints.length === current.stopPoints.length &&
    startOffsets.length === current.startOffsets.length &&
    sourceTopicId === current.sourceTopicId
  return isSame ? undefined : `it may tell what happened to '${mirrorTopic}', and nothing else`
}

const stale = 'it was decided before another record was known'
