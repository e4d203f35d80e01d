/** The old source of a reverse stops being written: its open transactions end or are aborted, and then it is known where it ends. Called by its walk. */
import type { MirrorLog } from '../ports.ts'
import type { MirrorRecord, ReversalRecord } from '../state-records/mirror-record.ts'
import { forEachLog, noteReversal, openLogs, type ReversalParts, tell, topicOf } from './reversal-parts.ts'

/** One step; it is done once `sealedOffsets` are durable. */
export async function closeSource(parts: ReversalParts, record: MirrorRecord, reversal: ReversalRecord): Promise<void> {
  const id = topicOf(record)
  const logs = await openLogs(parts, record)
  // Changes of a log run one after the other: what was let in before the topic was refused is written by then, and can be seen.
  const settled = () => forEachLog(logs, log => log.raiseLogStart(0))
  if (!reversal.closed) {
    await settled()
    const waitsFor = await transactionsToEnd(parts, record, { reversal, logs })
    if (waitsFor !== undefined) return await tell(parts, id, waitsFor)
    await noteReversal(parts, id, { closed: true })
  }
  // And markers that came until it was closed.
  await settled()
  let { abortedTransactions } = reversal
  for (const log of logs) abortedTransactions += (await log.abortOpenTransactions()).length
  await forEachLog(logs, log => log.flush())
  const sealedOffsets = logs.map(log => log.state().logEndOffset)
  const told = `closed at ${shown(sealedOffsets)}: waiting for the mirror to take over`
  await noteReversal(parts, id, { sealedOffsets, abortedTransactions, told })
}

/**
 * What is waited for; undefined = nothing any more. A transaction that does not end in time is aborted by its coordinator, so that its
 * producer learns of it: an ABORT marker of ours alone would let it commit what is not there. What no coordinator knows of is left.
 */
async function transactionsToEnd(
  parts: ReversalParts,
  record: MirrorRecord,
  { reversal, logs }: { readonly reversal: ReversalRecord; readonly logs: readonly MirrorLog[] },
): Promise<string | undefined> {
  const { destination, clock, logger, reverseTransactionWaitMs } = parts
  const open = logs.flatMap(log => log.openTransactions()).length
  // Coordinators that were not told yet that one has ended may still write its marker.
  if (open === 0) return undefined
  if (clock.nowMs() - reversal.sinceMs < reverseTransactionWaitMs)
    return `waiting for ${open} open transaction(s) to end`
  const producerIds = new Set(logs.flatMap(log => log.openTransactions()).map(({ producerId }) => producerId))
  const { aborted, ending } = (await destination.abortTransactions?.(record.mirrorTopic, producerIds)) ?? noTransactions
  if (aborted > 0) {
    const { mirrorTopic: topic } = record
    logger.warn('open transactions were aborted, since their topic is reversed', { topic, aborted })
    await noteReversal(parts, topicOf(record), { abortedTransactions: reversal.abortedTransactions + aborted })
  }
  return aborted + ending > 0 ? `waiting for the end of ${aborted + ending} transaction(s)` : undefined
}

const noTransactions = { aborted: 0, ending: 0 } as const

/** In a reason nobody reads hundreds of them. */
function shown(offsets: readonly number[]): string {
  const first = offsets.slice(0, 20).join(', ')
  return offsets.length > 20 ? `${first} and ${offsets.length - 20} more` : first
}
