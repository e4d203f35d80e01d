/** Calls between two nodes over http, from the caller's port to the engine of the other and back. */
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../core/clock.ts'
import { CoordinatorTerms } from '../../destination/joined/coordinator-terms.ts'
import type { LogRequest } from '../../destination/joined/peer-log-calls.ts'
import type { PartitionReport, PeerEngine } from '../../link/peer-ports.ts'
import { NotLinkCoordinator } from '../../link/ports.ts'
import { fakeId, javaBroker, joinedImage, lockstepBroker, partitionOn } from '../../metadata/fakes/joined-images.ts'
import { lockstepEndpoint } from '../../metadata/lockstep-nodes.ts'
import { FakeEngine, fakeContext } from '../../rest/fakes/fake-engine.ts'
import { buildRestApplication } from '../../rest/server.ts'
import { NodeSignatures } from './node-signatures.ts'
import { PeerCallService } from './peer-call-service.ts'
import { PeerCalls } from './peer-calls.ts'
import { PeerForwarding } from './peer-forwarding.ts'

const mirror = { linkId: fakeId('link'), mirrorTopic: 'orders', topicId: fakeId('orders') }

const report: PartitionReport = {
  topicId: mirror.topicId,
  partition: 1,
  lag: 0,
  lagMs: 12,
  lastSourceFetchOffset: 7,
  logStartOffset: 0,
  logEndOffset: 7,
  sourceHighWatermark: 7,
  sourceLastStableOffset: null,
  stableLag: null,
  mirroredBytes: 100,
  mirroredBatches: 1,
  lastFetchTimeMs: null,
  reason: null,
  silentMs: null,
}

/** Node 1001 coordinates in `term` of its own metadata; node 1002, which knows term 4, is asked. */
async function scene(t: TestContext, how: { term?: number | undefined; key?: string } = { term: 4 }) {
  const asked: unknown[][] = []
  const noted =
    <T>(name: string, answer: T) =>
    async (...of: unknown[]): Promise<T> => {
      asked.push([name, ...of])
      return answer
    }
  const engine: PeerEngine = {
    stopFetching: noted('stop', [report]),
    holdFetching: noted('hold', []),
    releaseFetching: noted('release', undefined),
    reports: () => Promise.reject(new Error('the disk is gone')),
  }
  const logs = { serve: noted('logs', [{ kind: 'conflict', message: 'moved' } as const]) }
  const state = partitionOn([1001, 1002, 1], { leaderEpoch: 4 })
  const terms = new CoordinatorTerms(() => state)
  const nodes = [javaBroker(1), lockstepBroker(1001)]
  let image = joinedImage({ brokers: nodes })
  const forwarding = (nodeId: number, key: string) =>
    new PeerForwarding({
      nodeId,
      signatures: new NodeSignatures([Buffer.from(key)]),
      image: () => image,
      clock: systemClock,
    })
  const app = await buildRestApplication(
    fakeContext(new FakeEngine(), {
      forwarding: forwarding(1002, 'key'),
      peerCalls: new PeerCallService({ terms, engine, logs }),
    }),
  )
  t.after(() => app.close())
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const other = lockstepBroker(1002)
  const listeners = new Map([...other.listeners, ['LOCKSTEP', lockstepEndpoint(url)]])
  // Nobody listens there.
  const dead = new Map([['LOCKSTEP', lockstepEndpoint('http://127.0.0.1:1')]])
  image = joinedImage({
    brokers: [...nodes, { ...other, listeners }, { ...lockstepBroker(1003, { fenced: true }), listeners: dead }],
    topics: { __lockstep_state: [state], orders: [[1001], [1002], [1002], [1], partitionOn([1], { leader: -1 })] },
  })
  const term = () => ('term' in how ? how.term : 4)
  const calls = new PeerCalls({
    nodeId: 1001,
    image: () => image,
    term,
    forwarding: forwarding(1001, how.key ?? 'key'),
  })
  return { calls, asked }
}

test('who leads, and who is alive, is told by the metadata', async t => {
  const { calls } = await scene(t)
  deepStrictEqual([calls.leading(mirror.topicId), calls.leading(fakeId('no'))], [[1002], []])
  deepStrictEqual(calls.all(), [1002])
})

test('every call arrives as it was made, and so does its answer', async t => {
  const { calls, asked } = await scene(t)
  const engine = calls.engine(1002)
  deepStrictEqual(await engine.stopFetching(mirror, 9), [report])
  const hold = { id: 'h', leaseMs: 5 }
  deepStrictEqual(await engine.holdFetching(mirror, 10, hold), [])
  await engine.releaseFetching(mirror, 'h')
  const request: LogRequest = { topicId: mirror.topicId, partition: 1, leaderEpoch: 3, operation: { kind: 'flush' } }
  deepStrictEqual(await calls.logs(1002, [request]), [{ kind: 'conflict', message: 'moved' }])
  deepStrictEqual(asked, [
    ['stop', mirror, 9],
    ['hold', mirror, 10, hold],
    ['release', mirror, 'h'],
    ['logs', [request]],
  ])
})

test('calls that are alike and of one moment are each carried out', async t => {
  const { calls, asked } = await scene(t)
  await Promise.all(Array.from({ length: 20 }, () => calls.engine(1002).releaseFetching(mirror, 'h')))
  strictEqual(asked.length, 20)
})

test('what goes wrong at the other node, or on the way there, names the node', async t => {
  const { calls } = await scene(t)
  await rejects(calls.engine(1002).reports(), /node 1002 \(http:.*\): the disk is gone/)
  await rejects(calls.engine(1001 + 2).reports(), /node 1003 \(http:/)
  await rejects(calls.engine(1).reports(), /broker 1 is no Lockstep node/)
})

test('a coordinator that is none any more, or has another key, is refused and changes nothing', async t => {
  const deposed = await scene(t, { term: 3 })
  await rejects(deposed.calls.engine(1002).stopFetching(mirror, 1), /term 3 of node 1001 is over/)
  const stranger = await scene(t, { term: 4, key: 'another' })
  await rejects(stranger.calls.engine(1002).stopFetching(mirror, 1), /lockstep.secret.key.file/)
  const stopping = await scene(t)
  stopping.calls.close()
  await rejects(stopping.calls.engine(1002).stopFetching(mirror, 1), /is stopping/)
  const none = await scene(t, { term: undefined })
  await rejects(none.calls.engine(1002).stopFetching(mirror, 1), NotLinkCoordinator)
  deepStrictEqual([deposed.asked, stranger.asked, none.asked], [[], [], []])
})
