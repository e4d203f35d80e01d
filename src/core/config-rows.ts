/** Config rows: one row per property with its type, default, bounds and line of documentation; parsing and docs come from it. */

export interface ConfigRow<T> {
  readonly type: 'boolean' | 'int' | 'long' | 'double' | 'string' | 'list' | 'password' | 'enum' | 'json'
  /** Value when absent; undefined = required or "not set". */
  readonly default: T | undefined
  /** May it be changed after creation or start? */
  readonly mutable: boolean
  readonly sensitive?: boolean
  /** The values that `parse` takes, in words; absent where the type or the line of documentation says enough. */
  readonly allowed?: string
  /** One line of documentation. */
  readonly doc: string
  /** Text → value. Throws ConfigValueError with what is allowed. */
  readonly parse: (text: string) => T
  /** Value → text as listed by describe. */
  readonly format: (value: T) => string
}

/** A value that a row refuses; the message says what is allowed. */
export class ConfigValueError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ConfigValueError'
  }
}

interface Common<T> {
  readonly default?: T
  readonly mutable?: boolean
  readonly doc: string
}

const base = <T>(options: Common<T>) => ({
  default: options.default,
  mutable: options.mutable ?? true,
  doc: options.doc,
})

/** `1 or more`, `at most 5`, `1 to 5`; undefined = whatever the type can hold. */
export function rangeText({ min, max }: { readonly min?: number; readonly max?: number }): string | undefined {
  if (max === undefined) return min === undefined ? undefined : `${min} or more`
  return min === undefined ? `at most ${max}` : `${min} to ${max}`
}

const allowedOf = (allowed: string | undefined) => (allowed === undefined ? {} : { allowed })

export function booleanRow(options: Common<boolean>): ConfigRow<boolean> {
  return {
    ...base(options),
    type: 'boolean',
    parse: text => {
      const lower = text.trim().toLowerCase()
      if (lower !== 'true' && lower !== 'false') throw new ConfigValueError(`must be true or false, not "${text}"`)
      return lower === 'true'
    },
    format: String,
  }
}

/** A whole number within [min, max]. */
export function intRow(options: Common<number> & { min?: number; max?: number; long?: boolean }): ConfigRow<number> {
  const min = options.min ?? (options.long ? Number.MIN_SAFE_INTEGER : -2147483648)
  const max = options.max ?? (options.long ? Number.MAX_SAFE_INTEGER : 2147483647)
  return {
    ...base(options),
    type: options.long ? 'long' : 'int',
    ...allowedOf(rangeText(options)),
    parse: text => {
      const trimmed = text.trim()
      // Kafka's Long.MAX_VALUE ("for ever") is clamped to what fits a number exactly.
      const value = options.long && trimmed === '9223372036854775807' ? max : Number(trimmed)
      if (trimmed === '' || !Number.isSafeInteger(value) || value < min || value > max)
        throw new ConfigValueError(`must be a whole number from ${min} to ${max}, not "${text}"`)
      return value
    },
    format: value => (options.long && value === Number.MAX_SAFE_INTEGER ? '9223372036854775807' : String(value)),
  }
}

export function doubleRow(options: Common<number> & { min: number; max: number }): ConfigRow<number> {
  return {
    ...base(options),
    type: 'double',
    ...allowedOf(rangeText(options)),
    parse: text => {
      const value = Number(text)
      if (text.trim() === '' || !(value >= options.min && value <= options.max))
        throw new ConfigValueError(`must be a number from ${options.min} to ${options.max}, not "${text}"`)
      return value
    },
    format: String,
  }
}

export function stringRow(
  options: Common<string> & { check?: (text: string) => string | undefined; sensitive?: boolean },
): ConfigRow<string> {
  return {
    ...base(options),
    type: options.sensitive ? 'password' : 'string',
    ...(options.sensitive ? { sensitive: true } : {}),
    parse: text => {
      const problem = options.check?.(text)
      if (problem) throw new ConfigValueError(problem)
      return text
    },
    format: value => value,
  }
}

export function enumRow<const V extends string>(options: Common<V> & { values: readonly V[] }): ConfigRow<V> {
  return {
    ...base(options),
    type: 'enum',
    allowed: options.values.join(', '),
    parse: text => {
      const found = options.values.find(value => value.toLowerCase() === text.trim().toLowerCase())
      if (found === undefined) throw new ConfigValueError(`must be one of ${options.values.join(', ')}, not "${text}"`)
      return found
    },
    format: value => value,
  }
}

/** A comma-separated list; blanks are trimmed, empty items dropped. */
export function listRow(
  options: Common<readonly string[]> & { check?: (items: readonly string[]) => string | undefined },
): ConfigRow<readonly string[]> {
  return {
    ...base(options),
    type: 'list',
    parse: text => {
      const items = text.split(',').flatMap(item => item.trim() || [])
      const problem = options.check?.(items)
      if (problem) throw new ConfigValueError(problem)
      return items
    },
    format: value => value.join(','),
  }
}

/** The known key nearest to a mistyped one (edit distance ≤ 40 % of its length), for error messages. */
export function nearestKey(key: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(2, Math.floor(key.length * 0.4)) + 1
  for (const candidate of known) {
    const distance = editDistance(key, candidate, bestDistance)
    if (distance < bestDistance) {
      best = candidate
      bestDistance = distance
    }
  }
  return best
}

function editDistance(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) >= limit) return limit
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(substitution, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? limit
}
