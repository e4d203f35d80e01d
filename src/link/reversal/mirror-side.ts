/**
 * The mirror of a reverse: it alone decides. It takes over when it has everything that the closed source has, and follows again if the
 * source is to stay what it is. Run by the reversal task; the promotion task carries on from PENDING_STOPPED.
 */
import type { MirrorLog } from '../ports.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { withHistory } from '../states/transition.ts'
import type { StatusContents } from '../status/status-contents.ts'
import { openLogs, peerHindrance, peerReversal, type ReversalParts, tell, topicOf } from './reversal-parts.ts'

/** A reverse that is not decided yet. */
export const isWalking = ({ state, reversal, stopping }: MirrorRecord): boolean =>
  reversal !== undefined && stopping === undefined && (state === 'PENDING_SYNCHRONIZE' || state === 'PENDING_STOPPED')

export async function walkMirror(parts: ReversalParts, contents: StatusContents, record: MirrorRecord): Promise<void> {
  const { changes } = parts
  const { state, reversal, held, startOffsets } = record
  const id = topicOf(record)
  const source = peerReversal(contents, record)
  if (!reversal) return
  if (source?.withdrawn) return await giveBack(parts, record)
  if (state !== 'PENDING_SYNCHRONIZE' || held) return
  if (!source) return await tell(parts, id, waitingFor(contents, record))
  const { sealedOffsets, reason } = source
  if (sealedOffsets.length === 0) return await tell(parts, id, `the other cluster: ${reason || 'closing its copy'}`)
  if (sealedOffsets.length !== startOffsets.length)
    return await tell(parts, id, `the source has ${sealedOffsets.length} partitions: waiting for them to be mirrored`)
  const logs = await openLogs(parts, record)
  const behind = firstBehind(logs, sealedOffsets)
  if (behind >= 0)
    return await tell(
      parts,
      id,
      `waiting for partition ${behind}, which ends at ${sealedOffsets[behind]}${pausedHere(parts, record)}`,
    )
  const together = reversal.together.filter(other => other !== record.mirrorTopic)
  const event = { event: 'caughtUp', reason: 'everything of the source is here' } as const
  await changes.transition(id, event, next => ({ ...next, together }))
  parts.promote()
}

const pausedHere = ({ runtime }: ReversalParts, { linkId }: MirrorRecord): string =>
  runtime(linkId)?.configs.must('cluster.link.paused') ? ' (the link is paused here)' : ''

/** The source has not heard of it, or not closed yet; whether it ever can is for its side of the link to say. */
function waitingFor(contents: StatusContents, { linkId }: MirrorRecord): string {
  const waiting = 'waiting for the other cluster to close its copy'
  const hindrance = peerHindrance(contents, linkId)
  return hindrance === undefined ? waiting : `${waiting}, which its side of the link cannot do: ${hindrance}`
}

/** Those that were to be reversed as one stay what they are as one. */
async function giveBack({ desired, changes }: ReversalParts, record: MirrorRecord): Promise<void> {
  const { linkId, mirrorTopic, reversal } = record
  await changes.transition(topicOf(record), {
    event: 'peerWithdraws',
    reason: 'the source was failed over, and stays the source',
  })
  for (const name of reversal?.together ?? []) {
    const other = desired.mirror(linkId, name)
    if (name === mirrorTopic || !other || !isWalking(other)) continue
    const reason = `'${mirrorTopic}', which was to be reversed together with it, stays as it was`
    await changes.transition(topicOf(other), { event: 'peerWithdraws', reason })
  }
}

const firstBehind = (logs: readonly MirrorLog[], sealedOffsets: readonly number[]): number =>
  logs.findIndex((log, partition) => log.state().logEndOffset !== sealedOffsets[partition])

/** Are the sources of these still closed where their logs end? To be asked right before it is decided that they are taken over from. */
export function confirmsReversal(
  contents: StatusContents | undefined,
  looks: readonly { readonly record: MirrorRecord; readonly logs: readonly MirrorLog[] }[],
): boolean {
  return looks.every(({ record, logs }) => {
    if (!record.reversal) return true
    const source = contents && peerReversal(contents, record)
    if (!source || source.withdrawn || source.sealedOffsets.length !== logs.length) return false
    return firstBehind(logs, source.sealedOffsets) < 0
  })
}

/** How long it is looked often whether the other cluster follows. */
const followsSoonMs = 60_000

/** It has taken over, and the other cluster may not follow yet. */
export const isFollowed = ({ state, reversal }: MirrorRecord): boolean =>
  state === 'STOPPED' && reversal !== undefined && !reversal.withdrawn && reversal.windowMs === undefined

export const isFollowedSoon = (record: MirrorRecord, nowMs: number): boolean =>
  isFollowed(record) && nowMs - record.stateTimeMs < followsSoonMs

/** Notes, once, that roles have changed on both sides, and what it took. */
export async function noteFollowed({ changes, clock }: ReversalParts, contents: StatusContents, record: MirrorRecord) {
  const { linkId, mirrorTopic, sourceTopicId } = record
  const peer = contents.mirrorOf(linkId, { mirrorTopic, topicId: sourceTopicId })
  const source = peerReversal(contents, record)
  if (!source || source.windowMs === undefined || (peer?.state !== 'ACTIVE' && peer?.state !== 'PAUSED')) return
  const { windowMs, abortedTransactions } = source
  const counted = abortedTransactions === 0 ? '' : `; ${abortedTransactions} transaction(s) were aborted`
  const reason = `the other cluster follows; nobody could write for ${windowMs} ms${counted}`
  await changes.update(topicOf(record), current => {
    if (!current.reversal || current.state !== 'STOPPED') return current
    const noted = { ...current, reversal: { ...current.reversal, windowMs, abortedTransactions } }
    return withHistory(noted, { event: 'reversed', reason, timeMs: clock.nowMs() })
  })
}
