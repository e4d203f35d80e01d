/** Which ACLs DescribeAcls and DeleteAcls mean; Kafka's rules, used by the handlers and by the controller. */
import { type AclEntry, AclPattern, AclPatternFilter, ANY, WILDCARD } from './acl.ts'
import { AclOperation, AclResource } from './authorizer.ts'

/** Numbers as on the wire; null and ANY match everything. */
export interface AclFilter {
  readonly resourceType: number
  readonly resourceName: string | null
  /** Of `AclPattern` or `AclPatternFilter`. */
  readonly patternType: number
  readonly principal: string | null
  readonly host: string | null
  readonly operation: number
  readonly permissionType: number
}

/** Largest numbers that Kafka gives a name to; what is above counts as unknown. */
const LAST_RESOURCE = AclResource.USER
const LAST_PATTERN = AclPattern.PREFIXED
const LAST_OPERATION = AclOperation.TWO_PHASE_COMMIT
const LAST_PERMISSION = 3

const isKnown = (number: number, last: number): boolean => number >= ANY && number <= last

/** Is there a number without a name in what the filter says about resources? */
export const hasUnknownPattern = ({ resourceType, patternType }: AclFilter): boolean =>
  !isKnown(resourceType, LAST_RESOURCE) || !isKnown(patternType, LAST_PATTERN)

/** And in what it says about entries? */
export const hasUnknownEntry = ({ operation, permissionType }: AclFilter): boolean =>
  !isKnown(operation, LAST_OPERATION) || !isKnown(permissionType, LAST_PERMISSION)

export function aclMatches(filter: AclFilter, acl: AclEntry): boolean {
  return (
    (filter.resourceType === ANY || filter.resourceType === acl.resourceType) &&
    patternMatches(filter, acl) &&
    (filter.principal === null || filter.principal === acl.principal) &&
    (filter.host === null || filter.host === acl.host) &&
    (filter.operation === ANY || filter.operation === acl.operation) &&
    (filter.permissionType === ANY || filter.permissionType === acl.permissionType)
  )
}

function patternMatches({ patternType: wanted, resourceName: name }: AclFilter, acl: AclEntry): boolean {
  const anyType = wanted === AclPatternFilter.ANY || wanted === AclPatternFilter.MATCH
  if (!anyType && wanted !== acl.patternType) return false
  if (name === null) return true
  if (wanted !== AclPatternFilter.MATCH) return name === acl.resourceName
  if (acl.patternType === AclPattern.PREFIXED) return name.startsWith(acl.resourceName)
  return name === acl.resourceName || acl.resourceName === WILDCARD
}
