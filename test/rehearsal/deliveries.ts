// What consumers were given and what they committed, as runs of offsets, and what follows from it; used by the rehearsals.

/** `[first, last]`, both included, in the order in which they came. */
export type Runs = readonly (readonly [number, number])[]

/** One partition as a group saw it in one session. */
export interface Place {
  readonly runs: Runs
  /** The last commit that was acknowledged; -1 for none. */
  readonly committed: number
  /** When its first record came, in milliseconds since 1970. */
  readonly firstMs: number
}

/** By group, then by `topic-partition`. */
export type Deliveries = Readonly<Record<string, Readonly<Record<string, Place>>>>

/** Runs by `topic-partition`. */
export type Visible = Readonly<Record<string, Runs>>

/** What a group that was moved has to say. */
export interface GroupVerdict {
  readonly group: string
  readonly client: string
  /** Records that it was given at the source, at the mirror, and at both. */
  readonly atSource: number
  readonly atMirror: number
  readonly reread: number
  /** Of those that were read again, those below what had been committed at the source, acknowledged. */
  readonly rereadCommitted: number
  /** Records that are there and were never given to it. */
  readonly missed: number
  /** Its first record at the mirror, in milliseconds since 1970; null for none. */
  readonly firstMs: number | null
}

/** A group before and after it was moved. */
export interface Moved {
  readonly group: string
  readonly client: string
  readonly topics: readonly string[]
  readonly source: Deliveries
  readonly mirror: Deliveries
  readonly visible: Visible
  /** Topics of which a group need not see what was cleaned away before it came by, whatever the mirror still has of it. */
  readonly compacted: readonly string[]
  /** Offsets from here on are other records at the mirror than at the source. */
  readonly forks?: Readonly<Record<string, number>>
}

const NOTHING: Place = { runs: [], committed: -1, firstMs: 0 }

/** Compares what a group was given on both sides with what there is to be given. */
export function judgeGroup({
  group,
  client,
  topics,
  source,
  mirror,
  visible,
  compacted,
  forks = {},
}: Moved): GroupVerdict {
  const total = { atSource: 0, atMirror: 0, reread: 0, rereadCommitted: 0, missed: 0 }
  const firsts: number[] = []
  const partitions = Object.keys(visible).filter(partition => topics.includes(topicOf(partition)))
  for (const partition of partitions) {
    const before = source[group]?.[partition] ?? NOTHING
    const after = mirror[group]?.[partition] ?? NOTHING
    const fork = forks[partition] ?? Number.MAX_SAFE_INTEGER
    const given = new Set([...offsetsOf(before.runs)].filter(offset => offset < fork))
    const again = new Set(offsetsOf(after.runs))
    const passed = compacted.includes(topicOf(partition)) ? Math.max(0, ...before.runs.map(([, last]) => last + 1)) : 0
    total.atSource += given.size
    total.atMirror += again.size
    for (const offset of again) {
      if (!given.has(offset)) continue
      total.reread++
      if (offset < before.committed) total.rereadCommitted++
    }
    for (const offset of offsetsOf(visible[partition] ?? []))
      if (!given.has(offset) && !again.has(offset) && offset >= passed) total.missed++
    if (after.firstMs > 0) firsts.push(after.firstMs)
  }
  return { group, client, ...total, firstMs: firsts.length > 0 ? Math.min(...firsts) : null }
}

/** The topic of `topic-partition`. */
export const topicOf = (partition: string): string => partition.slice(0, partition.lastIndexOf('-'))

function* offsetsOf(runs: Runs): Generator<number> {
  for (const [first, last] of runs) for (let offset = first; offset <= last; offset++) yield offset
}
