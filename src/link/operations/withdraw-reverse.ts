/** Failover in the middle of a reverse: which of both copies ends writable is agreed on where the other side answers, and said. Called by failover-mirror. */

import { sleep } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { MirrorId } from '../coordination/mirror-changes.ts'
import { mirrorQueue } from '../coordination/mirror-queue.ts'
import { linkError } from '../errors.ts'
import { peerOf } from '../peers/peer-link.ts'
import { keepAsStopped } from '../reversal/fork-point.ts'
import { isWalking } from '../reversal/mirror-side.ts'
import { finishGivingBack } from '../reversal/return-source.ts'
import { isTopicThere, ordinaryThere, peerHindrance, peerReversal, topicOf } from '../reversal/reversal-parts.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import type { StatusContents } from '../status/status-contents.ts'
import type { VerbResult } from './mirror-positions.ts'
import type { OperationContext } from './operation-context.ts'

/** The other side looks every two seconds at least. */
const agreedWithinMs = 10_000
const lookMs = 100

/** What failing over the mirror of a reverse leads to. */
export interface TakeOver {
  /** A sentence. */
  readonly note: string
  /** Both copies may be writable from then on. */
  readonly isFork: boolean
}

const readOnlySource: TakeOver = {
  note: 'This copy ends writable; that of the other cluster stays read-only until it is restored (truncate-and-restore).',
  isFork: false,
}

/**
 * Before a mirror that asked for a reverse is failed over: waits a moment until the source has closed, so that there are never two
 * writable copies while both sides talk. undefined = it has asked for none. Rejects with MIRROR_CANNOT_REVERSE if the source is kept.
 * Without time to wait: what would come of it.
 */
export async function awaitClosedSource(
  context: OperationContext,
  { linkId, mirrorTopic }: MirrorId,
  withinMs: number = agreedWithinMs,
): Promise<TakeOver | undefined> {
  const { desired, clock } = context
  const untilMs = clock.monotonicMs() + withinMs
  for (;;) {
    const record = desired.mirror(linkId, mirrorTopic)
    const hasFailed = record?.state === 'FAILED' && record.failedFrom === 'PENDING_SYNCHRONIZE'
    if (!record || !(isWalking(record) || hasFailed)) return undefined
    const contents = await peerContents(context, record)
    if (typeof contents === 'string') return forkFor(contents)
    const source = peerReversal(contents, record)
    // Of one that has failed the source has not heard, and does not any more.
    if (!source && hasFailed) return undefined
    if (source?.withdrawn && hasFailed) return forkFor('it was failed over')
    if (source?.withdrawn)
      throw refused(record, 'the other cluster was failed over: its copy stays writable, and this one follows it again')
    if (source && (!source.admitsWriters || withinMs === 0)) return readOnlySource
    const hindrance = peerHindrance(contents, linkId)
    if (withinMs === 0) return hindrance === undefined ? readOnlySource : forkFor(hindrance)
    if (source && !record.reversal?.hurried) await hurry(context, record)
    if (clock.monotonicMs() >= untilMs) return forkFor(hindrance ?? 'it has not closed its copy')
    await sleep(clock, lookMs)
  }
}

/** The source keeps clients out at once, without being ready for it. */
async function hurry({ changes }: OperationContext, record: MirrorRecord): Promise<void> {
  await changes.update(topicOf(record), current =>
    current.reversal ? { ...current, reversal: { ...current.reversal, hurried: true } } : current,
  )
}

const forkFor = (reason: string): TakeOver => ({ note: forkNote(reason), isFork: true })

const forkNote = (reason: string): string =>
  `This copy ends writable. That of the other cluster may be writable, too (${reason}): one of both has to be restored later.`

/**
 * The old source is to stay what it was. Where the mirror answers, it says so first; it is refused if the mirror has taken over.
 * Where it does not, this copy becomes writable alone, and where the two part is kept.
 */
export async function withdrawReverse(
  context: OperationContext,
  id: MirrorId,
  { alone }: { readonly alone: boolean },
): Promise<VerbResult> {
  const first = context.changes.current(id)
  const answer = alone ? 'it was not asked' : await mirrorContents(context, first)
  if (typeof answer === 'string') return await standAlone(context, first, answer)
  assertNotTakenOver(answer, first)
  await context.changes.update(id, record =>
    record.state === 'PENDING_MIRROR' && record.reversal
      ? { ...record, reversal: { ...record.reversal, withdrawn: true } }
      : record,
  )
  context.runtime(id.linkId)?.task('Reversal')?.start()
  return await agreed(context, first)
}

