// The contract of links: L1 to L9 of the REST surface, with the enumerations that clients know.
import { fields, filled, flag, item, listOf, many, oneOf, orNull, type Shape, text, whole } from './shapes.ts'

const taskErrorCodes = oneOf(
  ...['UNKNOWN', 'NO_ERROR', 'INTERNAL_ERROR', 'AUTHENTICATION_ERROR', 'BROKER_AUTHENTICATION_ERROR'],
  ...['MISCONFIGURATION_ERROR', 'REMOTE_LINK_NOT_FOUND_ERROR', 'LINK_NOT_FOUND_ERROR', 'CONSUMER_GROUP_IN_USE_ERROR'],
  ...['AUTHORIZATION_ERROR', 'BROKER_AUTHORIZATION_ERROR', 'SECURITY_DISABLED_ERROR', 'TOPIC_EXISTS_ERROR'],
  ...['POLICY_VIOLATION_ERROR', 'LINK_COORDINATOR_NOT_ENABLED_ERROR', 'ACL_LIMIT_EXCEEDED'],
  ...['REMOTE_MIRROR_NOT_FOUND_ERROR', 'UNKNOWN_TOPIC_OR_PARTITION_ERROR', 'INVALID_TOPIC', 'SUPPRESSED_ERRORS'],
  'INVALID_REQUEST_ERROR',
)

export const taskErrors = many(fields({ error_code: taskErrorCodes, error_message: text }))

const task = fields({
  task_name: filled,
  state: oneOf(
    ...['UNKNOWN', 'ACTIVE', 'IN_ERROR', 'NOT_CONFIGURED', 'LINK_FAILED', 'LINK_UNAVAILABLE', 'LINK_PAUSED'],
  ),
  errors: taskErrors,
})

const linkFields = {
  link_name: filled,
  link_id: { type: 'string', pattern: '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' },
  cluster_link_id: { type: 'string', pattern: '^[A-Za-z0-9_-]{22}$' },
  source_cluster_id: orNull(text),
  destination_cluster_id: orNull(text),
  remote_cluster_id: orNull(text),
  topic_names: many(text),
  link_state: oneOf('ACTIVE', 'FAILED', 'UNAVAILABLE', 'PAUSED', 'UNKNOWN'),
  link_error: oneOf(
    ...['UNKNOWN', 'NO_ERROR', 'AUTHENTICATION_ERROR', 'UNRESOLVABLE_BOOTSTRAP_ERROR', 'TIMEOUT_ERROR'],
    ...['INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR', 'BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR'],
    ...['TLS_ERROR', 'AUTHORIZATION_ERROR', 'CLUSTER_ID_MISMATCH'],
  ),
  link_error_message: orNull(text),
  mirrored_bytes: whole,
  mirror_status_counts: many(fields({ mirror_status: filled, count: whole })),
  troubled_mirror_count: whole,
  category_counts: many(
    fields({ state_category: oneOf('PAUSED', 'IN_ERROR', 'PENDING', 'ACTIVE', 'NOT_APPLICABLE'), count: whole }),
  ),
}

/** More tasks may come; these are known to clients. */
const allOfThem: Shape = {
  ...many(task),
  allOf: [
    ...[
      'AclSync',
      'AutoCreateMirror',
      'ConsumerOffsetSync',
      'ShareGroupOffsetSync',
      'TopicConfigsSync',
      'PartitionSync',
    ],
  ].map(name => ({ contains: fields({ task_name: oneOf(name) }) })),
}

/** Without `include_tasks` there are no tasks. */
export const link: Shape = item('KafkaLinkData', linkFields, { tasks: { type: 'null' } })
export const linkWithTasks: Shape = item('KafkaLinkData', { ...linkFields, tasks: allOfThem })
export const linkList = listOf('KafkaLinkDataList', link)

export const linkConfig: Shape = item('KafkaLinkConfigData', {
  cluster_id: filled,
  link_name: filled,
  name: filled,
  value: orNull(text),
  is_default: flag,
  is_read_only: flag,
  is_sensitive: flag,
  source: oneOf('DYNAMIC_CLUSTER_LINK_CONFIG', 'DEFAULT_CONFIG'),
  synonyms: many(text),
  type: filled,
  default_value: orNull(text),
  allowed_values: orNull(text),
  documentation: filled,
})
export const linkConfigList = listOf('KafkaLinkConfigDataList', linkConfig)
