/** Tests of the commands about topics and configs as pure decisions; codes and wording were read from a real Kafka 4.3.1 node. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import type { NewTopic } from '../../metadata/controller-port.ts'
import { configOverrides, topicByName } from '../../metadata/metadata-image.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { alterConfigs } from './alter-configs.ts'
import { createPartitions } from './create-partitions.ts'
import { createTopics } from './create-topics.ts'
import { deleteTopics } from './delete-topics.ts'
import { after, clusterOf, directoryId, newTopic, topicDefaults, withTopic } from './fakes/cluster-images.ts'

/** Only groups are measured by properties of the server. */
const noServer = () => ''

test('a created topic has its partitions on the only broker and directory, led and in sync at once', () => {
  const image = clusterOf(1)
  const configs = new Map([['retention.ms', '5']])
  const { records, answer } = createTopics(
    image,
    [newTopic('t', { partitions: -1, replicationFactor: -1, configs })],
    topicDefaults,
  )
  const [created] = answer
  assert.deepEqual([created?.errorCode, created?.partitions, created?.replicationFactor], [0, 3, 1])
  const next = after(image, records)
  const topic = topicByName(next, 't')
  assert.equal(topic?.id, created?.topicId)
  assert.deepEqual(topic?.partitions[2], {
    replicas: [1],
    isr: [1],
    removingReplicas: [],
    addingReplicas: [],
    eligibleLeaderReplicas: [],
    lastKnownElr: [],
    leader: 1,
    leaderEpoch: 0,
    leaderRecoveryState: 0,
    partitionEpoch: 0,
    directories: [directoryId],
  })
  assert.deepEqual([...configOverrides(next, { type: 2, name: 't' })], [['retention.ms', '5']])
})

test('topics that Kafka refuses are refused with its code', () => {
  const image = withTopic('a.b')
  const assignment = (...replicas: [number, number[]][]) => ({ assignments: new Map(replicas) })
  const cases: [NewTopic, string][] = [
    [newTopic('a.b'), 'TOPIC_ALREADY_EXISTS'],
    [newTopic('a_b'), 'INVALID_TOPIC_EXCEPTION'],
    [newTopic(''), 'INVALID_TOPIC_EXCEPTION'],
    [newTopic('bad name'), 'INVALID_TOPIC_EXCEPTION'],
    [newTopic('__cluster_metadata'), 'INVALID_REQUEST'],
    [newTopic('p', { partitions: 0 }), 'INVALID_PARTITIONS'],
    [newTopic('p', { partitions: -2 }), 'INVALID_PARTITIONS'],
    [newTopic('r', { replicationFactor: 0 }), 'INVALID_REPLICATION_FACTOR'],
    [newTopic('r', { replicationFactor: 2 }), 'INVALID_REPLICATION_FACTOR'],
    [newTopic('m', assignment([0, [1]], [2, [1]])), 'INVALID_REPLICA_ASSIGNMENT'],
    [newTopic('m', assignment([1, [1]])), 'INVALID_REPLICA_ASSIGNMENT'],
    [newTopic('m', assignment([0, [1, 1]])), 'INVALID_REPLICA_ASSIGNMENT'],
    [newTopic('m', assignment([0, [7]])), 'INVALID_REPLICA_ASSIGNMENT'],
    [newTopic('m', assignment([0, []])), 'INVALID_REPLICA_ASSIGNMENT'],
    [newTopic('m', { ...assignment([0, [1]]), partitions: 1 }), 'INVALID_REQUEST'],
    [newTopic('big', { partitions: 10_001 }), 'POLICY_VIOLATION'],
    [newTopic('c', { configs: new Map([['nope', '1']]) }), 'INVALID_CONFIG'],
    [newTopic('c', { configs: new Map([['retention.ms', null]]) }), 'INVALID_CONFIG'],
    [newTopic('ok', assignment([0, [1]])), 'NONE'],
  ]
  for (const [topic, expected] of cases) {
    const { records, answer } = createTopics(image, [topic], topicDefaults)
    assert.equal(errorName(answer[0]?.errorCode ?? -99), expected, `${topic.name}: ${answer[0]?.errorMessage}`)
    assert.equal(records.length > 0, expected === 'NONE')
  }
})

test('one bad topic of a request does not stop the others, and a name given twice or colliding is refused', () => {
  const { answer } = createTopics(
    clusterOf(1),
    [newTopic('x.y'), newTopic('x_y'), newTopic('twice'), newTopic('twice'), newTopic('bad name'), newTopic('z')],
    topicDefaults,
  )
  assert.deepEqual(
    answer.map(topic => errorName(topic.errorCode)),
    ['NONE', 'INVALID_TOPIC_EXCEPTION', 'INVALID_REQUEST', 'INVALID_REQUEST', 'INVALID_TOPIC_EXCEPTION', 'NONE'],
  )
})

