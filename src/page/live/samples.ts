/** The last figures of something that grows and shrinks, for sparklines and charts; and rates out of counters. Pure. */

export interface Sample {
  readonly timeMs: number
  /** Records behind; null = not known. */
  readonly lag: number | null
  readonly lagMs: number | null
  /** A counter of bytes. */
  readonly bytes: number
}

/** What is kept: with a sample every five seconds, the last half hour. */
const SAMPLES_MAX = 360

/** The samples with one more at the end. */
export function withSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const last = samples.at(-1)
  if (last && sample.timeMs <= last.timeMs) return samples
  return [...samples.slice(-(SAMPLES_MAX - 1)), sample]
}

/** Bytes per second between neighbours; null for the first, and where the counter began anew. */
export function ratesOf(samples: readonly Sample[]): (number | null)[] {
  return samples.map((sample, index) => {
    const before = samples[index - 1]
    if (!before || sample.bytes < before.bytes) return null
    return ((sample.bytes - before.bytes) * 1000) / (sample.timeMs - before.timeMs)
  })
}

/** Bytes per second over the last samples, some ten seconds; null = not known yet. */
export function rateNow(samples: readonly Sample[]): number | null {
  const last = samples.at(-1)
  const first = last && samples.findLast(sample => last.timeMs - sample.timeMs >= 9000)
  const from = first ?? samples.at(-2)
  if (!last || !from || last.bytes < from.bytes || last.timeMs === from.timeMs) return null
  return ((last.bytes - from.bytes) * 1000) / (last.timeMs - from.timeMs)
}
