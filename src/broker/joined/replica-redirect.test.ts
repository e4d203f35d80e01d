/** Which broker a consumer is sent to, and who is served here all the same. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { createTopics } from '../../controller/local/create-topics.ts'
import { after, clusterOf, newTopic, ownBroker, topicDefaults } from '../../controller/local/fakes/cluster-images.ts'
import { registerBroker, unfenceBroker } from '../../controller/local/register-broker.ts'
import { ManualClock } from '../../core/clock.ts'
import { LOCKSTEP_LISTENER } from '../../metadata/lockstep-nodes.ts'
import { type MetadataImage, topicByName } from '../../metadata/metadata-image.ts'
import { MetadataRecordType as T } from '../../protocol/metadata-records/registry.ts'
import { testClient } from '../fakes/test-node.ts'
import { ReplicaRedirect } from './replica-redirect.ts'

const endpoint = (name: string, port: number) => ({ name, host: 'h', port, securityProtocol: 0 })

/** Broker 1001 is a Lockstep node, 1 and 2 are Java brokers in racks a and b, 3 lacks the client listener, 4 is fenced. */
function image(): MetadataImage {
  let now = clusterOf()
  const brokers = [
    { id: 1001, rack: 'a', listeners: [endpoint('PLAINTEXT', 1), endpoint(LOCKSTEP_LISTENER, 2)] },
    { id: 1, rack: 'a', listeners: [endpoint('PLAINTEXT', 3)] },
    { id: 2, rack: 'b', listeners: [endpoint('PLAINTEXT', 4)] },
    { id: 3, rack: 'a', listeners: [endpoint('INTERNAL', 5)] },
    { id: 4, rack: 'a', listeners: [endpoint('PLAINTEXT', 6)] },
  ]
  for (const broker of brokers) {
    now = after(now, registerBroker(now, { ...ownBroker, ...broker }, 7).records)
    now = after(now, unfenceBroker(now, broker.id, true).records)
  }
  const all = [1001, 4, 3, 2, 1]
  const assignments = new Map([0, 1, 2, 3].map(index => [index, all]))
  now = after(now, createTopics(now, [newTopic('t', { assignments })], topicDefaults).records)
  return after(now, [
    { type: T.BrokerRegistrationChange, version: 0, value: { brokerId: 4, brokerEpoch: 7n, fenced: 1 } },
  ])
}

function reader(options: { rack?: string } = {}) {
  const clock = new ManualClock()
  const redirect = new ReplicaRedirect({ clock })
  const now = image()
  const topic = topicByName(now, 't')
  if (!topic) throw new Error('no topic')
  const read = (partition = 0, client = testClient()) =>
    redirect.replicaFor({ image: now, topic, partition, client, rack: options.rack ?? '' })
  return { clock, read }
}

test('consumers are spread over in-sync Java brokers that they can reach', () => {
  const { read } = reader()
  deepStrictEqual(new Set([0, 1, 2, 3].map(partition => read(partition))), new Set([1, 2]))
  strictEqual(read(0), read(0))
})

test('a broker of the rack of the client comes first, and any other is better than none', () => {
  const near = reader({ rack: 'b' })
  deepStrictEqual(new Set([0, 1, 2, 3].map(partition => near.read(partition))), new Set([2]))
  const far = reader({ rack: 'elsewhere' })
  deepStrictEqual(new Set([0, 1, 2, 3].map(partition => far.read(partition))), new Set([1, 2]))
})

test('whoever comes back at once is served for a minute, then sent away once more', async () => {
  const { clock, read } = reader()
  const client = testClient()
  const replica = read(0, client)
  strictEqual(typeof replica, 'number')
  await clock.advance(100)
  strictEqual(read(0, client), undefined)
  strictEqual(typeof read(1, client), 'number')
  strictEqual(read(0), replica, 'another connection')
  await clock.advance(59_000)
  strictEqual(read(0, client), undefined)
  await clock.advance(2000)
  strictEqual(read(0, client), replica)
  strictEqual(read(0, client), undefined)
})

test('a client that follows is sent away each time that its lease ends', async () => {
  const { clock, read } = reader()
  const client = testClient()
  const replica = read(0, client)
  await clock.advance(300_000)
  strictEqual(read(0, client), replica)
})
