// The contract of section B: what this node adds to the surface that clients know.
import { fields, filled, flag, item, listOf, many, oneOf, orNull, text, whole } from './shapes.ts'

export const nodeList = listOf(
  'KafkaNodeDataList',
  item('KafkaNodeData', {
    node_id: whole,
    mode: oneOf('STANDALONE', 'JOINED'),
    version: filled,
    rest_url: { type: 'string', pattern: '^https?://' },
    partitions_led: whole,
    mirror_partitions_led: whole,
    cordoned: flag,
    health: filled,
    health_message: orNull(text),
    link_coordinator: flag,
  }),
)

const placed = { topic_name: filled, partition_id: whole, replicas: many(whole), leader: whole, since_ms: whole }

export const placement = item('KafkaPlacementData', {
  foreign_partitions: many(fields({ ...placed, state: filled, attempts: whole, error_message: orNull(text) })),
  misplaced_partitions: many(fields({ ...placed, condition: filled, reason: orNull(text) })),
})

export const linkGroupList = listOf(
  'KafkaLinkGroupDataList',
  item('KafkaLinkGroupData', {
    link_name: filled,
    group_id: filled,
    topic_name: filled,
    partition: whole,
    synced_offset: orNull(whole),
    synced_time_ms: orNull(whole),
    clamped: flag,
    reason: orNull(text),
  }),
)

export const linkAclList = listOf(
  'KafkaLinkAclDataList',
  item('KafkaLinkAclData', { principal: filled, operation: filled }),
)

export const historyList = listOf(
  'KafkaMirrorStateChangeList',
  item('KafkaMirrorStateChange', {
    mirror_status: filled,
    previous_status: orNull(text),
    reason: text,
    time_ms: whole,
  }),
)

export const preflight = fields({
  kind: { const: 'KafkaLinkPreflight' },
  ok: flag,
  results: many(
    fields({
      name: filled,
      state: oneOf('PASSED', 'WARNING', 'FAILED', 'SKIPPED'),
      message: text,
      hint: orNull(text),
    }),
  ),
})

export const explanation = item('KafkaMirrorExplanation', {
  link_name: filled,
  source_topic_name: filled,
  mirror_topic_name: orNull(text),
  mirrored: flag,
  conclusion: filled,
  conditions: many(fields({ name: filled, answer: oneOf('YES', 'NO', 'UNKNOWN'), detail: text, hint: orNull(text) })),
})

export const sourceTopicList = listOf(
  'KafkaSourceTopicDataList',
  item('KafkaSourceTopicData', {
    link_name: filled,
    source_topic_name: filled,
    mirror_topic_name: orNull(text),
    num_partitions: whole,
    mirrored: flag,
    mirror_status: orNull(text),
    reason: orNull(text),
    message: orNull(text),
  }),
)

export const verification = item('KafkaMirrorVerification', { verification_id: filled, link_name: filled })

/** `?report=true` of a link's changes. */
export const report = fields({ warnings: many(text) })
