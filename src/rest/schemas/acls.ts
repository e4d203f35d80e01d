/** Bodies and answers about ACLs: those of the cluster, and those that a link created (our own addition, rest-and-cli §B). */
import { type Static, Type } from 'typebox'
import type { AclView } from '../cluster-ports.ts'
import { item, list, nullable } from './envelope.ts'

const entry = {
  resource_type: Type.String(),
  resource_name: Type.String(),
  pattern_type: Type.String(),
  principal: Type.String(),
  host: Type.String(),
  operation: Type.String(),
  permission: Type.String(),
}
export type AclEntry = { [K in keyof typeof entry]: string }

/** An ACL as bodies and answers write it. */
export const aclFields = (acl: AclView): AclEntry => ({
  resource_type: acl.resourceType,
  resource_name: acl.resourceName,
  pattern_type: acl.patternType,
  principal: acl.principal,
  host: acl.host,
  operation: acl.operation,
  permission: acl.permission,
})

export const LinkAclData = item('KafkaLinkAclData', {
  link_name: Type.String(),
  ...entry,
  has_login: nullable(Type.Boolean()),
})
export type LinkAclData = Static<typeof LinkAclData>

export const LinkAclDataList = list('KafkaLinkAclDataList', LinkAclData)
export type LinkAclDataList = Static<typeof LinkAclDataList>

export const AclData = item('KafkaAcl', { cluster_id: Type.String(), ...entry })
export type AclData = Static<typeof AclData>

export const AclDataList = list('KafkaAclList', AclData)
export type AclDataList = Static<typeof AclDataList>

export const CreateAclBody = Type.Object(entry, { additionalProperties: false })
export const CreateAclsBody = Type.Object(
  { data: Type.Array(CreateAclBody, { maxItems: 1000 }) },
  { additionalProperties: false },
)

const anyEntry = {
  resource_name: Type.Optional(Type.String()),
  principal: Type.Optional(Type.String()),
  host: Type.Optional(Type.String()),
}

export const AclFilterQuery = Type.Object({
  resource_type: Type.Optional(Type.String()),
  pattern_type: Type.Optional(Type.String()),
  operation: Type.Optional(Type.String()),
  permission: Type.Optional(Type.String()),
  ...anyEntry,
})

/** What is not narrowed on purpose is not deleted: ANY has to be said. */
export const DeleteAclsQuery = Type.Object({
  resource_type: Type.String(),
  pattern_type: Type.String(),
  operation: Type.String(),
  permission: Type.String(),
  ...anyEntry,
})

export const DeletedAcls = Type.Object({ data: Type.Array(AclData) })
