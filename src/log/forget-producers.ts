/** Makes the producers of a log strangers to it, when a mirror becomes an ordinary topic; PartitionLog calls it. */
import assert from 'node:assert/strict'
import type { LogContents } from './log-contents.ts'
import { ProducerState } from './producer-state.ts'

/**
 * The snapshot at the log end names nobody, and a new segment begins there: so recovery, which takes a segment's snapshot where
 * there is one, forgets them too. The largest producer id stays known. No transaction may be open.
 */
export async function forgetProducers(contents: LogContents): Promise<void> {
  const { producers, snapshots, logEndOffset } = contents
  // Nothing is written then: a failover must not need space on a full disk without need.
  if (Array.from(producers.entries()).length === 0) return
  assert(producers.openTransactions().length === 0, `${contents.name} has no open transaction`)
  const nobody = new ProducerState()
  nobody.restore(producers.encode(), { nowMs: 0, expirationMs: Number.POSITIVE_INFINITY })
  nobody.clear()
  snapshots.take(logEndOffset, nobody.encode())
  await contents.roll()
  producers.clear()
}
