// Java Admin on topics, their records and configs; run by the conformance suite of the Java clients.
import type { Scenario } from './scenario.ts'

/** For questions that a client asks again until its patience ends. */
const impatient = { 'default.api.timeout.ms': '3000', 'request.timeout.ms': '2500' }

const lifeOfTopics: Scenario = {
  name: 'topics are created, listed, described, grown and deleted',
  async run(side, seen) {
    await seen.step('create', () =>
      side.topics('create', {
        topics: [
          { name: 'life-a', partitions: 3 },
          { name: 'life-b', configs: { 'retention.ms': '60000', 'cleanup.policy': 'compact,delete' } },
          { name: 'life-c', assignments: [[1], [1]] },
        ],
      }),
    )
    await side.java('create-topics', { topics: [{ name: 'life-d' }] })
    await seen.step('create what exists', () => side.topics('create', { topics: [{ name: 'life-a' }] }))
    await seen.step('create badly', () =>
      side.topics('create', {
        topics: [
          { name: 'bad name' },
          { name: '.' },
          { name: 'n'.repeat(250) },
          { name: 'life-replicated', replicationFactor: 2 },
          { name: 'life-none', partitions: 0 },
          { name: 'life-config', configs: { 'no.such.config': '1' } },
          { name: 'life-value', configs: { 'retention.ms': 'soon' } },
          { name: 'life-policy', configs: { 'cleanup.policy': 'burn' } },
          { name: 'life-broker', assignments: [[7]] },
          { name: 'life-uneven', assignments: [[1], [1, 1]] },
        ],
      }),
    )
    await seen.step('validate only', () =>
      side.topics('create', { validateOnly: true, topics: [{ name: 'life-e' }, { name: 'life-a' }] }),
    )
    await seen.step('describe', () => side.topics('describe', { topics: ['life-a', 'life-c', 'life-e', 'bad name'] }))
    await seen.step('grow', () => side.topics('grow', { topic: 'life-a', count: 5 }))
    await seen.step('grow to the same', () => side.topics('grow', { topic: 'life-a', count: 5 }))
    await seen.step('shrink', () => side.topics('grow', { topic: 'life-a', count: 2 }))
    await seen.step('grow what is not there', () => side.topics('grow', { topic: 'life-e', count: 2 }))
    await seen.step('delete', () => side.topics('delete', { topics: ['life-b', 'life-e'] }))
    await seen.step('delete again', () => side.topics('delete', { topics: ['life-b'] }))
    await seen.step('list', async () =>
      (await side.topics<string[]>('list')).filter(name => name.startsWith('life-') && name !== 'life-b'),
    )
  },
}

const recordsOfTopics: Scenario = {
  name: 'offsets are listed by time, and records deleted',
  async run(side, seen) {
    // The records are older than any retention.
    await side.createTopics({ name: 'times', partitions: 2, configs: { 'retention.ms': '-1' } })
    const records = [3000, 1000, 5000, 2000].map(timestamp => ({ value: `at ${timestamp}`, timestamp }))
    await side.java('produce', { topic: 'times', partition: 0, records, batch: 2 })
    for (const spec of [
      'earliest',
      'latest',
      'max-timestamp',
      'earliest-local',
      'latest-tiered',
      '0',
      '1500',
      '4000',
      '6000',
    ])
      await seen.step(`offset of ${spec}`, () => side.topics('offsets', { partition: 'times-0', spec }))
    await seen.step('offset in an empty partition', () =>
      side.topics('offsets', { partition: 'times-1', spec: 'max-timestamp' }),
    )
    const before = (offsets: Record<string, number>) => side.topics('delete-records', { before: offsets })
    await seen.step('delete records', () => before({ 'times-0': 2 }))
    await seen.step('delete none', () => before({ 'times-0': 1 }))
    await seen.step('delete too many', () => before({ 'times-0': 9 }))
    await seen.step('delete of no partition', () =>
      side.topics('delete-records', { before: { 'times-7': 1 }, admin: impatient }),
    )
    await seen.step('earliest then', () => side.topics('offsets', { partition: 'times-0', spec: 'earliest' }))
    await seen.step('delete all', () => before({ 'times-0': -1 }))
    await seen.step('offset of a time then', () => side.topics('offsets', { partition: 'times-0', spec: '0' }))
    await side.createTopics({ name: 'times-compacted', configs: { 'cleanup.policy': 'compact' } })
    await seen.step('delete from a compacted topic', () => before({ 'times-compacted-0': 0 }))
  },
}

