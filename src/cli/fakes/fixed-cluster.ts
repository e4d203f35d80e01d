/** What the fixed node answers about groups, ACLs, topics and nodes. */
import { FIXED_TIME_MS, fixedConfig, list } from './fixed-shapes.ts'

const topic = (name: string, partitions: number) => ({
  topic_name: name,
  topic_id: 'PmF0ZBLgR1aXq9q0kL5hXA',
  is_internal: name.startsWith('__'),
  replication_factor: 1,
  partitions_count: partitions,
})

const group = (partition: number, change: object) => ({
  kind: 'KafkaLinkGroupData',
  link_name: 'west',
  group_id: 'billing',
  source_group_id: 'billing',
  topic_type: 'LOCAL_MIRROR',
  topic_name: 'orders',
  partition,
  source_offset: 900 + partition,
  synced_offset: 900,
  synced_time_ms: FIXED_TIME_MS,
  clamped: false,
  state: 'SYNCED',
  reason: null,
  ...change,
})

export const FIXED_CLUSTER: Readonly<Record<string, unknown>> = {
  'GET /links/west/groups': list([
    group(0, {}),
    group(1, {
      synced_offset: null,
      synced_time_ms: null,
      clamped: true,
      state: 'CONFLICT',
      reason: 'somebody else set it',
    }),
  ]),
  'POST /links/west/groups/billing:adopt': { group_id: 'billing', adopted_offsets: 1 },
  'GET /links/west/acls': list([
    {
      link_name: 'west',
      resource_type: 'TOPIC',
      resource_name: 'orders',
      pattern_type: 'LITERAL',
      principal: 'User:app',
      host: '*',
      operation: 'READ',
      permission: 'ALLOW',
      has_login: false,
    },
  ]),
  'GET /consumer-groups': list([
    { consumer_group_id: 'billing', is_simple: false, partition_assignor: 'range', state: 'STABLE', type: 'CLASSIC' },
  ]),
  'GET /consumer-groups/billing/lags': list([
    {
      topic_name: 'orders',
      partition_id: 0,
      current_offset: 900,
      log_end_offset: 4998,
      lag: 4098,
      consumer_id: 'consumer-1-7b1c',
      client_id: 'consumer-1',
    },
  ]),
  'GET /topics': list([topic('orders', 2), topic('__consumer_offsets', 50)]),
  'POST /topics': topic('orders', 2),
  'GET /topics/orders': topic('orders', 2),
  'DELETE /topics/orders': undefined,
  'GET /topics/orders/partitions': list([
    { partition_id: 0, leader_id: 1, replica_ids: [1], isr_ids: [1] },
    { partition_id: 1, leader_id: 1, replica_ids: [1], isr_ids: [1] },
  ]),
  'GET /topics/orders/configs': list([
    fixedConfig('cleanup.policy', 'compact', { source: 'DYNAMIC_TOPIC_CONFIG' }),
    fixedConfig('retention.ms', '604800000', { is_default: true, source: 'DEFAULT_CONFIG' }),
  ]),
  'POST /topics/orders/configs:alter': undefined,
  'POST /links/west/mirrors:move': {
    kind: 'KafkaMoveMirrors',
    data: [
      moved(0, { copies: false, error_message: null }),
      moved(1, { copies: true, error_message: null }),
      moved(2, { copies: false, error_message: 'the controller is busy' }),
    ],
  },
  'POST /links/west/mirrors:move?validate_only=true': {
    kind: 'KafkaMoveMirrors',
    data: [moved(0, { copies: false, error_message: null })],
  },
  'GET /placement': {
    kind: 'KafkaPlacementData',
    foreign_partitions: [
      {
        ...{ topic_name: 'theirs', partition_id: 2, replicas: [2, 1001], leader: 1001, since_ms: 1_700_000_000_000 },
        ...{ state: 'waiting', attempts: 1, error_message: null },
      },
    ],
    misplaced_partitions: [
      {
        ...{ topic_name: 'orders', partition_id: 0, replicas: [1001, 1002, 1], leader: 1, since_ms: 1_700_000_060_000 },
        ...{ condition: 'LED_BY_KAFKA', reason: 'the preferred leader is not available' },
      },
    ],
  },
  'GET /nodes': list([
    {
      node_id: 1,
      mode: 'STANDALONE',
      version: '0.1.0',
      rest_url: 'http://127.0.0.1:8090',
      partitions_led: 53,
      mirror_partitions_led: 3,
      cordoned: false,
      health: 'HEALTHY',
      health_message: null,
      link_coordinator: true,
    },
    joinedNode(1001, { version: '0.1.0', health: 'HEALTHY', health_message: null }),
    joinedNode(1002, {
      version: null,
      health: 'FENCED',
      health_message: 'the cluster has heard nothing of it for a session',
    }),
  ]),
  'DELETE /nodes/1002': undefined,
}

function joinedNode(id: number, state: { version: string | null; health: string; health_message: string | null }) {
  return {
    node_id: id,
    mode: 'JOINED',
    rest_url: `http://lockstep-${id}:8090`,
    partitions_led: id === 1001 ? 12 : 0,
    mirror_partitions_led: id === 1001 ? 12 : 0,
    cordoned: true,
    link_coordinator: id === 1001,
    ...state,
  }
}

function moved(partition: number, state: { copies: boolean; error_message: string | null }) {
  const to = { replicas: [1001, 1002, 1], target_replicas: [1002, 1001, 1] }
  return { topic_name: 'orders', partition_id: partition, ...to, ...state }
}
