/** Brings back how far a share group is in a partition, and decides where it begins if it is new there; SharePartition calls it. */
import type { Clock } from '../../core/clock.ts'
import { findOffset, offsetSpec } from '../../replica/find-offset.ts'
import type { Partition } from '../../replica/partition.ts'
import {
  type ShareKey,
  type SharePersister,
  type StateBatch,
  UNKNOWN_START_OFFSET,
} from '../share-state/share-persister.ts'
import { InFlight } from './in-flight.ts'
import { recordStateOf, recordStates } from './record-state.ts'
import type { ShareGroupSettings, ShareOffsetReset } from './share-settings.ts'

export interface LoadContext {
  readonly key: ShareKey
  readonly partition: Partition
  readonly leaderEpoch: number
  readonly persister: SharePersister
  readonly settings: () => ShareGroupSettings
  readonly clock: Clock
}

/** Rejects with what the persister or the partition says. */
export async function loadInFlight(
  context: LoadContext,
): Promise<{ readonly inFlight: InFlight; readonly stateEpoch: number }> {
  const { key, partition, leaderEpoch, persister, settings } = context
  const { stateEpoch, startOffset, batches } = await persister.read(key, leaderEpoch)
  const isNew = startOffset === UNKNOWN_START_OFFSET
  const start = isNew ? await firstOffset(context, settings().offsetReset) : startOffset
  const inFlight = restored(start, batches)
  if (inFlight.dropFrom(partition.log.logEndOffset)) await forgetBeyond(context, stateEpoch, inFlight)
  // Decided once: after a restart "latest" would be another offset, and what is between the two lost for the group.
  else if (isNew) await save(context, stateEpoch, inFlight)
  inFlight.dropBelow(partition.log.logStartOffset)
  inFlight.advance()
  return { inFlight, stateEpoch }
}

function restored(startOffset: number, batches: readonly StateBatch[]): InFlight {
  const inFlight = new InFlight(startOffset)
  inFlight.extend((batches.at(-1)?.lastOffset ?? startOffset - 1) + 1)
  for (const batch of batches)
    inFlight.update(batch.firstOffset, batch.lastOffset, () => {
      const state = recordStateOf(batch.deliveryState) ?? 'available'
      // Nobody holds anything in a new life.
      return { state: state === 'acquired' ? 'available' : state, deliveryCount: batch.deliveryCount }
    })
  return inFlight
}

async function firstOffset({ partition, clock }: LoadContext, reset: ShareOffsetReset): Promise<number> {
  const question = { visibility: 'read_uncommitted', currentLeaderEpoch: -1 } as const
  const { latest, earliest } = offsetSpec
  if (reset.kind === 'earliest') return (await findOffset(partition, { ...question, timestamp: earliest })).offset
  if (reset.kind === 'duration') {
    const timestamp = BigInt(Math.max(0, Math.floor(clock.nowMs() - reset.ms)))
    const found = await findOffset(partition, { ...question, timestamp })
    if (found.offset >= 0) return found.offset
  }
  return (await findOffset(partition, { ...question, timestamp: latest })).offset
}

/** The log lost records that the group knows of: later ones at their offsets are others. Only a new beginning makes the state forget them. */
export async function forgetBeyond(context: LoadContext, stateEpoch: number, inFlight: InFlight): Promise<void> {
  const { key, persister, leaderEpoch } = context
  await persister.initialize(key, { stateEpoch, startOffset: inFlight.startOffset })
  await persister.read(key, leaderEpoch)
  await save(context, stateEpoch, inFlight)
}

async function save({ key, persister, leaderEpoch }: LoadContext, stateEpoch: number, inFlight: InFlight) {
  const { startOffset, doneCount: deliveryCompleteCount } = inFlight
  const batches = inFlight.runs
    .filter(({ state, deliveryCount }) => state !== 'available' || deliveryCount > 0)
    .map(({ firstOffset, lastOffset, state, deliveryCount }) => ({
      firstOffset,
      lastOffset,
      deliveryCount,
      deliveryState: recordStates[state].id,
    }))
  await persister.write(key, { stateEpoch, leaderEpoch, startOffset, deliveryCompleteCount, batches })
}
