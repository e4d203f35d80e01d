/**
 * The source of a reverse of which nothing comes: where others lead it, its brokers get it back as it was, and only then clients write it.
 * Called by the source's walk and by failover, behind the durable decision; the reconciler finishes it.
 */
import { messageOf } from '../../core/errors.ts'
import type { MirrorId } from '../coordination/mirror-changes.ts'
import { isReturning } from '../fence/fenced-mirror.ts'
import type { EngineParts } from '../runtime/engine-parts.ts'
import type { MirrorRecord, StopPointRecord } from '../state-records/mirror-record.ts'
import { isOrdinaryLog } from '../states/mirror-topic-state.ts'
import { tell, topicOf } from './reversal-parts.ts'

type Parts = Pick<EngineParts, 'changes' | 'desired' | 'destination' | 'logger'>

/** Called inside the mirror's queue. An ordinary topic when it resolves; rejects with what is in the way, and is continued then. */
export async function giveBack(parts: Parts, record: MirrorRecord, reason: string): Promise<void> {
  if (!parts.destination.fence.hasOtherLeaders) {
    await parts.changes.transition(topicOf(record), { event: 'failover', reason })
    return told(parts, record, reason)
  }
  await decideToGiveBack(parts, record, { reason })
  await finishGivingBack(parts, topicOf(record))
}

/** Durable when it resolves: from here on nothing takes the topic away from its brokers. `stopPoints`: where its mirror may go on without it. */
export async function decideToGiveBack(
  { changes }: Pick<Parts, 'changes'>,
  record: MirrorRecord,
  { reason, stopPoints }: { readonly reason: string; readonly stopPoints?: readonly StopPointRecord[] },
): Promise<MirrorRecord> {
  return await changes.update(topicOf(record), current => {
    const { reversal, state } = current
    if (!reversal || !isOrdinaryLog(state) || reversal.givenUp !== undefined) return current
    const returning = { ...current, reversal: { ...reversal, givenUp: reason } }
    return stopPoints ? { ...returning, stopPoints, reversal: { ...returning.reversal, withdrawn: true } } : returning
  })
}

/** Called inside the mirror's queue; may be repeated. */
export async function finishGivingBack(parts: Parts, id: MirrorId): Promise<void> {
  const { changes, desired, destination } = parts
  const record = desired.mirror(id.linkId, id.mirrorTopic)
  if (!record || record.topicId !== (id.topicId ?? record.topicId) || !isReturning(record) || !record.reversal) return
  const { topicId, trueConfigs: configs, reversal } = record
  const { plan, writers, givenUp: reason = '' } = reversal
  const { fence } = destination
  try {
    if (writers === 'admitted') await fence.unstage({ topicId, plan })
    else await fence.release({ topicId, verb: 'failover', plan, endOffsets: [], configs })
  } catch (error) {
    await tell(parts, topicOf(record), `being given back: ${messageOf(error)}`)
    throw error
  }
  await changes.transition(topicOf(record), { event: 'failover', reason })
  told(parts, record, reason)
}

/** Its record may be gone, with the reason. */
const told = ({ logger }: Pick<Parts, 'logger'>, { mirrorTopic: topic }: MirrorRecord, reason: string) =>
  logger.info('the source of a reverse is an ordinary topic again', { topic, reason })