const topicConfigs: Scenario = {
  name: 'configs of topics are described and altered',
  async run(side, seen) {
    await side.createTopics({ name: 'configured', configs: { 'retention.ms': '60000' } })
    const name = 'configured'
    const alter = (ops: readonly (readonly string[])[], options: object = {}) =>
      side.topics('alter', { name, ops, ...options })
    await seen.step('all configs', () => side.topics('configs', { name }))
    await seen.step('set', () => alter([['SET', 'segment.bytes', '1048576']]))
    await seen.step('append', () => alter([['APPEND', 'cleanup.policy', 'compact']]))
    await seen.step('subtract', () => alter([['SUBTRACT', 'cleanup.policy', 'delete']]))
    await seen.step('delete', () => alter([['DELETE', 'retention.ms', '']]))
    await seen.step('append to what is no list', () => alter([['APPEND', 'segment.bytes', '2']]))
    await seen.step('unknown', () => alter([['SET', 'no.such.config', '1']]))
    await seen.step('no number', () => alter([['SET', 'segment.bytes', 'many']]))
    await seen.step('too small', () => alter([['SET', 'segment.bytes', '1']]))
    await seen.step('twice the same', () =>
      alter([
        ['SET', 'retention.ms', '1'],
        ['SET', 'retention.ms', '2'],
      ]),
    )
    await seen.step('validate only', () => alter([['SET', 'retention.ms', '7']], { validateOnly: true }))
    await seen.step('no topic', () => side.topics('alter', { name: 'nobody', ops: [['SET', 'retention.ms', '7']] }))
    const keys = ['segment.bytes', 'cleanup.policy', 'retention.ms', 'max.message.bytes']
    await seen.settles(
      'with synonyms',
      () => side.topics<Record<string, string[]>>('configs', { name, keys, synonyms: true }),
      found => found['cleanup.policy']?.[0] === 'compact' && found['retention.ms']?.[0] !== '60000',
    )
    await seen.step('configs of no topic', () => side.topics('configs', { name: 'nobody' }))
  },
}

const brokerConfigs: Scenario = {
  name: 'configs of brokers are described and altered',
  async run(side, seen) {
    const keys = [
      'log.retention.ms',
      'message.max.bytes',
      'num.io.threads',
      'log.cleaner.threads',
      'min.insync.replicas',
    ]
    const alter = (name: string, ops: readonly (readonly string[])[]) =>
      side.topics('alter', { type: 'broker', name, ops, ...(name === '7' ? { admin: impatient } : {}) })
    const configs = (name: string) =>
      side.topics<Record<string, string[]>>('configs', { type: 'broker', name, keys, synonyms: true })
    await seen.step('before', () => configs('1'))
    await seen.step('set for the cluster', () => alter('', [['SET', 'log.retention.ms', '86400000']]))
    await seen.step('set for the broker', () => alter('1', [['SET', 'message.max.bytes', '2000000']]))
    await seen.step('set what is read-only', () => alter('1', [['SET', 'broker.rack', 'r1']]))
    await seen.step('set what cannot be', () => alter('1', [['SET', 'message.max.bytes', '-7']]))
    await seen.step('no such broker', () => alter('7', [['SET', 'message.max.bytes', '2000000']]))
    await seen.step('no broker at all', () => alter('one', [['SET', 'message.max.bytes', '2000000']]))
    const source = 1
    await seen.settles(
      'of the broker',
      () => configs('1'),
      found => found['message.max.bytes']?.[source] === 'DYNAMIC_BROKER_CONFIG',
    )
    await seen.step('of the cluster', () => configs(''))
    await seen.step('delete', () => alter('', [['DELETE', 'log.retention.ms', '']]))
    await seen.step('delete of the broker', () => alter('1', [['DELETE', 'message.max.bytes', '']]))
    await seen.settles(
      'afterwards',
      () => configs('1'),
      found => found['message.max.bytes']?.[0] === '1048588',
    )
  },
}

export const topicScenarios: readonly Scenario[] = [lifeOfTopics, recordsOfTopics, topicConfigs, brokerConfigs]
