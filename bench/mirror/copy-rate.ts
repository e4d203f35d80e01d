/** Watches a destination while a backlog is copied to it: bytes per second, and CPU time of the processes that take part per byte. */
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { type Backlog, backlogBytes, backlogRecords } from './backlog.ts'

/** Figures of the part of a copy that counts. */
export interface CopyRate {
  readonly megabytesPerSecond: number
  readonly cpuSecondsPerGigabyte: number
  readonly bytes: number
  readonly cpuSeconds: number
  /** The same of each process, in the order given. */
  readonly cpuSecondsByProcess: readonly number[]
  /** Monotonic microseconds, as CPU profiles have them. */
  readonly beganUs: number
  readonly endedUs: number
}

/** This share of the backlog is copied before counting begins: until then processes start, connect and warm up. */
const UNCOUNTED_SHARE = 1 / 3
const POLL_MS = 10
/** A copy that does not move for so long has failed. */
const STALL_MS_MAX = 120_000
/** Linux reports CPU time in this unit to every process, whatever its own timer is. */
const TICKS_PER_SECOND = 100

export interface WatchedCopy {
  readonly backlog: Backlog
  /** Log ends by partition at the destination. */
  readonly ends: () => Promise<readonly number[]>
  /** Processes whose CPU time counts. */
  readonly pids: readonly number[]
  /** What to tell if it does not come to an end. */
  readonly failure: () => string
  /** Between questions for the ends, which cost the destination processor time; default 10. */
  readonly pollMs?: number
}

/** Resolves when the destination has the whole backlog. */
export async function copyRate({ backlog, ends, pids, failure, pollMs = POLL_MS }: WatchedCopy): Promise<CopyRate> {
  const recordsMax = backlogRecords(backlog)
  let moved = { records: -1, atMs: performance.now() }
  let first: Observation | undefined
  for (;;) {
    const records = (await ends()).reduce((sum, end) => sum + end, 0)
    const now = { records, timeUs: Number(process.hrtime.bigint() / 1000n), cpuSeconds: pids.map(cpuSecondsOf) }
    if (records >= recordsMax * UNCOUNTED_SHARE) first ??= now
    if (first && records >= recordsMax) return rateBetween(first, now, backlogBytes(backlog) / recordsMax)
    if (records > moved.records) moved = { records, atMs: performance.now() }
    if (performance.now() - moved.atMs > STALL_MS_MAX)
      throw new Error(`the copy stands still at ${records} of ${recordsMax} records\n${failure()}`)
    await delay(pollMs)
  }
}

interface Observation {
  readonly records: number
  readonly timeUs: number
  readonly cpuSeconds: readonly number[]
}

function rateBetween(first: Observation, last: Observation, bytesPerRecord: number): CopyRate {
  const bytes = (last.records - first.records) * bytesPerRecord
  const cpuSecondsByProcess = last.cpuSeconds.map((seconds, index) => seconds - (first.cpuSeconds[index] ?? 0))
  const cpuSeconds = cpuSecondsByProcess.reduce((sum, seconds) => sum + seconds, 0)
  return {
    megabytesPerSecond: bytes / (last.timeUs - first.timeUs),
    cpuSecondsPerGigabyte: (cpuSeconds * 1e9) / bytes,
    bytes,
    cpuSeconds,
    cpuSecondsByProcess,
    beganUs: first.timeUs,
    endedUs: last.timeUs,
  }
}

/** User and system time of a process so far, all threads. */
export function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND
}
