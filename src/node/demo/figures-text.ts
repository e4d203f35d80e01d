/** Numbers as people read them; called by everything in the demo that prints. */

const GROUPED = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const UNKNOWN = '-'

/** 1234567 → `1,234,567`; null → `-`. */
export const countText = (value: number | null): string => (value === null ? UNKNOWN : GROUPED.format(value))

/** Bytes (or bytes per second) in megabytes of 10^6: `0.42`, `3.5`, `120`. */
export function megabytesText(bytes: number | null): string {
  if (bytes === null) return UNKNOWN
  const value = bytes / 1e6
  return value.toFixed(value < 1 ? 2 : value < 100 ? 1 : 0)
}

/** Seconds with one decimal. */
export const secondsText = (ms: number): string => (ms / 1000).toFixed(1)

/** `0:07`, `12:34`, `1:02:03`. */
export function durationText(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60]
  const shown = parts[0] === 0 ? parts.slice(1) : parts
  return shown.map((part, i) => (i === 0 ? String(part) : String(part).padStart(2, '0'))).join(':')
}
