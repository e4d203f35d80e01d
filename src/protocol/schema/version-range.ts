/** Version ranges as the tables write them (`4`, `0-13`, `7+`); used by the compiler of `schema/` and by message(). */

/** Both ends inclusive; an open end is Infinity. */
export interface VersionRange {
  readonly min: number
  readonly max: number
}

/** Parses `N`, `N-M` or `N+`. A wrong text is a mistake in a table: RangeError. */
export function parseVersions(text: string): VersionRange {
  const match = /^(\d+)(?:(\+)|-(\d+))?$/.exec(text)
  if (!match) throw new RangeError(`"${text}" is not a version range`)
  const min = Number(match[1])
  if (match[2] === '+') return { min, max: Number.POSITIVE_INFINITY }
  return { min, max: match[3] === undefined ? min : Number(match[3]) }
}

/** Is the version in the range? An omitted range means always. */
export function includesVersion(range: string | undefined, version: number): boolean {
  if (range === undefined) return true
  const { min, max } = parseVersions(range)
  return version >= min && version <= max
}
