/**
 * Where a Kafka broker came to lead the source of a reverse after it was closed, coordinators may have written markers of transactions that
 * have no records there. Before the mirror takes over they belong to what it gets, after that they go. Called by the source's walk.
 */

import type { MirrorLog } from '../ports.ts'
import { cutEverywhere } from '../restore/cut-everywhere.ts'
import { countRecords } from '../restore/divergent-tail.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { noteReversal, openLogs, type ReversalParts, topicOf } from './reversal-parts.ts'

/** The mirror waits for the ends that are published: they are as the logs are. */
export async function sealAgain(parts: ReversalParts, record: MirrorRecord): Promise<void> {
  const { sealedOffsets = [] } = record.reversal ?? {}
  const logs = await openLogs(parts, record)
  const ends = logs.map(log => log.state().logEndOffset)
  if (ends.every((end, partition) => end === sealedOffsets[partition])) return
  parts.logger.warn('the source of a reverse ends elsewhere than it did', {
    topic: record.mirrorTopic,
    sealedOffsets,
    ends,
  })
  await noteReversal(parts, topicOf(record), { sealedOffsets: ends })
}

/** Does the log end where the mirror took over? Markers behind that are cut, records never are. */
export async function endsAt(
  parts: ReversalParts,
  { partition, log }: { readonly partition: number; readonly log: MirrorLog },
  stopOffset: number,
): Promise<boolean> {
  const { logEndOffset } = log.state()
  if (logEndOffset === stopOffset) return true
  if (!parts.destination.fence.hasOtherLeaders || logEndOffset < stopOffset) return false
  if ((await countRecords(log, stopOffset)) > 0) return false
  parts.logger.warn('markers behind where the mirror took over are cut', { partition, stopOffset, logEndOffset })
  await log.truncateTo(stopOffset)
  await log.flush()
  await cutEverywhere(parts.clock, partition, log)
  parts.incidents.count('fork')
  return true
}
