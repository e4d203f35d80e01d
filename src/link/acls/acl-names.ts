/** Names of the numbers in ACLs, as Kafka's tools write them; filters are parsed with them, listings show them. */
import type { AclBinding } from '../acl-ports.ts'

/** Number → name. ANY stands in filters only. */
export const aclResourceTypes: Readonly<Record<number, string>> = {
  1: 'ANY',
  2: 'TOPIC',
  3: 'GROUP',
  4: 'CLUSTER',
  5: 'TRANSACTIONAL_ID',
  6: 'DELEGATION_TOKEN',
  7: 'USER',
}

export const aclPatternTypes: Readonly<Record<number, string>> = { 1: 'ANY', 3: 'LITERAL', 4: 'PREFIXED' }

export const aclOperations: Readonly<Record<number, string>> = {
  1: 'ANY',
  2: 'ALL',
  3: 'READ',
  4: 'WRITE',
  5: 'CREATE',
  6: 'DELETE',
  7: 'ALTER',
  8: 'DESCRIBE',
  9: 'CLUSTER_ACTION',
  10: 'DESCRIBE_CONFIGS',
  11: 'ALTER_CONFIGS',
  12: 'IDEMPOTENT_WRITE',
  13: 'CREATE_TOKENS',
  14: 'DESCRIBE_TOKENS',
  15: 'TWO_PHASE_COMMIT',
}

export const aclPermissionTypes: Readonly<Record<number, string>> = { 1: 'ANY', 2: 'DENY', 3: 'ALLOW' }

/** "Any" in every field of a filter that holds a number. */
export const ANY = 1

/** Everything that makes a binding what it is, as text: for maps and as the name of its record. */
export const aclText = (acl: AclBinding): string =>
  JSON.stringify([
    acl.resourceType,
    acl.patternType,
    acl.resourceName,
    acl.principal,
    acl.host,
    acl.operation,
    acl.permissionType,
  ])
