/** Filters of topics and groups by name (rest-and-cli §4): parsed from the JSON of a link property, asked by syncs and discovery. */
import { type ConfigRow, ConfigValueError } from '../../core/config-rows.ts'

/** Whose offsets: of groups that read mirrors here, or of groups that read the peer's mirrors of topics of ours. */
export type TopicType = 'LOCAL_MIRROR' | 'REMOTE_MIRROR'

export interface NameFilter {
  readonly name: string
  /** LITERAL: the whole name, `*` = every name. PREFIXED: what begins with it. */
  readonly patternType: 'LITERAL' | 'PREFIXED'
  readonly filterType: 'INCLUDE' | 'EXCLUDE'
  /** Of group filters; LOCAL_MIRROR unless given. */
  readonly topicTypes: readonly TopicType[]
}

export type FilterKind = 'topicFilters' | 'groupFilters'

/** Is the name included by a filter and excluded by none? */
export function isSelected(filters: readonly NameFilter[], name: string): boolean {
  let included = false
  for (const filter of filters) {
    if (!matches(filter, name)) continue
    if (filter.filterType === 'EXCLUDE') return false
    included = true
  }
  return included
}

export function matches({ patternType, name: pattern }: NameFilter, name: string): boolean {
  if (patternType === 'PREFIXED') return name.startsWith(pattern)
  return pattern === '*' || pattern === name
}

/** The filters of a property's text; none for an empty one. Throws ConfigValueError. */
export function parseNameFilters(text: string, kind: FilterKind): NameFilter[] {
  if (text.trim() === '') return []
  const filters = fieldsOf(parsedJson(text), [kind], 'the filters')[kind]
  if (!Array.isArray(filters) || filters.length === 0)
    throw new ConfigValueError(`must have a list "${kind}" of at least one filter`)
  return filters.map(filter => oneFilter(filter, kind))
}

/** A property that holds such filters, kept as the text that was given. */
export const nameFiltersRow = (kind: FilterKind, doc: string): ConfigRow<string> => ({
  type: 'json',
  default: '',
  mutable: true,
  allowed: `{"${kind}":[{"name","patternType","filterType"}]}`,
  doc,
  parse: text => {
    parseNameFilters(text, kind)
    return text.trim() === '' ? '' : text
  },
  format: value => value,
})

function oneFilter(value: unknown, kind: FilterKind): NameFilter {
  const known = ['name', 'patternType', 'filterType', ...(kind === 'groupFilters' ? ['topicTypes'] : [])]
  const { name, patternType, filterType, topicTypes = ['LOCAL_MIRROR'] } = fieldsOf(value, known, 'a filter')
  if (typeof name !== 'string' || name === '') throw new ConfigValueError('has a filter without a name')
  if (!Array.isArray(topicTypes) || topicTypes.length === 0)
    throw new ConfigValueError('has topicTypes that are no list of LOCAL_MIRROR and REMOTE_MIRROR')
  return {
    name,
    patternType: oneOf(patternType, ['LITERAL', 'PREFIXED'], 'patternType'),
    filterType: oneOf(filterType, ['INCLUDE', 'EXCLUDE'], 'filterType'),
    topicTypes: topicTypes.map(type => oneOf(type, ['LOCAL_MIRROR', 'REMOTE_MIRROR'], 'topicTypes')),
  }
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ConfigValueError('must be JSON')
  }
}

function fieldsOf(value: unknown, known: readonly string[], what: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ConfigValueError(`must be JSON in which ${what} is an object`)
  const unknown = Object.keys(value).find(key => !known.includes(key))
  if (unknown !== undefined)
    throw new ConfigValueError(`has the unknown field "${unknown}"; ${what} may have ${known.join(', ')}`)
  return value as Record<string, unknown>
}

function oneOf<T extends string>(value: unknown, allowed: readonly T[], field: string): T {
  const upper = typeof value === 'string' ? value.toUpperCase() : value
  const found = allowed.find(one => one === upper)
  if (found === undefined)
    throw new ConfigValueError(`has ${field} ${JSON.stringify(value)}, which must be ${allowed.join(' or ')}`)
  return found
}