test('topics are deleted by name or id; unknown ones and topics named twice are refused', () => {
  const image = withTopic('t')
  const topicId = topicByName(image, 't')?.id ?? ZERO_UUID
  const other = 'AgAAAAAAAAAAAAAAAAAAAA' as Uuid
  const code = (topics: { name: string | null; topicId: Uuid }[], enabled = true) =>
    deleteTopics(image, topics, { enabled }).answer.map(topic => errorName(topic.errorCode))
  assert.deepEqual(code([{ name: 't', topicId: ZERO_UUID }]), ['NONE'])
  assert.deepEqual(code([{ name: null, topicId }]), ['NONE'])
  assert.deepEqual(code([{ name: null, topicId: other }]), ['UNKNOWN_TOPIC_ID'])
  assert.deepEqual(code([{ name: 'u', topicId: ZERO_UUID }]), ['UNKNOWN_TOPIC_OR_PARTITION'])
  assert.deepEqual(code([{ name: 't', topicId }]), ['INVALID_REQUEST'])
  assert.deepEqual(
    code([
      { name: 't', topicId: ZERO_UUID },
      { name: null, topicId },
    ]),
    ['INVALID_REQUEST', 'INVALID_REQUEST'],
  )
  assert.deepEqual(code([{ name: 't', topicId: ZERO_UUID }], false), ['TOPIC_DELETION_DISABLED'])
})

test('two unknown topic names are not one topic named twice', () => {
  const topics = ['u', 'v'].map(name => ({ name, topicId: ZERO_UUID }))
  const { answer } = deleteTopics(clusterOf(1), topics, { enabled: true })
  assert.deepEqual(
    answer.map(topic => errorName(topic.errorCode)),
    ['UNKNOWN_TOPIC_OR_PARTITION', 'UNKNOWN_TOPIC_OR_PARTITION'],
  )
})

test('list configs are appended to and subtracted from, starting at the default', () => {
  let image = withTopic('t')
  const alter = (operation: 'set' | 'append' | 'subtract' | 'delete', value: string | null) => {
    const resource = { type: 2, name: 't' }
    const decision = alterConfigs(
      image,
      [{ resource, changes: [{ key: 'cleanup.policy', operation, value }] }],
      noServer,
    )
    image = after(image, decision.records)
    return [decision.answer[0]?.errorCode, configOverrides(image, resource).get('cleanup.policy')]
  }
  assert.deepEqual(alter('append', 'compact'), [0, 'delete,compact'])
  assert.deepEqual(alter('subtract', 'delete'), [0, 'compact'])
  assert.deepEqual(alter('subtract', 'compact'), [0, ''])
  assert.deepEqual(alter('append', 'zzz'), [ErrorCode.INVALID_CONFIG, ''])
  assert.deepEqual(alter('set', null), [ErrorCode.INVALID_REQUEST, ''])
  assert.deepEqual(alter('delete', null), [0, undefined])
})

test('config changes that Kafka refuses are refused with its code, and equal values write nothing', () => {
  const image = withTopic('t', { configs: new Map([['retention.ms', '5']]) })
  const alter = (type: number, name: string, ...keys: [string, string | null][]) => {
    const changes = keys.map(([key, value]) => ({ key, value, operation: 'set' as const }))
    const { records, answer } = alterConfigs(image, [{ resource: { type, name }, changes }], noServer)
    return [errorName(answer[0]?.errorCode ?? -99), records.length]
  }
  assert.deepEqual(alter(2, 'nosuch', ['retention.ms', '1']), ['UNKNOWN_TOPIC_OR_PARTITION', 0])
  assert.deepEqual(alter(2, '', ['retention.ms', '1']), ['INVALID_REQUEST', 0])
  assert.deepEqual(alter(2, 't', ['nope', '1']), ['INVALID_CONFIG', 0])
  assert.deepEqual(alter(2, 't', ['retention.ms', '7'], ['nope', '1']), ['INVALID_CONFIG', 0])
  assert.deepEqual(alter(2, 't', ['retention.ms', '7'], ['retention.ms', '8']), ['INVALID_REQUEST', 0])
  assert.deepEqual(alter(2, 't', ['retention.ms', '5']), ['NONE', 0])
  assert.deepEqual(alter(4, '7', ['log.retention.ms', '1']), ['BROKER_ID_NOT_REGISTERED', 0])
  assert.deepEqual(alter(4, '1', ['num.partitions', '1']), ['INVALID_REQUEST', 0])
  assert.deepEqual(alter(4, '', ['log.retention.ms', '1']), ['NONE', 1])
  assert.deepEqual(alter(4, '1', ['min.insync.replicas', '2']), ['INVALID_CONFIG', 0])
  assert.deepEqual(alter(99, 'x', ['a', 'b']), ['INVALID_REQUEST', 0])
  // The second record is the ClearElr of KIP-966.
  assert.deepEqual(alter(2, 't', ['min.insync.replicas', '2']), ['NONE', 2])
})

test('partitions are added, never removed', () => {
  const image = withTopic('t')
  const grow = (name: string, newCount: number, assignments: number[][] | null = null) => {
    const { records, answer } = createPartitions(image, [{ name, newCount, assignments }], {})
    return [errorName(answer[0]?.errorCode ?? -99), topicByName(after(image, records), 't')?.partitions.length]
  }
  assert.deepEqual(grow('t', 3), ['NONE', 3])
  assert.deepEqual(grow('t', 2, [[1]]), ['NONE', 2])
  assert.deepEqual(grow('t', 2, [[9]]), ['INVALID_REPLICA_ASSIGNMENT', 1])
  assert.deepEqual(grow('t', 3, [[1]]), ['INVALID_REPLICA_ASSIGNMENT', 1])
  assert.deepEqual(grow('t', 1), ['INVALID_PARTITIONS', 1])
  assert.deepEqual(grow('t', 0), ['INVALID_PARTITIONS', 1])
  assert.deepEqual(grow('t', 10_100), ['POLICY_VIOLATION', 1])
  assert.deepEqual(grow('u', 2), ['UNKNOWN_TOPIC_OR_PARTITION', 1])
})
