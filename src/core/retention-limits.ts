/** Bounds of what a log keeps, by age and by size; -1 = none. Retention applies them, and failovers are told what they would delete. */
export interface RetentionLimits {
  readonly retentionMs: number
  readonly retentionBytes: number
}
