/** Waits until a cut has reached every replica that may be elected. Called behind the cuts of restores and reverses. */
import { type Clock, sleep } from '../../core/clock.ts'
import type { MirrorLog } from '../ports.ts'

/** What is on its way to other replicas has this time to arrive; then it is tried again. */
const replicationMs = 10_000
const lookMs = 50

/** Whoever may be elected from now on has nothing of what was cut off. Rejects where that takes long. */
export async function cutEverywhere(clock: Clock, partition: number, log: MirrorLog): Promise<void> {
  const untilMs = clock.monotonicMs() + replicationMs
  for (;;) {
    const { logEndOffset, highWatermark, replicasEnd } = await log.refresh()
    if (replicasEnd === logEndOffset && highWatermark === logEndOffset) return
    if (clock.monotonicMs() >= untilMs)
      throw new Error(`partition ${partition}: its in-sync replicas are not known to end at ${logEndOffset}`)
    await sleep(clock, lookMs)
  }
}
