/** Answers about the groups that a link keeps in step (our own addition, rest-and-cli §B). */
import { type Static, Type } from 'typebox'
import { item, list, nullable } from './envelope.ts'

/** The offset of one group in one partition of a mirror. */
export const LinkGroupData = item('KafkaLinkGroupData', {
  link_name: Type.String(),
  group_id: Type.String(),
  source_group_id: Type.String(),
  topic_type: Type.String(),
  topic_name: Type.String(),
  partition: Type.Integer(),
  source_offset: Type.Integer(),
  synced_offset: nullable(Type.Integer()),
  synced_time_ms: nullable(Type.Integer()),
  clamped: Type.Boolean(),
  state: Type.String(),
  reason: nullable(Type.String()),
})
export type LinkGroupData = Static<typeof LinkGroupData>

export const LinkGroupDataList = list('KafkaLinkGroupDataList', LinkGroupData)
export type LinkGroupDataList = Static<typeof LinkGroupDataList>

export const AdoptGroupAnswer = Type.Object({ group_id: Type.String(), adopted_offsets: Type.Integer() })
export type AdoptGroupAnswer = Static<typeof AdoptGroupAnswer>
