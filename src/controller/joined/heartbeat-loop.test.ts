/** Heartbeats against a quorum in memory: what they say, who is told, what a hung main thread does, and the thread itself. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ManualClock, systemClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { randomUuid } from '../../core/uuid.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { BrokerHeartbeatRequest, BrokerHeartbeatResponse } from '../../protocol/messages/63-broker-heartbeat.ts'
import type { FakeQuorum } from './fakes/fake-quorum.ts'
import { bootstrapOf, clientOf, quickBackoff, startQuorum } from './fakes/observe-quorum.ts'
import { HeartbeatLoop, type HeartbeatReport } from './heartbeat-loop.ts'
import { HeartbeatMemory } from './heartbeat-memory.ts'
import { HeartbeatThread } from './heartbeat-thread.ts'
import { openToAll } from './quorum-connection.ts'

const directoryId = randomUuid()

/** Keeps requests, answers them in turn, and hands out reports as they come. */
function recorder(quorum: FakeQuorum, errorCodes: number[] = []) {
  const requests: BrokerHeartbeatRequest[] = []
  quorum.commands.set(63, ({ body, apiVersion }) => {
    const request = BrokerHeartbeatRequest.decode(body, apiVersion)
    requests.push(request)
    const answer = { isCaughtUp: true, isFenced: request.wantFence, shouldShutDown: request.wantShutDown }
    const errorCode = errorCodes.shift() ?? 0
    return BrokerHeartbeatResponse.encode({ throttleTimeMs: 0, errorCode, ...answer }, apiVersion)
  })
  const reports: HeartbeatReport[] = []
  let wake = () => {}
  const report = (one: HeartbeatReport) => {
    reports.push(one)
    wake()
  }
  const next = async (): Promise<HeartbeatReport> => {
    while (reports.length === 0)
      await new Promise<void>(resolve => {
        wake = resolve
      })
    return reports.shift() as HeartbeatReport
  }
  return { requests, report, next }
}

function beat(t: TestContext, quorum: FakeQuorum, errorCodes?: number[]) {
  const { requests, report, next } = recorder(quorum, errorCodes)
  const memory = new HeartbeatMemory()
  memory.brokerEpoch = 7n
  memory.metadataOffset = 41n
  memory.wantFence = false
  memory.cordoned = true
  const clock = new ManualClock()
  const loop = new HeartbeatLoop({
    active: clientOf(t, bootstrapOf(quorum)),
    memory,
    nodeId: 1001,
    directoryId,
    intervalMs: 1000,
    hungMs: 3000,
    timeoutMs: 2000,
    backoff: quickBackoff(),
    clock,
    report,
  })
  t.after(() => loop.close())
  return { loop, memory, clock, requests, next }
}

const serves = new Map([[63, 2]])

test('a heartbeat tells the applied offset and the cordon, and every change at once', async t => {
  const { loop, memory, clock, requests, next } = beat(t, await startQuorum(t, { serves }))
  deepStrictEqual(await next(), {
    kind: 'answered',
    brokerEpoch: 7,
    fenced: false,
    caughtUp: true,
    shouldShutDown: false,
    hung: false,
  })
  const [first] = requests
  deepStrictEqual(
    [first?.brokerEpoch, first?.currentMetadataOffset, first?.wantFence, first?.cordonedLogDirs],
    [7n, 41n, false, [directoryId]],
  )
  memory.wantShutDown = true
  memory.cordoned = false
  loop.beatSoon()
  const report = await next()
  strictEqual(report.kind === 'answered' && report.shouldShutDown, true)
  deepStrictEqual(requests[1]?.cordonedLogDirs, [])
  // Let go: a later heartbeat would begin a new session.
  loop.beatSoon()
  await clock.advance(5000)
  deepStrictEqual([requests.length, clock.pending], [2, 0])
})

test('controllers before 4.3 are told nothing of cordons', async t => {
  const { requests, next } = beat(t, await startQuorum(t, { serves: new Map([[63, 1]]) }))
  await next()
  strictEqual(requests[0]?.cordonedLogDirs, null)
})

test('a main thread without a sign of life for three seconds is fenced, and unfenced when it goes on', async t => {
  const { memory, clock, requests, next } = beat(t, await startQuorum(t, { serves }))
  await next()
  for (let second = 1; second <= 3; second++) {
    await clock.advance(1000)
    const report = await next()
    strictEqual(report.kind === 'answered' && report.hung, second === 3)
  }
  strictEqual(requests.at(-1)?.wantFence, true)
  memory.tick()
  await clock.advance(1000)
  await next()
  strictEqual(requests.at(-1)?.wantFence, false)
})

test('a start that goes on with a session may be busy for twenty seconds', async t => {
  const { memory, clock, next } = beat(t, await startQuorum(t, { serves }))
  memory.starting = true
  await next()
  for (let second = 1; second <= 22; second++) {
    await clock.advance(1000)
    const report = await next()
    // The start is noticed with the first or the second heartbeat.
    if (second < 20) strictEqual(report.kind === 'answered' && report.hung, false, `after ${second} s`)
    if (second === 22) strictEqual(report.kind === 'answered' && report.hung, true)
  }
  memory.starting = false
  await clock.advance(1000)
  const report = await next()
  strictEqual(report.kind === 'answered' && report.hung, false)
})

test('a registration that is gone is told as stale, another controller is looked for', async t => {
  const codes = [ErrorCode.STALE_BROKER_EPOCH, ErrorCode.NOT_CONTROLLER, ErrorCode.CLUSTER_AUTHORIZATION_FAILED]
  const { loop, clock, next } = beat(t, await startQuorum(t, { serves }), codes)
  deepStrictEqual(await next(), { kind: 'stale', brokerEpoch: 7 })
  loop.beatSoon()
  strictEqual((await next()).kind, 'unreachable')
  await clock.advance(30)
  deepStrictEqual(await next(), { kind: 'refused', error: 'CLUSTER_AUTHORIZATION_FAILED' })
})

test('nothing is sent before there is a registration', async t => {
  const quorum = await startQuorum(t, { serves })
  const { loop, memory, requests, next } = beat(t, quorum)
  await next()
  memory.brokerEpoch = -1n
  loop.beatSoon()
  await new Promise(resolve => setImmediate(resolve))
  strictEqual(requests.length, 1)
})

test('the thread sends what the shared memory says', async t => {
  const quorum = await startQuorum(t, { serves })
  const { requests, report, next } = recorder(quorum)
  const thread = new HeartbeatThread({
    setting: {
      clientId: 'test',
      addresses: bootstrapOf(quorum),
      security: openToAll,
      clusterId: quorum.clusterId,
      nodeId: 1001,
      directoryId,
      intervalMs: 1000,
      hungMs: 60_000,
      timeoutMs: 10_000,
    },
    clock: systemClock,
    logger: silentLogger,
    report,
  })
  t.after(() => thread.close())
  thread.memory.metadataOffset = 9n
  thread.memory.brokerEpoch = 3n
  thread.beatSoon()
  const told = await next()
  strictEqual(told.kind === 'answered' && told.fenced, true)
  deepStrictEqual([requests[0]?.brokerEpoch, requests[0]?.currentMetadataOffset], [3n, 9n])
})
