/** ACLs that a link created as REST shows them; called by the engine. */
import type { AclBinding } from '../acl-ports.ts'
import { aclOperations, aclPatternTypes, aclPermissionTypes, aclResourceTypes } from '../acls/acl-names.ts'
import type { OwnedAclView } from '../engine-api.ts'
import { type OperationContext, requireLink } from '../operations/operation-context.ts'

/** By resource and principal. Throws LINK_NOT_FOUND. */
export function ownedAclViews(context: OperationContext, link: string): OwnedAclView[] {
  const { linkId } = requireLink(context, link)
  const rows = context.desired.ownedAcls(linkId).map(acl => viewOf(context, acl))
  const sortKey = (row: OwnedAclView) =>
    JSON.stringify([row.resourceType, row.resourceName, row.principal, row.operation])
  return rows.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
}

function viewOf({ destination }: OperationContext, acl: AclBinding): OwnedAclView {
  const word = (words: Readonly<Record<number, string>>, number: number) => words[number] ?? String(number)
  const user = /^User:(.+)$/.exec(acl.principal)?.[1]
  return {
    resourceType: word(aclResourceTypes, acl.resourceType),
    resourceName: acl.resourceName,
    patternType: word(aclPatternTypes, acl.patternType),
    principal: acl.principal,
    host: acl.host,
    operation: word(aclOperations, acl.operation),
    permission: word(aclPermissionTypes, acl.permissionType),
    hasLogin: user === undefined || user === '*' ? null : destination.hasLogin(user),
  }
}
