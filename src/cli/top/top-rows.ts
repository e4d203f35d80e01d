/** The rows of `lockstep top`: lags of mirrors, and rates between two samples. Pure; called by the command. */
import type { MirrorData } from '../../rest/schemas/mirrors.ts'

/** What a node said at a moment; `timeMs` is of a clock that only goes forward. */
export interface Sample {
  readonly timeMs: number
  readonly mirrors: readonly MirrorData[]
}

export interface TopRow {
  readonly link: string
  readonly topic: string
  /** Undefined where the row is about the whole topic. */
  readonly partition: number | undefined
  readonly partitions: number
  readonly status: string
  /** In records, of all partitions together; null = not known. */
  readonly lag: number | null
  readonly lagMs: number | null
  /** Null before there is a second sample. */
  readonly recordsPerSecond: number | null
  readonly bytesPerSecond: number | null
}

export const SORTS = ['lag', 'time', 'rate', 'name', 'status'] as const
export type Sort = (typeof SORTS)[number]

type Part = MirrorData['mirror_lags'][number]

/** A row for each mirror, or for each of its partitions. */
export function topRows(now: Sample, before: Sample | undefined, byPartition: boolean): TopRow[] {
  const earlier = new Map(
    (before?.mirrors ?? []).flatMap(mirror => mirror.mirror_lags.map(part => [keyOf(mirror, part), part] as const)),
  )
  const seconds = before ? (now.timeMs - before.timeMs) / 1000 : 0
  return now.mirrors.flatMap(mirror => {
    const parts = mirror.mirror_lags.map(part => partRow(mirror, part, { earlier, seconds }))
    return byPartition ? parts : [wholeRow(mirror, parts)]
  })
}

const keyOf = (mirror: MirrorData, part: Part) => `${mirror.link_name}/${mirror.mirror_topic_name}/${part.partition}`

function partRow(
  mirror: MirrorData,
  part: Part,
  { earlier, seconds }: { earlier: ReadonlyMap<string, Part>; seconds: number },
): TopRow {
  const old = earlier.get(keyOf(mirror, part))
  // A node that was started anew counts from zero.
  const rate = (value: number | null, past: number | null | undefined) =>
    value === null || past === null || past === undefined || seconds <= 0 ? null : Math.max(0, value - past) / seconds
  return {
    link: mirror.link_name,
    topic: mirror.mirror_topic_name,
    partition: part.partition,
    partitions: 1,
    status: part.partition_state === 'FAILED' ? 'FAILED' : mirror.mirror_status,
    lag: part.lag,
    lagMs: part.lag_ms,
    recordsPerSecond: rate(part.log_end_offset, old?.log_end_offset),
    bytesPerSecond: rate(part.mirrored_bytes, old?.mirrored_bytes),
  }
}

function wholeRow(mirror: MirrorData, parts: readonly TopRow[]): TopRow {
  const sum = (values: readonly (number | null)[]) =>
    values.some(value => value === null) ? null : values.reduce<number>((total, value) => total + (value ?? 0), 0)
  return {
    link: mirror.link_name,
    topic: mirror.mirror_topic_name,
    partition: undefined,
    partitions: mirror.num_partitions,
    status: mirror.mirror_status,
    lag: sum(parts.map(part => part.lag)),
    lagMs: mirror.lag_ms,
    recordsPerSecond: sum(parts.map(part => part.recordsPerSecond)),
    bytesPerSecond: sum(parts.map(part => part.bytesPerSecond)),
  }
}

/** The worst, the fastest or the first of the alphabet first; what is not known comes before what is. */
export function sortedRows(rows: readonly TopRow[], sort: Sort, reversed: boolean): TopRow[] {
  const number = (value: number | null) => value ?? Number.POSITIVE_INFINITY
  const descending = (value: (row: TopRow) => number | null) => (a: TopRow, b: TopRow) => {
    const [left, right] = [number(value(a)), number(value(b))]
    return left === right ? 0 : right - left
  }
  const order: Record<Sort, (a: TopRow, b: TopRow) => number> = {
    lag: descending(row => row.lag),
    time: descending(row => row.lagMs),
    rate: descending(row => row.bytesPerSecond ?? 0),
    name: byName,
    status: (a, b) => textOrder(a.status, b.status),
  }
  const sorted = rows.toSorted((a, b) => order[sort](a, b) || byName(a, b))
  return reversed ? sorted.reverse() : sorted
}

const textOrder = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
const byName = (a: TopRow, b: TopRow) =>
  textOrder(a.topic, b.topic) || textOrder(a.link, b.link) || (a.partition ?? 0) - (b.partition ?? 0)
