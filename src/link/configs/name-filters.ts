/** Filters of topics and groups by name (rest-and-cli §4): parsed from the JSON of a link property, asked by syncs and discovery. */
import { type ConfigRow, ConfigValueError } from '../../core/config-rows.ts'
import { fieldsOf, filterList, oneOf } from './filter-json.ts'

/** Whose offsets: of groups that read mirrors here, or of groups that read the peer's mirrors of topics of ours. */
export type TopicType = 'LOCAL_MIRROR' | 'REMOTE_MIRROR'

export interface NameFilter {
  readonly name: string
  /** LITERAL: the whole name, `*` = every name. PREFIXED: what begins with it. */
  readonly patternType: 'LITERAL' | 'PREFIXED'
  readonly filterType: 'INCLUDE' | 'EXCLUDE'
  /** Of group filters. Unless given, an INCLUDE is about LOCAL_MIRROR, as elsewhere, and an EXCLUDE about both. */
  readonly topicTypes: readonly TopicType[]
}

export type FilterKind = 'topicFilters' | 'groupFilters'

/** Is the name included by a filter and excluded by none? */
export function isSelected(filters: readonly NameFilter[], name: string): boolean {
  const { include, exclude } = decidingFilters(filters, name)
  return include !== undefined && exclude === undefined
}

/** The same for a group, in topics of one of both types. */
export const isSelectedFor = (filters: readonly NameFilter[], group: string, topicType: TopicType): boolean =>
  isSelected(
    filters.filter(({ topicTypes }) => topicTypes.includes(topicType)),
    group,
  )

/** Does any filter include groups in topics of this type? */
export const includesType = (filters: readonly NameFilter[], topicType: TopicType): boolean =>
  filters.some(({ filterType, topicTypes }) => filterType === 'INCLUDE' && topicTypes.includes(topicType))

/** The first filters of each type that match the name. An EXCLUDE decides, wherever it stands. */
export function decidingFilters(
  filters: readonly NameFilter[],
  name: string,
): { readonly include: NameFilter | undefined; readonly exclude: NameFilter | undefined } {
  const first = (type: NameFilter['filterType']) =>
    filters.find(filter => filter.filterType === type && matches(filter, name))
  return { include: first('INCLUDE'), exclude: first('EXCLUDE') }
}

/** A filter in words, for people. */
export const filterText = ({ filterType, patternType, name }: NameFilter): string =>
  `${filterType} ${patternType} '${name}'`

export function matches({ patternType, name: pattern }: NameFilter, name: string): boolean {
  if (patternType === 'PREFIXED') return name.startsWith(pattern)
  return pattern === '*' || pattern === name
}

/** The filters of a property's text; none for an empty one. Throws ConfigValueError. */
export function parseNameFilters(text: string, kind: FilterKind): NameFilter[] {
  if (text.trim() === '') return []
  return filterList(text, kind).map(filter => oneFilter(filter, kind))
}

/** A property that holds such filters, kept as the text that was given. */
export const nameFiltersRow = (kind: FilterKind, doc: string): ConfigRow<string> => ({
  type: 'json',
  default: '',
  mutable: true,
  allowed: `{"${kind}":[{"name","patternType","filterType"${kind === 'groupFilters' ? ',"topicTypes"' : ''}}]}`,
  doc,
  parse: text => {
    parseNameFilters(text, kind)
    return text.trim() === '' ? '' : text
  },
  format: value => value,
})

function oneFilter(value: unknown, kind: FilterKind): NameFilter {
  const known = ['name', 'patternType', 'filterType', ...(kind === 'groupFilters' ? ['topicTypes'] : [])]
  const fields = fieldsOf(value, known, 'a filter')
  const { name, patternType } = fields
  const filterType = oneOf(fields['filterType'], ['INCLUDE', 'EXCLUDE'], 'filterType')
  const { topicTypes = filterType === 'INCLUDE' ? ['LOCAL_MIRROR'] : ['LOCAL_MIRROR', 'REMOTE_MIRROR'] } = fields
  if (typeof name !== 'string' || name === '') throw new ConfigValueError('has a filter without a name')
  if (!Array.isArray(topicTypes) || topicTypes.length === 0)
    throw new ConfigValueError('has topicTypes that are no list of LOCAL_MIRROR and REMOTE_MIRROR')
  return {
    name,
    patternType: oneOf(patternType, ['LITERAL', 'PREFIXED'], 'patternType'),
    filterType,
    topicTypes: topicTypes.map(type => oneOf(type, ['LOCAL_MIRROR', 'REMOTE_MIRROR'], 'topicTypes')),
  }
}
