/** Joining, serving, being forgotten and leaving, against a quorum in memory that registers brokers as Kafka's does. */
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { randomUuid } from '../../core/uuid.ts'
import { MemoryFileSystem } from '../../log/fakes/memory-file-system.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import {
  BrokerRegistrationRequest,
  BrokerRegistrationResponse,
} from '../../protocol/messages/62-broker-registration.ts'
import { MetadataRecordType } from '../../protocol/metadata-records/registry.ts'
import { BrokerIncarnation } from './broker-incarnation.ts'
import { ClusterMembership } from './cluster-membership.ts'
import type { FakeQuorum } from './fakes/fake-quorum.ts'
import { feature, observe, questionsOf, startQuorum } from './fakes/observe-quorum.ts'
import type { HeartbeatReport } from './heartbeat-loop.ts'
import { HeartbeatMemory } from './heartbeat-memory.ts'

/** The heartbeat thread as the test plays it. */
class ScriptedHeartbeats {
  readonly memory = new HeartbeatMemory()
  beats = 0
  report: (report: HeartbeatReport) => void = () => {}

  beatSoon(): void {
    this.beats++
  }

  /** A heartbeat of the present registration is answered. */
  answer(changes: Partial<Extract<HeartbeatReport, { kind: 'answered' }>> = {}): void {
    const brokerEpoch = Number(this.memory.brokerEpoch)
    this.report({
      kind: 'answered',
      brokerEpoch,
      fenced: this.memory.wantFence,
      caughtUp: true,
      shouldShutDown: this.memory.wantShutDown,
      hung: false,
      ...changes,
    })
  }

  async close(): Promise<void> {}
}

/** Registers whoever asks, as records of the log; first come the given refusals. */
function registers(quorum: FakeQuorum, refusals: number[] = []): BrokerRegistrationRequest[] {
  const requests: BrokerRegistrationRequest[] = []
  quorum.commands.set(62, ({ body, apiVersion }) => {
    const request = BrokerRegistrationRequest.decode(body, apiVersion)
    requests.push(request)
    const errorCode = refusals.shift() ?? 0
    const brokerEpoch = BigInt(errorCode === 0 ? quorum.endOffset : -1)
    if (errorCode === 0) {
      const { brokerId, incarnationId, rack, logDirs } = request
      const value = { brokerId, incarnationId, brokerEpoch, endPoints: [], features: [], rack, fenced: true, logDirs }
      quorum.append([{ type: MetadataRecordType.RegisterBroker, version: 3, value }])
    }
    return BrokerRegistrationResponse.encode({ throttleTimeMs: 0, errorCode, brokerEpoch }, apiVersion)
  })
  return requests
}

const listeners = [{ name: 'PLAINTEXT', host: 'h', port: 1, securityProtocol: 0 }]

async function member(t: TestContext, refusals?: number[]) {
  const quorum = await startQuorum(t, { serves: new Map([[62, 4]]) })
  quorum.append([feature('metadata.version', 29)])
  const requests = registers(quorum, refusals)
  const { observer } = observe(t, quorum)
  const fs = new MemoryFileSystem()
  await fs.createDirectory('/data')
  const incarnation = await BrokerIncarnation.begin({ fs, directory: '/data', bootId: 'b' })
  const heartbeats = new ScriptedHeartbeats()
  const membership = new ClusterMembership({
    observer,
    questions: questionsOf(t, quorum),
    incarnation,
    node: {
      nodeId: 1001,
      clusterId: quorum.clusterId,
      directoryId: randomUuid(),
      rack: null,
    },
    heartbeats: report => {
      heartbeats.report = report
      return heartbeats
    },
    backoff: { nextMs: () => 1, reset: () => {} } as never,
    registerMs: 10_000,
    clock: systemClock,
    logger: silentLogger,
  })
  t.after(() => membership.close())
  await observer.subscribe(membership.subscriber)
  return { quorum, observer, incarnation, heartbeats, membership, requests }
}

