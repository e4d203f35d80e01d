/**
 * The source of a reverse that others lead comes to be led by this node, and clients are kept out in between, as shortly as can be: a copy
 * is made while they write, then the fence goes on. Called by the source's walk inside the mirror's queue.
 */
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { noteReversal, type ReversalParts, tell, topicOf } from './reversal-parts.ts'

/**
 * The record as it is when nobody can write any more and this node leads; undefined = that takes time, and is told. `isHurried`: no
 * copy is waited for before clients are kept out. May be repeated, and leads again what others have come to lead.
 */
export async function refuseWriters(
  parts: ReversalParts,
  record: MirrorRecord,
  isHurried: boolean,
): Promise<MirrorRecord | undefined> {
  const { changes, destination, clock, topicConfigs, logger } = parts
  const { fence } = destination
  const id = topicOf(record)
  const { topicId } = record
  if (!fence.hasOtherLeaders || !record.reversal) return record
  let { writers } = record.reversal
  const waitsFor = await fence.stage(topicId)
  if (writers === 'admitted') {
    if (waitsFor !== undefined && !isHurried) {
      await tell(parts, id, `getting ready, and writable meanwhile: ${waitsFor}`)
      return undefined
    }
    const trueConfigs = topicConfigs.keptOf(topicId)
    // The topic may have got partitions meanwhile.
    const count = destination.topicById(topicId)?.partitions ?? record.startOffsets.length
    const startOffsets = Array.from({ length: count }, () => 0)
    writers = 'leaving'
    const { reversal } = await changes.update(id, current => {
      if (current.reversal?.writers !== 'admitted' || current.reversal.givenUp !== undefined) return current
      const leaving = { ...current.reversal, writers: 'leaving' as const, sinceMs: clock.nowMs() }
      return { ...current, startOffsets, trueConfigs, reason: 'clients are being kept out', reversal: leaving }
    })
    if (reversal?.writers !== 'leaving') return undefined
    logger.info('the source of a reverse is ready: clients are kept out from now on', { topic: record.mirrorTopic })
  }
  if (writers === 'leaving') {
    await fence.shut(topicId)
    await noteReversal(parts, id, { writers: 'refused' })
  }
  if (waitsFor !== undefined) {
    await tell(parts, id, `nobody can write it; ${waitsFor}`)
    return undefined
  }
  await fence.enclose(topicId)
  return changes.current(id)
}
