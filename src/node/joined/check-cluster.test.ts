/** `--check` of a node that joins, against a quorum in memory: rights, versions, and what cannot be reached. */
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { FakeQuorum } from '../../controller/joined/fakes/fake-quorum.ts'
import { feature, startQuorum } from '../../controller/joined/fakes/observe-quorum.ts'
import { AclOperation, type AclOperationName } from '../../metadata/authorizer.ts'
import { DescribeClusterResponse } from '../../protocol/messages/60-describe-cluster.ts'
import { parseSettings } from '../settings.ts'
import { checkCluster } from './check-cluster.ts'

const everything = Object.keys(AclOperation) as AclOperationName[]

async function cluster(t: TestContext, rights: readonly AclOperationName[], level = 30): Promise<FakeQuorum> {
  const quorum = await startQuorum(t, { serves: new Map([[60, 2]]) })
  quorum.append([feature('metadata.version', level)])
  const clusterAuthorizedOperations = rights.reduce((bits, name) => bits | (1 << AclOperation[name]), 0)
  quorum.commands.set(60, ({ apiVersion }) =>
    DescribeClusterResponse.encode(
      {
        throttleTimeMs: 0,
        errorCode: 0,
        endpointType: 2,
        clusterId: quorum.clusterId,
        brokers: [],
        clusterAuthorizedOperations,
      },
      apiVersion,
    ),
  )
  return quorum
}

function check(quorum: FakeQuorum, more: Record<string, string> = {}) {
  const settings = parseSettings(
    new Map(
      Object.entries({
        'process.roles': 'broker',
        'node.id': '1001',
        'cluster.id': quorum.clusterId,
        'log.dirs': '/nonexistent/lockstep',
        listeners: 'PLAINTEXT://127.0.0.1:9092',
        'controller.listener.names': 'CONTROLLER',
        'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
        'controller.quorum.bootstrap.servers': quorum.places.map(({ host, port }) => `${host}:${port}`).join(),
        ...more,
      }).filter(([, value]) => value !== ''),
    ),
  )
  return settings.joined ? checkCluster(settings, settings.joined) : undefined
}

test('a cluster with all rights and versions can be joined', async t => {
  const report = await check(await cluster(t, everything))
  deepStrictEqual([report?.problems, report?.warnings], [[], []])
  match(report?.facts.join('\n') ?? '', /metadata.version 30[\s\S]*broker 1001 in the rack \(none\)/)
})

test('missing rights are named, and what is needed is told from what helps', async t => {
  const report = await check(await cluster(t, ['DESCRIBE', 'CLUSTER_ACTION']))
  strictEqual(report?.problems.length, 1)
  match(report.problems[0] ?? '', /lacks ALTER on the cluster; grant it with kafka-acls/)
  match(report?.warnings.join('\n') ?? '', /without CREATE on the cluster/)
})

test('below 4.3 the internal topics must be there first; below 3.7 nothing goes', async t => {
  const before = await check(await cluster(t, everything, 25))
  deepStrictEqual(before?.problems, [])
  match(before?.warnings.join() ?? '', /create __consumer_offsets, __transaction_state, __share_group_state before/)
  match((await check(await cluster(t, everything, 16)))?.problems.join() ?? '', /metadata.version 16 is too old/)
})

test('without a cluster id in the file or the directory the controllers tell it', async t => {
  const quorum = await cluster(t, everything)
  const report = await check(quorum, { 'cluster.id': '' })
  deepStrictEqual(report?.problems, [
    `cluster.id must name the cluster to join: the controllers call it ${quorum.clusterId}`,
  ])
})

test('another cluster, and one that cannot be reached, are problems', async t => {
  const quorum = await cluster(t, everything)
  match((await check(quorum, { 'cluster.id': 'QW5vdGhlci1jbHVzdGVyLQ' }))?.problems.join() ?? '', /another cluster/)
  const places = quorum.places.map(({ host, port }) => `${host}:${port}`).join()
  await quorum.close()
  const report = await check(quorum, { 'controller.quorum.bootstrap.servers': places })
  strictEqual(report?.problems.length, 1)
  match(report.problems[0] ?? '', /no active controller was found.*connection refused.*can reach/)
})