test('joining registers, fenced and cordoned, and tells the offset that was really applied', async t => {
  const { observer, heartbeats, membership, requests } = await member(t)
  await membership.join(listeners)
  strictEqual(membership.brokerEpoch, 1)
  strictEqual(observer.image.brokers.get(1001)?.fenced, true)
  const { memory } = heartbeats
  deepStrictEqual([memory.brokerEpoch, memory.wantFence, memory.cordoned, memory.metadataOffset], [1n, true, true, 1n])
  strictEqual(requests[0]?.previousBrokerEpoch, -1n)
  strictEqual(heartbeats.beats > 0, true)
})

test('serving resolves with the heartbeat that unfences, handing over with the one that lets us stop', async t => {
  const { heartbeats, membership } = await member(t)
  await membership.join(listeners)
  const steps: string[] = []
  const serving = membership.serve().then(() => steps.push('serves'))
  heartbeats.answer({ fenced: true })
  await new Promise(resolve => setImmediate(resolve))
  deepStrictEqual(steps, [])
  heartbeats.answer({ fenced: false })
  await serving
  const left = membership.handOver()
  heartbeats.answer({ shouldShutDown: true })
  await left
  strictEqual(heartbeats.memory.wantShutDown, true)
})

test('a registration that is still unfenced under this incarnation is not given away by the first heartbeat', async t => {
  const { quorum, observer, incarnation, heartbeats, membership } = await member(t)
  const value = {
    brokerId: 1001,
    incarnationId: incarnation.id,
    brokerEpoch: 1n,
    endPoints: [],
    features: [],
    rack: null,
    fenced: false,
    logDirs: [],
  }
  quorum.append([{ type: MetadataRecordType.RegisterBroker, version: 3, value }])
  await observer.reached()
  membership.keepAlive()
  deepStrictEqual([membership.brokerEpoch, heartbeats.memory.brokerEpoch, heartbeats.memory.wantFence], [1, 1n, false])
  await membership.join(listeners)
  strictEqual(heartbeats.memory.wantFence, false)
})

test("a session that is not this incarnation's is not kept alive", async t => {
  const { heartbeats, membership, observer } = await member(t)
  await observer.reached()
  membership.keepAlive()
  deepStrictEqual([membership.brokerEpoch, heartbeats.beats], [-1, 0])
})

test('who cannot go on leading asks to be fenced, at once', async t => {
  const { heartbeats, membership } = await member(t)
  await membership.join(listeners)
  const serving = membership.serve()
  heartbeats.answer()
  await serving
  const { beats } = heartbeats
  membership.fence()
  deepStrictEqual([heartbeats.memory.wantFence, heartbeats.beats], [true, beats + 1])
})

test('the session of another life is waited for', async t => {
  const duplicate = ErrorCode.DUPLICATE_BROKER_REGISTRATION
  const { membership, requests } = await member(t, [duplicate, duplicate])
  await membership.join(listeners)
  strictEqual(requests.length, 3)
})

test('a refusal says why', async t => {
  const { membership } = await member(t, [ErrorCode.CLUSTER_AUTHORIZATION_FAILED])
  await rejects(membership.join(listeners), /CLUSTER_AUTHORIZATION_FAILED.*lacks CLUSTER_ACTION/)
  strictEqual(membership.brokerEpoch, -1)
})

test('a cluster that forgot us is joined again, and an old report changes nothing', async t => {
  const { heartbeats, membership, requests } = await member(t)
  await membership.join(listeners)
  heartbeats.report({ kind: 'stale', brokerEpoch: 0 })
  strictEqual(membership.brokerEpoch, 1)
  heartbeats.report({ kind: 'stale', brokerEpoch: 1 })
  strictEqual(membership.brokerEpoch, -1)
  while (membership.brokerEpoch < 0) await new Promise(resolve => setImmediate(resolve))
  strictEqual(requests.length, 2)
})

test('closing ends a registration that waits for a quorum that is gone', async t => {
  const { quorum, membership } = await member(t)
  await quorum.close()
  const joining = rejects(membership.join(listeners), /shutting down/)
  await membership.close()
  await joining
})
