/** Turns successive REST answers about one mirror into what the live table shows, rates included. Pure; the live view calls it. */
import type { MirrorData } from '../../rest/schemas/mirrors.ts'

/** One mirror partition at one moment. */
export interface PartitionFigures {
  readonly partition: number
  /** null = not known yet. */
  readonly sourceHighWatermark: number | null
  readonly mirrorEndOffset: number | null
  readonly lag: number | null
  readonly lagMs: number | null
  /** null until there are two samples. */
  readonly bytesPerSecond: number | null
  /** Why the partition does not follow; null = all is well. */
  readonly problem: string | null
}

/** One mirror topic at one moment. */
export interface MirrorFigures {
  readonly link: string
  readonly topic: string
  readonly status: string
  readonly reason: string | null
  /** By ascending partition. */
  readonly partitions: readonly PartitionFigures[]
  readonly total: Omit<PartitionFigures, 'partition' | 'problem'>
  /** Since the meter began. */
  readonly elapsedMs: number
}

interface Sample {
  readonly atMs: number
  /** Bytes mirrored since the node started, by partition. */
  readonly bytes: ReadonlyMap<number, number>
}

/** Rates are means over this long (or since the last answer, if that is longer ago): long enough not to flicker. */
const WINDOW_MS = 3000

export class MirrorMeter {
  #startedAtMs: number | undefined
  readonly #samples: Sample[] = []

  /** Takes one answer, received at `atMs` (monotonic). */
  measure(mirror: MirrorData, atMs: number): MirrorFigures {
    this.#startedAtMs ??= atMs
    const bytes = new Map(mirror.mirror_lags.map(lag => [lag.partition, lag.mirrored_bytes]))
    this.#samples.push({ atMs, bytes })
    while (this.#samples.length > 2 && atMs - (this.#samples[0]?.atMs ?? atMs) > WINDOW_MS) this.#samples.shift()
    const stopOffsets = new Map(mirror.stop_points.map(point => [point.partition, point.stop_offset]))
    const partitions = mirror.mirror_lags
      .map(lag => ({
        partition: lag.partition,
        sourceHighWatermark: lag.source_high_watermark,
        // Once it is stopped, the mirror ends where it stopped; what clients add since is theirs.
        mirrorEndOffset: lag.log_end_offset ?? stopOffsets.get(lag.partition) ?? null,
        lag: lag.lag,
        lagMs: lag.lag_ms,
        bytesPerSecond: this.#rate(lag.partition),
        problem: lag.reason,
      }))
      .sort((a, b) => a.partition - b.partition)
    return {
      link: mirror.link_name,
      topic: mirror.mirror_topic_name,
      status: mirror.mirror_status,
      reason: mirror.reason,
      partitions,
      total: totalOf(partitions),
      elapsedMs: atMs - this.#startedAtMs,
    }
  }

  #rate(partition: number): number | null {
    const first = this.#samples[0]
    const last = this.#samples.at(-1)
    if (!first || !last || last.atMs <= first.atMs) return null
    const grown = (last.bytes.get(partition) ?? 0) - (first.bytes.get(partition) ?? 0)
    // The count starts anew with the node.
    return (Math.max(0, grown) * 1000) / (last.atMs - first.atMs)
  }
}

function totalOf(partitions: readonly PartitionFigures[]): MirrorFigures['total'] {
  const sum = (value: (of: PartitionFigures) => number | null) => fold(partitions.map(value), (a, b) => a + b)
  return {
    sourceHighWatermark: sum(of => of.sourceHighWatermark),
    mirrorEndOffset: sum(of => of.mirrorEndOffset),
    lag: sum(of => of.lag),
    lagMs: fold(
      partitions.map(of => of.lagMs),
      (a, b) => Math.max(a, b),
    ),
    bytesPerSecond: sum(of => of.bytesPerSecond),
  }
}

/** Of what is known; null if nothing is. */
function fold(values: readonly (number | null)[], join: (a: number, b: number) => number): number | null {
  const known = values.filter(value => value !== null)
  return known.length === 0 ? null : known.reduce(join)
}
