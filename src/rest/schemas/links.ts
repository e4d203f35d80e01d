/** Bodies and answers of the link operations (rest-and-cli §1.2). */
import { type Static, Type } from 'typebox'
import { ConfigChanges } from './configs.ts'
import { ConfigEntries, item, list, nullable } from './envelope.ts'

export const CreateLinkBody = Type.Object(
  {
    source_cluster_id: Type.Optional(nullable(Type.String())),
    destination_cluster_id: Type.Optional(nullable(Type.String())),
    remote_cluster_id: Type.Optional(nullable(Type.String())),
    cluster_link_id: Type.Optional(nullable(Type.String())),
    configs: Type.Optional(ConfigEntries),
  },
  { additionalProperties: false },
)
export type CreateLinkBody = Static<typeof CreateLinkBody>

const LinkTask = Type.Object({
  task_name: Type.String(),
  state: Type.String(),
  errors: Type.Array(Type.Object({ error_code: Type.String(), error_message: Type.String() })),
  last_success_ms: nullable(Type.Integer()),
  /** Why the task is NOT_CONFIGURED; null in every other state. */
  reason: nullable(Type.String()),
})

export const LinkData = item('KafkaLinkData', {
  source_cluster_id: nullable(Type.String()),
  destination_cluster_id: nullable(Type.String()),
  remote_cluster_id: nullable(Type.String()),
  link_name: Type.String(),
  link_id: Type.String(),
  cluster_link_id: Type.String(),
  topic_names: Type.Array(Type.String()),
  link_state: Type.String(),
  link_error: Type.String(),
  link_error_message: nullable(Type.String()),
  link_error_time_ms: nullable(Type.Integer()),
  tasks: Type.Optional(nullable(Type.Array(LinkTask))),
  /** The worst of its mirrors that are not stopped; null = not known. */
  max_lag: nullable(Type.Integer()),
  max_lag_ms: nullable(Type.Integer()),
  /** Bytes appended to its mirrors that are not stopped since the node started; falls when one of them ends. */
  mirrored_bytes: Type.Integer(),
  /** Mirrors by the status that is shown of them; `category_counts` counts partitions. */
  mirror_status_counts: Type.Array(Type.Object({ mirror_status: Type.String(), count: Type.Integer() })),
  /** Of those that are ACTIVE: mirrors that something keeps from following their source; `reason` of each says what. */
  troubled_mirror_count: Type.Integer(),
  category_counts: Type.Array(Type.Object({ state_category: Type.String(), count: Type.Integer() })),
})
export type LinkData = Static<typeof LinkData>

export const LinkDataList = list('KafkaLinkDataList', LinkData)
export type LinkDataList = Static<typeof LinkDataList>

export const LinkConfigData = item('KafkaLinkConfigData', {
  cluster_id: Type.String(),
  name: Type.String(),
  value: nullable(Type.String()),
  is_default: Type.Boolean(),
  is_read_only: Type.Boolean(),
  is_sensitive: Type.Boolean(),
  source: Type.String(),
  synonyms: Type.Array(Type.String()),
  link_name: Type.String(),
  /** boolean, int, long, double, string, list, password, enum or json. */
  type: Type.String(),
  /** null = none, or sensitive. */
  default_value: nullable(Type.String()),
  /** The values that are taken, in words; null = the type and the documentation say enough. */
  allowed_values: nullable(Type.String()),
  documentation: Type.String(),
})
export type LinkConfigData = Static<typeof LinkConfigData>

export const LinkConfigDataList = list('KafkaLinkConfigDataList', LinkConfigData)
export type LinkConfigDataList = Static<typeof LinkConfigDataList>

export const AlterLinkConfigsBody = Type.Object(
  { data: ConfigChanges, validate_only: Type.Optional(Type.Boolean()) },
  { additionalProperties: false },
)

export const SetLinkConfigBody = Type.Object({ value: Type.String() }, { additionalProperties: false })

/** The answer of changes when `report=true` asks for one. */
export const LinkReport = Type.Object({
  warnings: Type.Array(Type.String()),
  /** Properties that went with the change: filters of a feature that was switched off. */
  cleared_configs: Type.Optional(Type.Array(Type.String())),
  failed_over: Type.Optional(Type.Array(Type.String())),
  cluster_link_id: Type.Optional(Type.String()),
})
export type LinkReport = Static<typeof LinkReport>
