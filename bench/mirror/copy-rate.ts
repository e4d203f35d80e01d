/** Watches a destination while it copies a backlog: bytes per second, and CPU time of the copying process per byte. */
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { type Backlog, backlogBytes, backlogRecords } from './backlog.ts'
import type { ClusterClient } from './cluster-client.ts'

/** Figures of the part of a copy that counts. */
export interface CopyRate {
  readonly megabytesPerSecond: number
  readonly cpuSecondsPerGigabyte: number
  readonly bytes: number
  readonly cpuSeconds: number
  /** Monotonic microseconds, as CPU profiles have them. */
  readonly beganUs: number
  readonly endedUs: number
}

/** This share of the backlog is copied before counting begins: until then processes start, connect and warm up. */
const UNCOUNTED_SHARE = 1 / 3
const POLL_MS = 10
const TIMEOUT_MS = 600_000
/** Linux reports CPU time in this unit to every process, whatever its own timer is. */
const TICKS_PER_SECOND = 100

/** Resolves when the destination has the whole backlog. */
export async function copyRate(
  destination: ClusterClient,
  copy: { readonly topic: string; readonly backlog: Backlog; readonly pid: number; readonly failure: () => string },
): Promise<CopyRate> {
  const { topic, backlog, pid } = copy
  const recordsMax = backlogRecords(backlog)
  const deadlineMs = performance.now() + TIMEOUT_MS
  let first: Observation | undefined
  for (;;) {
    const ends = await destination.endOffsets(topic, backlog.partitions)
    const records = ends.reduce((sum, end) => sum + end, 0)
    const now = { records, timeUs: Number(process.hrtime.bigint() / 1000n), cpuSeconds: cpuSecondsOf(pid) }
    if (records >= recordsMax * UNCOUNTED_SHARE) first ??= now
    if (first && records >= recordsMax) return rateBetween(first, now, backlogBytes(backlog) / recordsMax)
    if (performance.now() > deadlineMs)
      throw new Error(`${topic} has ${records} of ${recordsMax} records after ${TIMEOUT_MS} ms\n${copy.failure()}`)
    await delay(POLL_MS)
  }
}

interface Observation {
  readonly records: number
  readonly timeUs: number
  readonly cpuSeconds: number
}

function rateBetween(first: Observation, last: Observation, bytesPerRecord: number): CopyRate {
  const bytes = (last.records - first.records) * bytesPerRecord
  const cpuSeconds = last.cpuSeconds - first.cpuSeconds
  return {
    megabytesPerSecond: bytes / (last.timeUs - first.timeUs),
    cpuSecondsPerGigabyte: (cpuSeconds * 1e9) / bytes,
    bytes,
    cpuSeconds,
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
