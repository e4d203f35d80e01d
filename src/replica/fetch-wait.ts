/** The waiting half of a long poll: wakes when the partitions together may hold enough bytes; fetch-from-log.ts calls it. */
import type { Clock } from '../core/clock.ts'
import { boundOf, type FetchQuery, type ReadSnapshot } from './fetch-query.ts'

/** Why a wait ended: there may be enough bytes, or the fetch is to be answered with whatever there is. */
export type News = 'bytes' | 'answer'

/**
 * Resolves to 'bytes' when, since the snapshots, enough bytes may have become readable; to 'answer' when a partition needs an
 * answer at once (another leader epoch, gone, truncated, or for a follower: another high watermark or log start), when the
 * time is up, or the client left.
 */
export function awaitNews(
  snapshots: readonly ReadSnapshot[],
  wait: { readonly query: FetchQuery; readonly readBytes: number; readonly remainingMs: number; readonly clock: Clock },
): Promise<News> {
  return new Promise(resolve => {
    const { query } = wait
    let missingBytes = Math.max(1, Math.min(query.minBytes, query.bytesMax) - wait.readBytes)
    const stops: (() => void)[] = []
    let finished = false
    const finish = (news: News) => {
      if (finished) return
      finished = true
      for (const stop of stops) stop()
      resolve(news)
    }
    const timer = wait.clock.after(wait.remainingMs, () => finish('answer'))
    stops.push(() => timer.cancel())
    const leave = () => finish('answer')
    query.signal.addEventListener('abort', leave, { once: true })
    stops.push(() => query.signal.removeEventListener('abort', leave))
    for (const snapshot of snapshots) {
      let counted = 0
      const look = () => {
        if (needsAnswer(snapshot, query)) return finish('answer')
        const bytes = newBytes(snapshot, query)
        missingBytes -= bytes - counted
        counted = bytes
        if (missingBytes <= 0) finish('bytes')
      }
      stops.push(snapshot.partition.watch(look))
      // What happened between the read and now called no watcher.
      look()
      if (finished) return finishLate(stops)
    }
  })
}

/** A look during the set-up finished the wait: whatever was set up after that is undone too. */
function finishLate(stops: readonly (() => void)[]): void {
  for (const stop of stops) stop()
}

function needsAnswer(snapshot: ReadSnapshot, query: FetchQuery): boolean {
  const { partition } = snapshot
  if (partition.unavailable || partition.isStopping) return true
  if (partition.leaderEpoch !== snapshot.leaderEpoch) return true
  if (partition.log.logEndOffset < snapshot.fetchOffset || partition.log.logStartOffset > snapshot.fetchOffset)
    return true
  // Followers learn both from answers only; waiting the full time would delay what they may serve.
  return (
    query.replicaId >= 0 &&
    (partition.highWatermark !== snapshot.highWatermark || partition.log.logStartOffset !== snapshot.logStartOffset)
  )
}

/** An estimate: bytes appended since the read, if the readable end has moved at all. */
const newBytes = (snapshot: ReadSnapshot, query: FetchQuery): number =>
  boundOf(snapshot.partition, query) > snapshot.bound ? snapshot.partition.appendedBytes - snapshot.appendedBytes : 0
