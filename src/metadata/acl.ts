/** An access control entry and the numbers in it, as on the wire; used by the image, the authorizer, filters and the commands about ACLs. */
import type { Uuid } from '../core/uuid.ts'

/** An entry without its id: two of the same content are the same entry. */
export interface AclEntry {
  readonly resourceType: number
  readonly resourceName: string
  readonly patternType: number
  /** `User:alice`; `User:*` = everybody. */
  readonly principal: string
  /** IP address; `*` = all. */
  readonly host: string
  readonly operation: number
  readonly permissionType: number
}

export interface AclImage extends AclEntry {
  readonly id: Uuid
}

export const AclPattern = { LITERAL: 3, PREFIXED: 4 } as const

/** Pattern types that occur in filters only: any type, and "whatever covers this name". */
export const AclPatternFilter = { ANY: 1, MATCH: 2 } as const

export const AclPermission = { DENY: 2, ALLOW: 3 } as const

/** In filters: any resource type, operation or permission. */
export const ANY = 1

/** As the operation of an entry: every operation. */
export const ALL_OPERATIONS = 2

/** The literal name that stands for every name of a type, and the host that stands for every host. */
export const WILDCARD = '*'

/** Everything that makes the entry what it is. */
export const aclKey = (acl: AclEntry): string =>
  JSON.stringify([
    acl.resourceType,
    acl.patternType,
    acl.resourceName,
    acl.principal,
    acl.host,
    acl.operation,
    acl.permissionType,
  ])
