/** Filters of ACLs (rest-and-cli §4): parsed from the JSON of `acl.filters`, asked by the ACL sync. */
import { type ConfigRow, ConfigValueError } from '../../core/config-rows.ts'
import type { AclBinding } from '../acl-ports.ts'
import { ANY, aclOperations, aclPatternTypes, aclPermissionTypes, aclResourceTypes } from '../acls/acl-names.ts'
import { fieldsOf, filterList, oneOf } from './filter-json.ts'

/** What it does not name matches everything. */
export interface AclFilter {
  readonly resourceType: number
  readonly patternType: number
  /** The name in the ACL itself; nothing is expanded. */
  readonly name: string | undefined
  readonly operation: number
  readonly permissionType: number
  readonly principal: string | undefined
  readonly host: string | undefined
}

/** Does any of the filters match? */
export const isAclSelected = (filters: readonly AclFilter[], acl: AclBinding): boolean =>
  filters.some(filter => matches(filter, acl))

function matches(filter: AclFilter, acl: AclBinding): boolean {
  const isEither = (wanted: number, found: number) => wanted === ANY || wanted === found
  const isSame = (wanted: string | undefined, found: string) => wanted === undefined || wanted === found
  return (
    isEither(filter.resourceType, acl.resourceType) &&
    isEither(filter.patternType, acl.patternType) &&
    isEither(filter.operation, acl.operation) &&
    isEither(filter.permissionType, acl.permissionType) &&
    isSame(filter.name, acl.resourceName) &&
    isSame(filter.principal, acl.principal) &&
    isSame(filter.host, acl.host)
  )
}

/** The filters of a property's text; none for an empty one. Throws ConfigValueError. */
export const parseAclFilters = (text: string): AclFilter[] =>
  text.trim() === '' ? [] : filterList(text, 'aclFilters').map(oneFilter)

/** A property that holds such filters, kept as the text that was given. */
export const aclFiltersRow = (doc: string): ConfigRow<string> => ({
  type: 'json',
  default: '',
  mutable: true,
  allowed:
    '{"aclFilters":[{"resourceFilter":{"resourceType","patternType"},"accessFilter":{"operation","permissionType"}}]}',
  doc,
  parse: text => {
    parseAclFilters(text)
    return text.trim() === '' ? '' : text
  },
  format: value => value,
})

function oneFilter(value: unknown): AclFilter {
  const { resourceFilter, accessFilter } = fieldsOf(value, ['resourceFilter', 'accessFilter'], 'a filter')
  const resource = fieldsOf(resourceFilter ?? {}, ['resourceType', 'patternType', 'name'], 'a resourceFilter')
  const access = fieldsOf(accessFilter ?? {}, ['operation', 'permissionType', 'principal', 'host'], 'an accessFilter')
  return {
    resourceType: numberOf(resource['resourceType'], aclResourceTypes, 'resourceType'),
    patternType: numberOf(resource['patternType'], aclPatternTypes, 'patternType'),
    name: optionalText(resource['name'], 'name'),
    operation: numberOf(access['operation'], aclOperations, 'operation'),
    permissionType: numberOf(access['permissionType'], aclPermissionTypes, 'permissionType'),
    principal: optionalText(access['principal'], 'principal'),
    host: optionalText(access['host'], 'host'),
  }
}

/** Absent = any. Underscores may be left out, as in `transactionalid`. */
function numberOf(value: unknown, names: Readonly<Record<number, string>>, field: string): number {
  const plain = (text: string) => text.replaceAll('_', '')
  const asked = typeof value === 'string' ? plain(value) : (value ?? 'any')
  const name = oneOf(asked, Object.values(names).map(plain), field)
  return Number(Object.keys(names).find(number => plain(names[Number(number)] ?? '') === name))
}

function optionalText(value: unknown, field: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value !== 'string' || value === '') throw new ConfigValueError(`has a ${field} that is no text`)
  return value
}
