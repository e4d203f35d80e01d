/** An ACL of this cluster that a link created, and only therefore may delete; one record each, durable before the ACL is created (semantics §7). */
import type { Uuid } from '../../core/uuid.ts'
import { int8, string } from '../../protocol/schema/field.ts'
import { message } from '../../protocol/schema/message.ts'
import type { AclBinding } from '../acl-ports.ts'

export interface OwnedAclRecord {
  readonly linkId: Uuid
  readonly acl: AclBinding
}

/** Newest version that is written and understood. */
export const ownedAclVersion = 0

const table = message({
  name: 'LockstepOwnedAclValue',
  versions: '0',
  flexibleFrom: 0,
  fields: {
    resourceType: int8(),
    resourceName: string(),
    patternType: int8(),
    principal: string(),
    host: string(),
    operation: int8(),
    permissionType: int8(),
  },
})

export const encodeOwnedAcl = ({ acl }: OwnedAclRecord): Buffer => table.encode(acl, ownedAclVersion)

/** Throws DecodeError. */
export const decodeOwnedAcl = (body: Buffer, linkId: Uuid): OwnedAclRecord => ({
  linkId,
  acl: table.decode(body, ownedAclVersion),
})
