/**
 * The old source of a reverse: it follows what its mirror publishes. From PENDING_MIRROR on nobody writes it, and it is given back only
 * when the mirror says that it follows again, so while both sides talk there are never two writers. Run by the reversal task.
 */
import { isReturning } from '../fence/fenced-mirror.ts'
import { askBounds } from '../mirror/compare-batches.ts'
import { beginSourceEpochs } from '../restore/begin-source-epochs.ts'
import { sourceEpochBelow } from '../restore/cut-point.ts'
import { settleGroups } from '../restore/settle-groups.ts'
import { type MirrorRecord, newReversal, type ReversalRecord } from '../state-records/mirror-record.ts'
import { entryState } from '../states/transition.ts'
import type { StatusContents } from '../status/status-contents.ts'
import type { MirrorStatus } from '../status/status-records.ts'
import { closeSource } from './close-source.ts'
import { keepAsStopped } from './fork-point.ts'
import { endsAt, sealAgain } from './late-markers.ts'
import { refuseWriters } from './refuse-writers.ts'
import { finishGivingBack, giveBack } from './return-source.ts'
import {
  isTopicThere,
  noteReversal,
  openLogs,
  ordinaryThere,
  peerReversal,
  type ReversalParts,
  tell,
  topicOf,
} from './reversal-parts.ts'

/** The mirror of a topic of ours wants to be its source: from here on nobody writes it. */
export async function followPeer(parts: ReversalParts, contents: StatusContents, mirror: MirrorStatus): Promise<void> {
  const { desired, destination, changes, clock, link } = parts
  const { mirrorTopic, topicId: sourceTopicId } = mirror
  const { linkId } = link
  const [source] = mirror.chain
  const topic = destination.topic(mirrorTopic)
  if (mirror.state !== 'PENDING_SYNCHRONIZE' || !topic || source?.topicId !== topic.topicId) return
  const { fence } = destination
  if (source.clusterId !== destination.clusterId) return
  const asked = contents.reversalOf(linkId, mirrorTopic)
  // The two are published one after the other.
  if (asked?.topicId !== sourceTopicId || asked.stateEpoch !== mirror.stateEpoch) return
  if ([...desired.mirrorsOfTopic(topic.topicId)].some(({ state }) => state !== 'STOPPED')) return
  const own = desired.mirror(linkId, mirrorTopic)
  const isKnown = own?.topicId === topic.topicId
  // It was failed over here while the mirror could not be asked: that the mirror has yet to learn.
  if (
    isKnown &&
    own.sourceTopicId === sourceTopicId &&
    own.reversal?.withdrawn &&
    own.reversal.request === asked.request
  )
    return
  const timeMs = clock.nowMs()
  const { paused, request } = asked
  const others = fence.hasOtherLeaders ? ({ writers: 'admitted', plan: fence.plan(topic.topicId) } as const) : {}
  const more = {
    // The topic may have got partitions since it was a mirror.
    startOffsets: Array.from({ length: topic.partitions }, () => 0),
    sourceTopic: mirrorTopic,
    sourceTopicId,
    sourceClusterId: link.remoteClusterId ?? '',
    reversal: newReversal({ paused, request, sinceMs: timeMs, together: [], ...others }),
  }
  const reason = 'the other cluster takes over'
  const id = { linkId, mirrorTopic, topicId: topic.topicId }
  if (isKnown) await changes.transition(id, { event: 'peerReverses', reason }, record => ({ ...record, ...more }))
  else {
    const entered = entryState('peerReverses', { reason, timeMs })
    await changes.create({ ...id, createdTimeMs: timeMs, ...entered, ...more }, [])
  }
}

/** Ends its transactions, closes, and follows when the mirror has taken over. Called inside the mirror's queue. */
export async function walkSource(parts: ReversalParts, contents: StatusContents, record: MirrorRecord): Promise<void> {
  const { reversal, linkId, mirrorTopic, sourceTopicId } = record
  if (!reversal || isReturning(record)) return
  const peer = contents.mirrorOf(linkId, { mirrorTopic, topicId: sourceTopicId })
  switch (fateOf(peer, reversal)) {
    case 'gone':
      return await leftAlone(parts, record, reversal)
    case 'follows':
      return await giveBack(parts, record, 'given back: the mirror follows it again')
    case 'failed':
      if (!reversal.withdrawn) return await tell(parts, topicOf(record), mirrorFailed)
      await keepAsStopped(parts, record, 'given back: the mirror has failed, and cannot take over')
      return await finishGivingBack(parts, topicOf(record))
    case 'took-over':
      return await becomeMirror(parts, contents, record)
    case 'pending':
      if (!reversal.withdrawn) await close(parts, contents, record)
  }
}

