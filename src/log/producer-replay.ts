/** Rebuilds producer state from a snapshot and the batches behind it; recovery and truncation call it. */
import type { LogContents } from './log-contents.ts'
import type { ProducerState } from './producer-state.ts'
import { scanBatches } from './segment-scan.ts'

/**
 * Sets a producer state, by default the log's, to what it was when the log ended at `offset`: the newest usable snapshot at or below it, then the
 * batches from there. Damaged snapshots are removed and an older one is taken.
 */
export async function reloadProducerState(
  contents: LogContents,
  offset: number,
  producers: ProducerState = contents.producers,
): Promise<void> {
  const { snapshots, config } = contents
  producers.clear()
  let from = contents.segments.first.baseOffset
  for (;;) {
    const snapshot = await snapshots.latestAtOrBelow(offset)
    if (!snapshot) break
    const expiry = { nowMs: contents.environment.clock.nowMs(), expirationMs: config.producerIdExpirationMs }
    if (producers.restore(snapshot.bytes, expiry)) {
      from = snapshot.offset
      break
    }
    contents.environment.logger.warn('damaged producer snapshot removed', {
      log: contents.name,
      offset: snapshot.offset,
    })
    await snapshots.removeWhere(candidate => candidate === snapshot.offset)
  }
  await replay(contents, producers, { from, to: offset })
}

async function replay(
  { segments }: LogContents,
  producers: ProducerState,
  { from, to }: { from: number; to: number },
): Promise<void> {
  if (from >= to) return
  for (const segment of segments.all.slice(segments.indexFor(from))) {
    if (segment.baseOffset >= to) return
    const start = from <= segment.baseOffset ? { position: 0 } : await segment.find(from)
    if (!start) continue
    const range = { from: start.position, to: segment.sizeBytes, need: 'headers' } as const
    await scanBatches(segment.file, range, cursor => {
      if (cursor.baseOffset >= to) return 'stop'
      if (cursor.baseOffset >= from) producers.apply(cursor)
      return 'continue'
    })
  }
}
