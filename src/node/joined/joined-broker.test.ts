/** Requests of clients reach the controller of the cluster, and what it takes is known from the start. */
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { TestNode } from '../../broker/fakes/test-node.ts'
import { questionsOf, startQuorum } from '../../controller/joined/fakes/observe-quorum.ts'
import { ManualClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { seededRandom } from '../../core/random.ts'
import { ConnectionError } from '../../network/connection-error.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { EnvelopeResponse } from '../../protocol/messages/58-envelope.ts'
import type { BrokerConnections } from '../../replica/broker-connections.ts'
import { openWriteGate } from '../../replica/write-gate.ts'
import { Startup } from '../startup.ts'
import { joinedCluster, joinedCoordinators } from './joined-broker.ts'

test('a request is passed on, and the versions of the controller are known', async t => {
  const quorum = await startQuorum(t, { serves: new Map([[58, 0]]) })
  quorum.commands.set(58, ({ apiVersion }) =>
    EnvelopeResponse.encode({ responseData: Buffer.from([0, 0, 0, 7, 0, 42]), errorCode: 0 }, apiVersion),
  )
  const { cluster, metrics } = joinedCluster({
    ...{ questions: questionsOf(t, quorum), clock: new ManualClock() },
    trueTopicConfigs: () => undefined,
  })
  const answer = await cluster.forward({
    apiKey: 19,
    apiVersion: 7,
    correlationId: 7,
    clientId: null,
    body: Buffer.alloc(0),
    principal: { type: 'User', name: 'alice' },
    remoteAddress: '127.0.0.1',
  })
  deepStrictEqual([...answer], [42])
  strictEqual(cluster.controllerVersions(58)?.max, 0)
  strictEqual(cluster.controllerVersions(9999), undefined)
  match(await metrics.text(), /lockstep_requests_forwarded 1\n/)
})

const nobody: BrokerConnections = {
  to: () => Promise.reject(new ConnectionError('tcp', 'nobody is there')),
  open: () => Promise.reject(new ConnectionError('tcp', 'nobody is there')),
  close: () => Promise.resolve(),
}

test('no group and no transaction is coordinated here, also where their partition has landed here', async t => {
  const node = await TestNode.start()
  const { controller, replicas, producerIds } = node
  const startup = new Startup()
  t.after(async () => {
    await startup.stop()
    await node.close()
  })
  const parts = { controller, replicas, producerIds, writeGate: openWriteGate, file: new Map<string, string>() }
  const more = { clock: new ManualClock(), random: seededRandom(1), logger: silentLogger }
  await node.groups.ensureTopic()
  await node.transactions.partitions.ensureTopic()
  const { groups, transactions } = await joinedCoordinators({ ...parts, ...more, connections: nobody }, startup)
  strictEqual(groups.describeGroup('g').errorCode, ErrorCode.NOT_COORDINATOR)
  deepStrictEqual(groups.listGroups({ states: [], types: [] }), { errorCode: 0, groups: [] })
  const asked = { timeoutMs: 1000, expected: null }
  strictEqual((await transactions.initProducer('tx', asked)).errorCode, ErrorCode.NOT_COORDINATOR)
})
