/** What the fixed node answers about links and their sources. */
import { FIXED_TIME_MS, fixedConfig, list } from './fixed-shapes.ts'

const LINK_ID = 'eEBkTffYSESld6EO898x3w'

const link = (name: string, change: object = {}) => ({
  kind: 'KafkaLinkData',
  metadata: { self: '', resource_name: null },
  source_cluster_id: '4L6g3nShT-eMCtK--X86sw',
  destination_cluster_id: null,
  remote_cluster_id: null,
  link_name: name,
  link_id: '78404a4d-f7d8-4844-a577-a10ef3df31df',
  cluster_link_id: LINK_ID,
  topic_names: ['orders', 'payments'],
  link_state: 'ACTIVE',
  link_error: 'NO_ERROR',
  link_error_message: null,
  link_error_time_ms: null,
  tasks: [
    { task_name: 'ConsumerOffsetSync', state: 'ACTIVE', errors: [], last_success_ms: FIXED_TIME_MS, reason: null },
    {
      task_name: 'AclSync',
      state: 'IN_ERROR',
      errors: [{ error_code: 'SECURITY_DISABLED_ERROR', error_message: 'the source has no authorizer' }],
      last_success_ms: null,
      reason: null,
    },
    {
      task_name: 'ShareGroupOffsetSync',
      state: 'NOT_CONFIGURED',
      errors: [],
      last_success_ms: null,
      reason: 'This cluster has no share groups.',
    },
  ],
  category_counts: [
    { state_category: 'ACTIVE', count: 10 },
    { state_category: 'IN_ERROR', count: 2 },
  ],
  ...change,
})

const broken = link('a-link-with-a-rather-long-name', {
  source_cluster_id: 'lkc-2v531',
  topic_names: [],
  link_state: 'UNAVAILABLE',
  link_error: 'BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR',
  link_error_message: 'cannot connect to kafka-1.west.example.org:9092: connection refused',
  category_counts: [],
})

const explanation = {
  kind: 'KafkaMirrorExplanation',
  metadata: { self: '', resource_name: null },
  link_name: 'west',
  source_topic_name: 'secret-orders',
  mirror_topic_name: 'secret-orders',
  mirrored: false,
  conclusion: 'It is not mirrored: an EXCLUDE filter matches it.',
  conditions: [
    { name: 'EXISTS_AT_SOURCE', answer: 'YES', detail: 'The source has it, with 6 partitions.', hint: null },
    {
      name: 'NOT_EXCLUDED_BY_FILTER',
      answer: 'NO',
      detail: 'The filter PREFIXED "secret" of auto.create.mirror.topics.filters excludes it.',
      hint: 'create it with `lockstep mirror create secret-orders --link west`, or change the filter',
    },
    { name: 'READABLE', answer: 'UNKNOWN', detail: 'The source has not answered yet.', hint: null },
  ],
}

const preflight = (ok: boolean) => ({
  kind: 'KafkaLinkPreflight',
  ok,
  results: [
    { name: 'PROPERTIES', state: 'PASSED', message: 'All properties can be set.', hint: null },
    {
      name: 'LOGIN',
      state: ok ? 'PASSED' : 'FAILED',
      message: ok ? 'User "app" logged in with PLAIN.' : 'User "app" was refused by kafka-1.west.example.org:9092.',
      hint: ok ? null : 'check key and secret',
    },
    { name: 'CHAIN', state: 'WARNING', message: 'The source does not tell what it mirrors.', hint: null },
    {
      name: 'TOPICS',
      state: ok ? 'PASSED' : 'SKIPPED',
      message: ok ? '12 topics can be read.' : 'Not asked.',
      hint: null,
    },
  ],
})

export const FIXED_LINKS: Readonly<Record<string, unknown>> = {
  'GET /links': list([link('west'), broken]),
  'POST /links': { warnings: ['the source does not tell what it mirrors'], cluster_link_id: LINK_ID },
  'POST /links:preflight': preflight(true),
  'POST /links:preflight?link_name=broken': preflight(false),
  'GET /links/west': link('west'),
  'DELETE /links/west': {
    warnings: ['The history of 1 mirror topic(s) is forgotten; the topics stay.'],
    failed_over: [],
  },
  'DELETE /links/west?force=true': { warnings: [], failed_over: ['orders', 'payments'] },
  'GET /links/west/configs': list([
    fixedConfig('bootstrap.servers', 'kafka-1.west.example.org:9092,kafka-2.west.example.org:9092'),
    fixedConfig('acl.sync.enable', 'false', { is_default: true, source: 'DEFAULT_CONFIG' }),
    fixedConfig('sasl.jaas.config', null, { is_sensitive: true }),
    fixedConfig('link.mode', 'DESTINATION', { is_read_only: true, synonyms: ['mode'] }),
  ]),
  'PUT /links/west/configs:alter': { warnings: [], cleared_configs: ['acl.filters'] },
  'POST /links/west/tasks/AclSync:run': undefined,
  'GET /links/west/source-topics': list([
    {
      source_topic_name: 'orders',
      mirror_topic_name: 'orders',
      num_partitions: 2,
      mirrored: true,
      mirror_status: 'ACTIVE',
      reason: null,
      message: null,
    },
    {
      source_topic_name: 'secret-orders',
      mirror_topic_name: 'secret-orders',
      num_partitions: 6,
      mirrored: false,
      mirror_status: null,
      reason: 'EXCLUDED_BY_FILTER',
      message: 'the filter PREFIXED "secret" excludes it',
    },
  ]),
  'GET /links/west/explain?topic=secret-orders': explanation,
  'GET /links/west/mirrors/orders/explain': {
    ...explanation,
    source_topic_name: 'orders',
    mirror_topic_name: 'orders',
    mirrored: true,
    conclusion: 'It is mirrored.',
    conditions: explanation.conditions.slice(0, 1),
  },
}
