/** Reading the JSON of filter properties with clear refusals; the parsers of each kind of filter use it. */
import { ConfigValueError } from '../../core/config-rows.ts'

/** Throws ConfigValueError. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ConfigValueError('must be JSON')
  }
}

/** The fields of an object that may have no others. Throws ConfigValueError; `what` names it. */
export function fieldsOf(value: unknown, known: readonly string[], what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ConfigValueError(`must be JSON in which ${what} is an object`)
  const unknown = Object.keys(value).find(key => !known.includes(key))
  if (unknown !== undefined)
    throw new ConfigValueError(`has the unknown field "${unknown}"; ${what} may have ${known.join(', ')}`)
  return value as Record<string, unknown>
}

/** The list of filters of that name, at least one. Throws ConfigValueError. */
export function filterList(text: string, name: string): readonly unknown[] {
  const filters = fieldsOf(parsedJson(text), [name], 'the filters')[name]
  if (!Array.isArray(filters) || filters.length === 0)
    throw new ConfigValueError(`must have a list "${name}" of at least one filter`)
  return filters
}

/** One of these words, in any case. Throws ConfigValueError. */
export function oneOf<T extends string>(value: unknown, allowed: readonly T[], field: string): T {
  const upper = typeof value === 'string' ? value.toUpperCase() : value
  const found = allowed.find(one => one === upper)
  if (found === undefined)
    throw new ConfigValueError(`has ${field} ${JSON.stringify(value)}, which must be ${allowed.join(' or ')}`)
  return found
}
