/** Bounds of what a log keeps, by age and by size; -1 = none. Retention applies them, and failovers are told what they would delete. */
export interface RetentionLimits {
  readonly retentionMs: number
  readonly retentionBytes: number
}

/** `configOf`: of `retention.ms` and `retention.bytes`; what is not set keeps everything. */
export function retentionLimits(configOf: (key: string) => string | null | undefined): RetentionLimits {
  const limit = (key: string) => Number(configOf(key) ?? -1)
  return { retentionMs: limit('retention.ms'), retentionBytes: limit('retention.bytes') }
}
