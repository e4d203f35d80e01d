/** Answers about the ACLs that a link created (our own addition, rest-and-cli §B). */
import { type Static, Type } from 'typebox'
import { item, list, nullable } from './envelope.ts'

export const LinkAclData = item('KafkaLinkAclData', {
  link_name: Type.String(),
  resource_type: Type.String(),
  resource_name: Type.String(),
  pattern_type: Type.String(),
  principal: Type.String(),
  host: Type.String(),
  operation: Type.String(),
  permission: Type.String(),
  has_login: nullable(Type.Boolean()),
})
export type LinkAclData = Static<typeof LinkAclData>

export const LinkAclDataList = list('KafkaLinkAclDataList', LinkAclData)
export type LinkAclDataList = Static<typeof LinkAclDataList>
