/** What both sides of a reverse need, and the words that they share. Used by the two walks and the task that runs them. */

import type { Uuid } from '../../core/uuid.ts'
import { mapBounded } from '../coordination/bounded.ts'
import type { MirrorLog, SourceCluster } from '../ports.ts'
import type { SettledParts } from '../restore/settle-groups.ts'
import type { EngineParts } from '../runtime/engine-parts.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import type { MirrorRecord, ReversalRecord } from '../state-records/mirror-record.ts'
import type { StatusContents } from '../status/status-contents.ts'
import type { ReversalStatus } from '../status/status-records.ts'

export interface ReversalParts extends EngineParts, Pick<SettledParts, 'runtime'> {
  readonly link: LinkRecord
  readonly source: SourceCluster
  /** A mirror has everything, and is PENDING_STOPPED from here on. */
  readonly promote: () => void
}

export type ReversedTopic = Required<Pick<MirrorRecord, 'linkId' | 'mirrorTopic' | 'topicId'>>

export const topicOf = ({ linkId, mirrorTopic, topicId }: MirrorRecord): ReversedTopic => {
  return { linkId, mirrorTopic, topicId }
}

/** How far the other side is with the reverse that this record is about; undefined = it has not heard of it, or is at another one. */
export function peerReversal(contents: StatusContents, record: MirrorRecord): ReversalStatus | undefined {
  const found = contents.reversalOf(record.linkId, record.mirrorTopic)
  const isOf = found?.topicId === record.sourceTopicId && found.request === record.reversal?.request
  return isOf ? found : undefined
}

/** Why the other half of the link cannot work with this one, as it says itself. */
export const peerProblem = (contents: StatusContents, linkId: Uuid): string | undefined =>
  contents.links().find(link => link.linkId === linkId)?.problem

/** Why the other half of the link begins nothing now, as it says itself. */
export function peerHindrance(contents: StatusContents, linkId: Uuid): string | undefined {
  const isPaused = contents.links().find(link => link.linkId === linkId)?.isPaused === true
  return peerProblem(contents, linkId) ?? (isPaused ? 'it is paused there' : undefined)
}

/** Is what was the mirror of this topic still a topic of the other cluster, whatever it is by now? Rejects with SourceError. */
export async function isTopicThere(
  source: Pick<SourceCluster, 'describeTopics'>,
  { mirrorTopic, sourceTopicId }: MirrorRecord,
): Promise<boolean> {
  const [topic] = await source.describeTopics([mirrorTopic])
  return topic?.topicId === sourceTopicId
}

/** A clause. */
export const ordinaryThere = 'what was its mirror is an ordinary topic of the other cluster, which may be written'

/** Partitions whose logs are worked on at the same time. */
export const parallel = 8

export const openLogs = (parts: Pick<EngineParts, 'destination'>, record: MirrorRecord): Promise<MirrorLog[]> =>
  mapBounded([...record.startOffsets.keys()], parallel, partition =>
    parts.destination.openMirrorLog(record.topicId, partition),
  )

export const forEachLog = (logs: readonly MirrorLog[], work: (log: MirrorLog) => Promise<unknown>) =>
  mapBounded(logs, parallel, work)

/** Durable when it resolves. */
export async function noteReversal(
  { changes }: Pick<EngineParts, 'changes'>,
  id: ReversedTopic,
  change: Partial<ReversalRecord> & { readonly told?: string },
): Promise<void> {
  const { told, ...fields } = change
  await changes.update(id, record => {
    if (!record.reversal) return record
    return { ...record, reason: told ?? record.reason, reversal: { ...record.reversal, ...fields } }
  })
}

/** What it is at; written only when it changes. */
export async function tell(
  { changes }: Pick<EngineParts, 'changes'>,
  id: ReversedTopic,
  reason: string,
): Promise<void> {
  await changes.update(id, record => (record.reason === reason ? record : { ...record, reason }))
}