const mirrorFailed = 'the mirror has failed, and cannot take over: resume it, or fail one of both over'

/** Nothing is published of the mirror any more: it was deleted, or its link was, which leaves a topic there that clients write. */
async function leftAlone(parts: ReversalParts, record: MirrorRecord, { withdrawn }: ReversalRecord): Promise<void> {
  if (!(await isTopicThere(parts.source, record)))
    return await giveBack(parts, record, 'given back: the mirror was deleted')
  if (!withdrawn) return await tell(parts, topicOf(record), `${ordinaryThere}: fail this one over, then restore it`)
  await keepAsStopped(parts, record, `given back: ${ordinaryThere}`)
  parts.incidents.count('fork')
  await finishGivingBack(parts, topicOf(record))
}

async function close(parts: ReversalParts, contents: StatusContents, record: MirrorRecord): Promise<void> {
  const closing = await refuseWriters(parts, record, peerReversal(contents, record)?.isHurried ?? false)
  if (!closing?.reversal || closing.reversal.withdrawn) return
  if (closing.reversal.sealedOffsets.length === 0) await closeSource(parts, closing, closing.reversal)
  else if (parts.destination.fence.hasOtherLeaders) await sealAgain(parts, closing)
}

/** What has become of the mirror since it asked; `pending` = it may take over any moment. */
function fateOf(
  peer: MirrorStatus | undefined,
  { request }: ReversalRecord,
): 'gone' | 'follows' | 'failed' | 'took-over' | 'pending' {
  if (!peer) return 'gone'
  if (peer.stateEpoch <= request) return 'pending'
  switch (peer.state) {
    case 'ACTIVE':
    case 'PAUSED':
      return 'follows'
    case 'FAILED':
      return 'failed'
    case 'STOPPED':
      return 'took-over'
    default:
      return 'pending'
  }
}

/** What the mirror took over with is all that is here: nothing has to be cut. Otherwise it stays closed until it is restored. */
async function becomeMirror(parts: ReversalParts, contents: StatusContents, found: MirrorRecord): Promise<void> {
  const { changes, destination, clock } = parts
  const record = await refuseWriters(parts, found, true)
  if (!record?.reversal) return
  const { linkId, topicId, sourceTopicId, reversal } = record
  const id = topicOf(record)
  const windowMs = reversal.windowMs ?? clock.nowMs() - reversal.sinceMs
  // Not even markers from here on: what is compared below must stay so.
  if (!reversal.closed || reversal.withdrawn || reversal.windowMs === undefined)
    await noteReversal(parts, id, { closed: true, withdrawn: false, windowMs })
  const points = contents
    .stopPoints(sourceTopicId)
    .filter(point => point.linkId === linkId && point.sourceTopicId === topicId)
  const logs = await openLogs(parts, record)
  const missing: number[] = []
  for (const [partition, log] of logs.entries()) {
    await log.raiseLogStart(0)
    const stopOffset = points.find(point => point.partition === partition)?.stopOffset
    if (stopOffset === undefined || !(await endsAt(parts, { partition, log }, stopOffset))) missing.push(partition)
  }
  if (missing.length > 0)
    return await tell(parts, id, `the other cluster took over without all of partition(s) ${missing}: restore it`)
  // It leads already where others could.
  if (!destination.fence.hasOtherLeaders) await destination.fence.enclose(topicId)
  await beginEpochs(parts, record, logs)
  const groups = await settleGroups(parts, record)
  const { abortedTransactions, paused } = reversal
  const reason = `reversed; nobody could write for ${windowMs} ms; ${abortedTransactions} transaction(s) were aborted${groups}`
  await changes.transition(id, { event: 'caughtUp', reason, paused }, next => {
    if (next.reversal?.givenUp !== undefined) throw new Error(`it is being given back: ${next.reversal.givenUp}`)
    return { ...next, stopPoints: [] }
  })
}

async function beginEpochs(
  parts: ReversalParts,
  record: MirrorRecord,
  logs: Awaited<ReturnType<typeof openLogs>>,
): Promise<void> {
  const { source } = parts
  for (const [partition, log] of logs.entries()) {
    const copies = { source, sourceTopic: record.mirrorTopic, partition, log }
    const { logEndOffset } = log.state()
    const sourceEpoch = await sourceEpochBelow(copies, logEndOffset, await askBounds(copies))
    await beginSourceEpochs(parts, record, { partition, log, sourceEpoch })
  }
}
