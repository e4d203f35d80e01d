/** Lockstep nodes are told from Kafka's brokers by their registration alone. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { randomUuid } from '../core/uuid.ts'
import {
  isLockstepNode,
  javaBrokers,
  lockstepEndpoint,
  lockstepNode,
  lockstepNodes,
  restUrlOf,
} from './lockstep-nodes.ts'
import { type BrokerImage, type EndpointImage, emptyImage } from './metadata-image.ts'

const kafka: EndpointImage = { name: 'PLAINTEXT', host: 'a', port: 9092, securityProtocol: 0 }

const broker = (id: number, listeners: EndpointImage[], fenced = false): BrokerImage => ({
  id,
  epoch: id * 10,
  incarnationId: randomUuid(),
  listeners: new Map(listeners.map(listener => [listener.name, listener])),
  features: new Map(),
  rack: null,
  fenced,
  inControlledShutdown: false,
  logDirs: [],
  cordonedLogDirs: null,
})

test('a broker with the listener LOCKSTEP is a Lockstep node, whose REST is there', () => {
  const brokers = [
    broker(1001, [kafka, lockstepEndpoint('https://[::1]:8443')], true),
    broker(2, [kafka]),
    broker(1, [kafka]),
  ]
  const image = { ...emptyImage('c'), brokers: new Map(brokers.map(each => [each.id, each])) }
  deepStrictEqual(
    javaBrokers(image).map(({ id }) => id),
    [1, 2],
  )
  const [node] = lockstepNodes(image)
  deepStrictEqual([node?.brokerId, node?.host, node?.fenced, node?.isActive], [1001, '::1', true, false])
  strictEqual(node && restUrlOf(node), 'https://[::1]:8443')
  deepStrictEqual(
    [1001, 1, 7].map(id => isLockstepNode(image, id)),
    [true, false, false],
  )
  strictEqual(lockstepNode(image, 1), undefined)
  deepStrictEqual(lockstepEndpoint('http://rest.example').port, 80)
})
