/** Requests of clients reach the controller of the cluster, and what it takes is known from the start. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { questionsOf, startQuorum } from '../../controller/joined/fakes/observe-quorum.ts'
import { ManualClock } from '../../core/clock.ts'
import { EnvelopeResponse } from '../../protocol/messages/58-envelope.ts'
import { joinedCluster } from './joined-broker.ts'

test('a request is passed on, and the versions of the controller are known', async t => {
  const quorum = await startQuorum(t, { serves: new Map([[58, 0]]) })
  quorum.commands.set(58, ({ apiVersion }) =>
    EnvelopeResponse.encode({ responseData: Buffer.from([0, 0, 0, 7, 0, 42]), errorCode: 0 }, apiVersion),
  )
  const cluster = joinedCluster({ questions: questionsOf(t, quorum), clock: new ManualClock() })
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
})
