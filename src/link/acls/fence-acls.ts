/** ACLs that a Lockstep cluster puts on its mirrors to keep clients out: they are no ACLs of the topic, and go with the mirror. ACL sync leaves them out. */
import type { AclBinding } from '../acl-ports.ts'

const TOPIC = 2
const LITERAL = 3
const WRITE = 4
const ALL = 2
const DENY = 2

/** The source's own ACLs. `isMirror`: is a topic of that name a mirror at the source? */
export const withoutFenceAcls = (
  acls: readonly AclBinding[],
  isMirror: (topic: string) => boolean,
): readonly AclBinding[] => acls.filter(acl => !(isOfFence(acl) && isMirror(acl.resourceName)))

/** DENY WRITE, or ALLOW ALL, to everybody on one topic. */
function isOfFence({ resourceType, patternType, principal, host, operation, permissionType }: AclBinding): boolean {
  if (resourceType !== TOPIC || patternType !== LITERAL || principal !== 'User:*' || host !== '*') return false
  return operation === (permissionType === DENY ? WRITE : ALL)
}
