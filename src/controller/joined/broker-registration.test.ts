/** What stands in the way of joining, told before anything is registered. */
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { randomUuid } from '../../core/uuid.ts'
import { type BrokerImage, emptyImage, type MetadataImage } from '../../metadata/metadata-image.ts'
import { joiningProblems, rackFor, registrationRequest } from './broker-registration.ts'

const endpoint = (name: string) => ({ name, host: 'h', port: 9092, securityProtocol: 0 })

function broker(id: number, changes: Partial<BrokerImage> = {}): BrokerImage {
  return {
    id,
    epoch: 5,
    incarnationId: randomUuid(),
    listeners: new Map([['INTERNAL', endpoint('INTERNAL')]]),
    features: new Map(),
    rack: 'a',
    fenced: false,
    inControlledShutdown: false,
    logDirs: [],
    cordonedLogDirs: null,
    ...changes,
  }
}

function cluster(...brokers: BrokerImage[]): MetadataImage {
  const features = new Map([
    ['metadata.version', 29],
    ['transaction.version', 2],
  ])
  return { ...emptyImage('c'), brokers: new Map(brokers.map(one => [one.id, one])), features }
}

const node = {
  nodeId: 1001,
  clusterId: 'c',
  incarnationId: randomUuid(),
  previousEpoch: -1,
  directoryId: randomUuid(),
  listeners: [endpoint('INTERNAL')],
  rack: null,
}

test('a cluster whose features and listeners we have takes us, in a rack of another broker', () => {
  const image = cluster(broker(1), broker(2, { rack: 'b' }))
  deepStrictEqual(joiningProblems(image, node), [])
  strictEqual(rackFor(image, node), 'a')
  strictEqual(rackFor(cluster(broker(1, { rack: null })), node), null)
  const request = registrationRequest(image, node)
  deepStrictEqual([request.rack, request.logDirs, request.previousBrokerEpoch], ['a', [node.directoryId], -1n])
  for (const [name, level] of image.features) {
    const range = request.features.find(feature => feature.name === name)
    strictEqual(range !== undefined && range.minSupportedVersion <= level && level <= range.maxSupportedVersion, true)
  }
})

test('a rack of our own is refused: it would draw replicas of every topic', () => {
  match(joiningProblems(cluster(broker(1)), { ...node, rack: 'mirrors' }).join(), /broker.rack mirrors is no other/)
})

test('a feature that is unknown here, or at a level above ours, is refused', () => {
  const image = { ...cluster(broker(1)), features: new Map([['new.version', 1]]) }
  match(joiningProblems(image, node).join(), /new.version at level 1, and this version of Lockstep supports 0 to 0/)
})

test('a node id that a controller or a live broker has is refused, that of our own last life is not', () => {
  const taken = cluster(broker(1), broker(1001))
  match(joiningProblems(taken, node).join(), /node.id 1001 is registered by another process/)
  deepStrictEqual(joiningProblems(cluster(broker(1), broker(1001, { fenced: true })), node), [])
  deepStrictEqual(joiningProblems(cluster(broker(1), broker(1001, { incarnationId: node.incarnationId })), node), [])
  const controllers = new Map([
    [1001, { id: 1001, incarnationId: randomUuid(), listeners: new Map(), features: new Map() }],
  ])
  match(joiningProblems({ ...cluster(broker(1)), controllers }, node).join(), /is that of a controller/)
})

test('without a listener that all brokers have, followers would not find us', () => {
  match(
    joiningProblems(cluster(broker(1)), { ...node, listeners: [endpoint('PLAINTEXT')] }).join(),
    /the other brokers listen as INTERNAL, and this node as PLAINTEXT/,
  )
})
