/** Requests that nodes pass on: believed of nodes with the same key, for one request, once. */
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { javaBroker, joinedImage, lockstepBroker } from '../../metadata/fakes/joined-images.ts'
import { NodeSignatures } from './node-signatures.ts'
import { PeerForwarding } from './peer-forwarding.ts'

const client = { principal: { type: 'User', name: 'alice' }, host: '10.0.0.1', loggedIn: true } as const
const request = { method: 'POST', url: '/kafka/v3/clusters/c/links', body: '{"a":1}' }

function nodes() {
  const clock = new ManualClock()
  const topics = { __lockstep_state: [[1002, 1001, 1]] }
  const image = () => joinedImage({ brokers: [javaBroker(1), lockstepBroker(1001), lockstepBroker(1002)], topics })
  const node = (nodeId: number, key: string) =>
    new PeerForwarding({ nodeId, signatures: new NodeSignatures([Buffer.from(key)]), image, clock })
  return { clock, asked: node(1001, 'k'), coordinator: node(1002, 'k'), stranger: node(1001, 'x') }
}

test('a request goes to the leader of the state topic, which believes who its sender is', () => {
  const { asked, coordinator } = nodes()
  deepStrictEqual(asked.coordinator(), { nodeId: 1002, origin: 'http://h:8090' })
  strictEqual(coordinator.coordinator(), undefined)
  const header = asked.vouch(request, { client, nodeId: 1002 })
  strictEqual(coordinator.problemOf(header, request), undefined)
  deepStrictEqual(coordinator.clientOf(header), client)
})

test('another key, another request, another node, a repetition and an old header are refused', () => {
  const { asked, coordinator, stranger, clock } = nodes()
  const refusal = (header: string, of = request, by = coordinator) => by.problemOf(header, of) ?? ''
  match(refusal(stranger.vouch(request, { client, nodeId: 1002 })), /secret/)
  match(refusal(asked.vouch(request, { client, nodeId: 1002 }), { ...request, body: '{"a":2}' }), /secret/)
  match(refusal(asked.vouch(request, { client, nodeId: 1002 }), { ...request, url: '/else' }), /secret/)
  match(refusal(asked.vouch(request, { client, nodeId: 1003 })), /another node/)
  const header = asked.vouch(request, { client, nodeId: 1002 })
  strictEqual(refusal(header), '')
  match(refusal(header), /before/)
  const old = asked.vouch(request, { client, nodeId: 1002 })
  void clock.advance(0)
  const [text = ''] = old.split('.')
  strictEqual(coordinator.clientOf(text)?.principal.name, 'alice')
  strictEqual(coordinator.clientOf('nonsense'), undefined)
  match(refusal('nonsense'), /secret/)
})
