// The contract of mirrors: M1 to M11 of the REST surface.
import { taskErrors } from './links.ts'
import { fields, filled, item, listOf, many, nothing, oneOf, orNull, type Shape, text, whole } from './shapes.ts'

/** null = the node that knows did not answer. */
const mirrorLag = fields({ partition: whole, lag: orNull(whole), last_source_fetch_offset: whole })

const status = oneOf(
  ...['ACTIVE', 'FAILED', 'LINK_FAILED', 'LINK_PAUSED', 'PAUSED', 'PENDING_STOPPED', 'SOURCE_UNAVAILABLE', 'STOPPED'],
  ...['PENDING_MIRROR', 'PENDING_SYNCHRONIZE', 'PENDING_SETUP_FOR_RESTORE', 'PENDING_RESTORE'],
)

const mirrorFields = {
  link_name: filled,
  mirror_topic_name: filled,
  source_topic_name: filled,
  num_partitions: whole,
  mirror_lags: many(mirrorLag),
  mirror_status: status,
  mirror_topic_error: oneOf(
    ...['UNKNOWN', 'NOT_SET', 'NO_ERROR', 'SOURCE_TOPIC_MAY_BE_DELETED', 'SOURCE_TOPIC_ID_CHANGED'],
    ...['SOURCE_PARTITIONS_DECREASED', 'NON_MONOTONIC_LOG_APPEND_EPOCH', 'UNEXPECTED_TRUNCATION'],
    ...['UNSUPPORTED_MESSAGE_FORMAT', 'NON_MONOTONIC_SOURCE_EPOCH', 'ILLEGAL_STATE', 'UNSUPPORTED_MIRROR_STATE'],
    ...['AUTHORIZATION_ERROR', 'CORRUPT_BATCH', 'UNALIGNED_BATCH'],
  ),
  state_time_ms: whole,
  // Additions of section B.
  allowed_actions: many(text),
  lag_ms: orNull(whole),
  reason: orNull(text),
  held: { type: 'boolean' },
  reversal: orNull(
    fields({
      role: oneOf('MIRROR', 'SOURCE'),
      peer_status: orNull(status),
      peer_reason: orNull(text),
      read_only_ms: orNull(whole),
      aborted_transactions: whole,
    }),
  ),
}

export const mirror: Shape = item('KafkaMirrorData', mirrorFields, { mirror_state_transition_errors: nothing })
export const mirrorWithErrors: Shape = item('KafkaMirrorData', {
  ...mirrorFields,
  mirror_state_transition_errors: many({ ...(taskErrors['items'] as Shape) }),
})
export const mirrorList = listOf('KafkaMirrorDataList', mirror)

/** The answer of a verb; `kind` names what was done. */
export const altered = (kind: string): Shape =>
  fields({
    kind: { const: kind },
    metadata: fields({ self: text }, { resource_name: orNull(text) }),
    data: many(
      fields({
        kind: { const: 'AlterMirrorsData' },
        metadata: fields({ self: text }),
        mirror_topic_name: filled,
        error_code: orNull(whole),
        error_message: orNull(text),
        mirror_lags: many(mirrorLag),
        messages_truncated: orNull(whole),
        partition_level_truncation_data: many(
          fields({ partition_id: whole, offset_truncated_to: whole, messages_truncated: whole }),
        ),
        // Additions of section B.
        partitions: many(
          fields({
            partition: whole,
            end_offset: orNull(whole),
            stop_offset: orNull(whole),
            last_known_lag: orNull(whole),
            waiting_for: orNull(text),
          }),
        ),
        open_transactions: whole,
        groups_behind: many(text),
        groups_in_use: many(text),
        retention_bytes_at_risk: orNull(whole),
      }),
    ),
  })
