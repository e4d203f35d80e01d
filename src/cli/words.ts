/** Numbers in sentences and tables for people. Called by the commands. */

/** "1 topic", "12,345 topics". */
export const counted = (count: number, noun: string): string => `${grouped(count)} ${noun}${count === 1 ? '' : 's'}`

/** Digits in groups of three. */
export const grouped = (value: number): string => value.toLocaleString('en-US', { maximumFractionDigits: 0 })

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB']

/** Bytes with three digits: "1.53 MB". */
export function byteText(bytes: number): string {
  let value = bytes
  let unit = 0
  for (; value >= 999.5 && unit < UNITS.length - 1; unit++) value /= 1000
  const digits = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
  return `${value.toFixed(digits)} ${UNITS[unit]}`
}

/** A length of time with one or two units: "350 ms", "12.4 s", "3m 20s", "2h 5m", "4d 3h". */
export function timeText(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`
  const [minutes, hours, days] = [ms / 60_000, ms / 3_600_000, ms / 86_400_000].map(Math.floor) as [
    number,
    number,
    number,
  ]
  if (hours === 0) return `${minutes}m ${Math.floor(ms / 1000) % 60}s`
  return days === 0 ? `${hours}h ${minutes % 60}m` : `${days}d ${hours % 24}h`
}

/** Date and time in UTC, to the second: "2026-11-30 06:39:20". */
export const dateText = (ms: number): string => new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
