/** What the fixed node answers about mirrors. */
import { FIXED_TIME_MS, list } from './fixed-shapes.ts'
import { FIXED_VERIFICATION } from './fixed-verification.ts'

const lag = (partition: number, behind: number | null, change: object = {}) => ({
  partition,
  lag: behind,
  last_source_fetch_offset: behind === null ? -1 : 4998 + partition,
  lag_ms: behind === null ? null : behind * 7,
  log_start_offset: 0,
  log_end_offset: 4998,
  source_high_watermark: behind === null ? null : 4998 + behind,
  mirrored_bytes: 1_048_576,
  partition_state: 'ACTIVE',
  reason: null,
  ...change,
})

const mirror = (topic: string, change: object = {}) => ({
  kind: 'KafkaMirrorData',
  metadata: { self: '', resource_name: null },
  link_name: 'west',
  mirror_topic_name: topic,
  source_topic_name: topic,
  num_partitions: 2,
  mirror_lags: [lag(1, 0), lag(0, 1234)],
  mirror_status: 'ACTIVE',
  mirror_topic_error: 'NO_ERROR',
  state_time_ms: FIXED_TIME_MS,
  mirror_state_transition_errors: [],
  allowed_actions: ['pause', 'promote', 'failover', 'delete'],
  lag_ms: 8638,
  reason: null,
  held: false,
  stop_points: [],
  ...change,
})

const failed = mirror('payments', {
  mirror_lags: [lag(0, null, { partition_state: 'FAILED', reason: 'the source topic has another id now' })],
  num_partitions: 1,
  mirror_status: 'FAILED',
  mirror_topic_error: 'SOURCE_TOPIC_ID_CHANGED',
  allowed_actions: ['resume', 'failover', 'delete'],
  lag_ms: null,
  reason: 'the source topic was deleted and created again',
  mirror_state_transition_errors: [
    { error_code: 'OPEN_TRANSACTION', error_message: 'transaction "billing-7" is open since offset 12', since_ms: 0 },
  ],
})

const altered = (topic: string, change: object = {}) => ({
  kind: 'AlterMirrorsData',
  metadata: { self: '', resource_name: null },
  mirror_topic_name: topic,
  error_code: null,
  error_message: null,
  mirror_lags: [lag(0, 1234), lag(1, 0)],
  messages_truncated: 17,
  partition_level_truncation_data: [
    { partition_id: 0, offset_truncated_to: 4981, messages_truncated: 17 },
    { partition_id: 1, offset_truncated_to: -1, messages_truncated: 0 },
  ],
  partitions: [
    { partition: 0, end_offset: 4998, stop_offset: null, last_known_lag: 1234, waiting_for: '1234 offsets behind' },
    { partition: 1, end_offset: 4998, stop_offset: 4998, last_known_lag: 0, waiting_for: null },
  ],
  open_transactions: 2,
  groups_behind: ['billing'],
  groups_in_use: ['shipping'],
  retention_bytes_at_risk: 52_428_800,
  ...change,
})

const refused = altered('gone', {
  error_code: 40403,
  error_message: "Link 'west' has no mirror topic 'gone'.",
  mirror_lags: [],
  partitions: [],
  open_transactions: 0,
  groups_behind: [],
  groups_in_use: [],
  retention_bytes_at_risk: null,
})

export const FIXED_MIRRORS: Readonly<Record<string, unknown>> = {
  'GET /links/west/mirrors': list([mirror('orders'), failed]),
  'GET /links/-/mirrors': list([mirror('orders'), failed]),
  'POST /links/west/mirrors': { warnings: ['loops through other clusters were not checked'] },
  'GET /links/west/mirrors/orders': mirror('orders'),
  'GET /links/west/mirrors/payments': failed,
  'GET /links/west/mirrors/orders/history': list([
    {
      time_ms: FIXED_TIME_MS,
      mirror_status: 'PAUSED',
      previous_status: 'ACTIVE',
      event: 'pause',
      reason: 'asked for by User:ANONYMOUS',
    },
    {
      time_ms: FIXED_TIME_MS - 60_000,
      mirror_status: 'ACTIVE',
      previous_status: null,
      event: 'create',
      reason: 'created',
    },
  ]),
  ...Object.fromEntries(
    [
      'promote',
      'failover',
      'pause',
      'resume',
      'reverse-and-start-mirror',
      'reverse-and-pause-mirror',
      'truncate-and-restore',
    ].map(verb => [`POST /links/west/mirrors:${verb}`, { kind: verb, data: [altered('orders'), refused] }]),
  ),
  'POST /links/west/mirrors:verify': FIXED_VERIFICATION,
}