async function agreed(context: OperationContext, first: MirrorRecord): Promise<VerbResult> {
  const { desired, clock } = context
  const { linkId, mirrorTopic, topicId } = first
  const untilMs = clock.monotonicMs() + agreedWithinMs
  for (;;) {
    const record = desired.mirror(linkId, mirrorTopic)
    const isGivenBack = record?.topicId !== topicId || record.state === 'STOPPED'
    if (isGivenBack) return answerOf('This copy is writable again, and the mirror does not take over.')
    if (record.state !== 'PENDING_MIRROR' || record.reversal?.withdrawn !== true) throw refused(record, takenOver)
    if (clock.monotonicMs() >= untilMs) {
      const answer = await mirrorContents(context, record)
      if (record.reversal.givenUp !== undefined) return answerOf(givingBack)
      if (typeof answer === 'string') return await standAlone(context, record, answer)
      return answerOf('This copy ends writable as soon as the mirror follows it again, which it has not said yet.')
    }
    await sleep(clock, lookMs)
  }
}

/** What failing over the old source would lead to now, as a sentence; throws the refusal. */
export async function withdrawalOutlook(context: OperationContext, record: MirrorRecord): Promise<string> {
  const answer = await mirrorContents(context, record)
  if (typeof answer === 'string') return forkNote(answer)
  assertNotTakenOver(answer, record)
  return 'This copy ends writable, and the mirror follows it again.'
}

const takenOver = 'the other cluster has taken over, and its copy is the writable one'

function assertNotTakenOver(contents: StatusContents, record: MirrorRecord): void {
  const { linkId, mirrorTopic, sourceTopicId, reversal } = record
  const peer = contents.mirrorOf(linkId, { mirrorTopic, topicId: sourceTopicId })
  if (peer?.state === 'STOPPED' && peer.stateEpoch > (reversal?.request ?? 0)) throw refused(record, takenOver)
}

async function standAlone(context: OperationContext, record: MirrorRecord, reason: string): Promise<VerbResult> {
  const told = `failed over alone: the copy of the other cluster may be writable, too (${reason})`
  await keepAsStopped(context, record, told)
  context.incidents.count('fork')
  if (!context.destination.fence.hasOtherLeaders) return answerOf(forkNote(reason))
  const id = topicOf(record)
  await context.operations.run(mirrorQueue(id), async () => {
    try {
      await finishGivingBack(context, id)
    } catch (error) {
      const why = { verb: 'failover', step: 'release', reason: messageOf(error) }
      throw linkError('MIRROR_BUSY', { topic: id.mirrorTopic, ...why }, error)
    }
  })
  const { state } = context.desired.mirror(id.linkId, id.mirrorTopic) ?? {}
  if (state !== undefined && state !== 'STOPPED') throw refused(record, takenOver)
  return answerOf(forkNote(reason))
}

const givingBack = 'This copy is being given back to its brokers, and is writable as soon as they have it.'

const answerOf = (warning: string): VerbResult => ({ partitions: [], openTransactions: 0, warnings: [warning] })

const refused = ({ mirrorTopic: topic }: MirrorRecord, reason: string) =>
  linkError('MIRROR_CANNOT_REVERSE', { topic, reason })

/** The same for the source, whose mirror may be an ordinary topic by now: of that nothing is published. */
async function mirrorContents(context: OperationContext, record: MirrorRecord): Promise<StatusContents | string> {
  const { linkId, mirrorTopic, sourceTopicId } = record
  const contents = await peerContents(context, record)
  const source = context.runtime(linkId)?.source
  if (typeof contents === 'string' || !source) return contents
  if (contents.mirrorOf(linkId, { mirrorTopic, topicId: sourceTopicId })) return contents
  try {
    return (await isTopicThere(source, record)) ? ordinaryThere : contents
  } catch (error) {
    return messageOf(error)
  }
}

/** What the other cluster publishes now; a clause if that cannot be known. */
async function peerContents(context: OperationContext, { linkId }: MirrorRecord): Promise<StatusContents | string> {
  const runtime = context.runtime(linkId)
  const link = context.desired.link(linkId)
  if (!runtime?.status || !link) return 'the link does not run'
  const { health } = runtime
  if (health.state !== 'ACTIVE') return `it does not answer: ${health.message ?? health.state}`
  const peer = peerOf(await runtime.status.newest(), link, context.destination.clusterId)
  return peer.kind === 'problem' ? peer.message : peer.contents
}
