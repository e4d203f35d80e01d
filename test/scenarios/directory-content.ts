// Fills a node with one of everything that a data directory can hold; used by the directory suite on Kafka and on Lockstep.
import { eventually } from '../eventually.ts'
import type { JavaDriver } from '../java/driver.ts'
import { fromEarliest } from './from-earliest.ts'
import { TopicSide } from './topic-side.ts'

/** Groups and transactional ids that the content uses. */
export const contentOptions = {
  groups: ['members', 'outside', 'in-transactions'],
  transactionalIds: ['committed', 'aborted', 'open'],
}

/** Writes it all; ends no client that leaves something open. */
export async function fillDirectory(driver: JavaDriver, bootstrap: string): Promise<void> {
  const side = new TopicSide(driver, { bootstrap, dataDirectory: '' })
  const call = <Result>(command: string, args: object) => driver.call<Result>(command, { bootstrap, ...args })
  await side.createTopic('records', { partitions: 3, configs: { 'segment.bytes': '1048576' } })
  await side.createTopic('compacted', { configs: { 'cleanup.policy': 'compact', 'min.cleanable.dirty.ratio': '0.01' } })
  await side.createTopic('transactional', { partitions: 2, configs: { 'retention.ms': '-1' } })
  await side.createTopic('deleted', {})
  for (const [partition, codec] of (['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const).entries())
    await side.produce('records', {
      partition: partition % 3,
      codec,
      batch: 50,
      generate: { count: 400, valueBytes: 1_500, random: true, headers: 2, keys: 10, seed: partition },
    })
  await side.deleteRecords('records', { 1: 123 })
  await side.produce('compacted', { batch: 10, generate: { count: 200, keys: 5 } })
  await side.deleteTopic('deleted')
  await side.createPartitions('transactional', 3)
  for (const [id, end] of [
    ['committed', 'commit'],
    ['aborted', 'abort'],
    ['open', 'open'],
  ] as const)
    await side.produce('transactional', { partition: 0, generate: { count: 10 }, transaction: { id, end } })
  await writeGroups(call)
  await call('admin-topics', { op: 'alter', type: 'broker', name: '', ops: [['SET', 'log.retention.ms', '777000000']] })
  const acl = ['topic', 'records', 'literal', 'User:alice', '*', 'read', 'allow']
  const prefixed = ['group', 'app-', 'prefixed', 'User:bob', '10.0.0.1', 'all', 'deny']
  await call('admin-security', { op: 'create-acls', acls: [acl, prefixed] })
  await call('admin-security', { op: 'alter-scram', upsert: [['alice', 'SCRAM-SHA-512', 4096, 'secret']] })
}

/** A classic group with a member that leaves, offsets committed from outside, and offsets committed in transactions. */
async function writeGroups(call: (command: string, args: object) => Promise<unknown>): Promise<void> {
  const consumer = (op: string, args: object = {}) => call('consumer', { id: 'member', op, ...args })
  await consumer('open', { properties: { 'group.id': 'members' } })
  await consumer('subscribe', { topics: ['compacted'] })
  await consumer('commit', { offsets: { 'compacted-0': [17, 'here'] } }).catch(() => undefined)
  await call('admin-groups', { op: 'alter-offsets', group: 'outside', offsets: { 'records-0': 5, 'records-1': 130 } })
  const producer = (op: string, args: object = {}) => call('producer', { id: 'offsets', op, ...args })
  await producer('open', { properties: { 'transactional.id': 'committed' } })
  await producer('init')
  await producer('begin')
  await producer('offsets', { group: 'in-transactions', offsets: { 'records-2': 42 } })
  await producer('commit')
  await producer('close')
  await consumer('close')
}

/** What only Kafka keeps so far: a group of KIP-848, a share group that is in the middle of a topic, a quota. */
export async function fillNewerKinds(driver: JavaDriver, bootstrap: string): Promise<void> {
  const side = new TopicSide(driver, { bootstrap, dataDirectory: '' })
  const call = <Result>(command: string, args: object) => driver.call<Result>(command, { bootstrap, ...args })
  await side.createTopic('newer', {})
  await side.produce('newer', { batch: 1, records: Array.from({ length: 10 }, (_, index) => ({ value: `v${index}` })) })
  await fromEarliest(args => call('admin-topics', args), 'shared')
  await call('share-consume', { group: 'shared', topic: 'newer', count: 4, properties: oneByOne })
  const consumer = (op: string, args: object = {}) => call('consumer', { id: 'newer', op, ...args })
  await consumer('open', { properties: { 'group.id': 'newer', 'group.protocol': 'consumer' } })
  await consumer('subscribe', { topics: ['newer'] })
  await eventually(async () => {
    const { assignment } = await call<{ assignment: string[] }>('consumer', { id: 'newer', op: 'state' })
    if (assignment.length === 0) throw new Error('no assignment')
  })
  await consumer('commit', { offsets: { 'newer-0': [6, 'note'] } })
  await consumer('close')
  await call('admin-cluster', { op: 'alter-quotas', user: 'alice', key: 'consumer_byte_rate', value: 12345 })
}

/** A share consumer takes no more than it is asked for. */
export const oneByOne = { 'max.poll.records': '1', 'share.acquire.mode': 'record_limit' }

/** What Kafka says of it. */
export async function newerKinds(driver: JavaDriver, bootstrap: string): Promise<unknown> {
  const call = (command: string, args: object) => driver.call(command, { bootstrap, ...args })
  return {
    groups: await call('admin-groups', { op: 'list', types: ['Consumer', 'Share'] }),
    described: await call('admin-groups', { op: 'describe', groups: ['newer'] }),
    offsets: await call('admin-groups', { op: 'offsets', group: 'newer' }),
    share: await call('admin-groups', { op: 'share-offsets', group: 'shared' }),
    config: await call('admin-topics', {
      op: 'configs',
      type: 'group',
      name: 'shared',
      keys: ['share.auto.offset.reset'],
    }),
    quotas: await call('admin-cluster', { op: 'quotas' }),
  }
}
