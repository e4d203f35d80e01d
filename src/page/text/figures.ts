/** Figures as people read them; everything that shows one uses these. Pure. */

const plain = new Intl.NumberFormat('en')
const short = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })

/** 1,234,567; – where it is not known. */
export const numberText = (value: number | null | undefined): string =>
  value === null || value === undefined ? '–' : plain.format(value)

/** 12.4k, 3.1M: for charts and small places. */
export function shortNumber(value: number): string {
  for (const [size, suffix] of [
    [1e9, 'G'],
    [1e6, 'M'],
    [1e4, 'k'],
  ] as const)
    if (Math.abs(value) >= size) return `${short.format(value / (size === 1e4 ? 1e3 : size))}${suffix}`
  return short.format(value)
}

const BYTE_UNITS = ['B', 'KB', 'MB', 'GB', 'TB']

/** In steps of 1024. */
export function byteText(bytes: number): string {
  let [value, unit] = [bytes, 0]
  while (value >= 1024 && unit < BYTE_UNITS.length - 1) [value, unit] = [value / 1024, unit + 1]
  return `${unit === 0 || value >= 100 ? Math.round(value) : short.format(value)} ${BYTE_UNITS[unit]}`
}

export const rateText = (bytesPerSecond: number | null): string =>
  bytesPerSecond === null ? '–' : `${byteText(bytesPerSecond)}/s`

/** 12 ms, 4.2 s, 3 min, 5 h, 2 d; – where it is not known. */
export function durationText(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return '–'
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${ms < 10_000 ? short.format(ms / 1000) : Math.round(ms / 1000)} s`
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`
  if (ms < 48 * 3_600_000) return `${Math.round(ms / 3_600_000)} h`
  return `${Math.round(ms / 86_400_000)} d`
}

/** 1 mirror, 2 mirrors */
export const counted = (count: number, what: string): string =>
  `${plain.format(count)} ${what}${count === 1 ? '' : 's'}`

/** PENDING_STOPPED → pending stopped */
export const statusWords = (status: string): string => status.toLowerCase().replaceAll('_', ' ')
