/** Fetch answers that send a consumer to another broker, and those that must not. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ErrorCode } from '../protocol/errors.ts'
import { FetchApi } from '../protocol/messages/01-fetch.ts'
import { FakeCluster } from './fakes/fake-cluster.ts'
import { type Fetched, fetch, produce } from './fakes/requests.ts'
import { TestNode } from './fakes/test-node.ts'

async function redirecting(t: TestContext) {
  const cluster = new FakeCluster()
  const node = await TestNode.start({ joined: cluster })
  t.after(() => node.close())
  await node.createTopic('orders')
  await produce(node)
  const reads = cluster.redirectTo(7)
  const partition = async (options: Fetched) => (await fetch(node, options))?.responses[0]?.partitions[0]
  return { node, reads, partition }
}

test('a consumer gets no records but the replica to read from, and where the partition ends', async t => {
  const { partition, reads } = await redirecting(t)
  for (const version of [11, 12, 13, 18]) {
    const answer = await partition({ version, maxWaitMs: 60_000 })
    deepStrictEqual(
      [answer?.errorCode, answer?.preferredReadReplica, answer?.records?.length, answer?.highWatermark],
      [0, 7, 0, 1n],
      `version ${version}`,
    )
    strictEqual(answer?.logStartOffset, 0n)
  }
  deepStrictEqual(
    reads.map(({ partition, rack }) => [partition, rack]),
    Array(4).fill([0, '']),
  )
  strictEqual((await partition({ offset: 1 }))?.preferredReadReplica, 7, 'at the end too')
})

test('clients before KIP-392, and wrong offsets and epochs, are answered here', async t => {
  const { partition } = await redirecting(t)
  const old = await partition({ version: 10 })
  deepStrictEqual([old?.preferredReadReplica, (old?.records?.length ?? 0) > 0], [-1, true])
  const beyond = await partition({ offset: 5 })
  deepStrictEqual([beyond?.errorCode, beyond?.preferredReadReplica], [ErrorCode.OFFSET_OUT_OF_RANGE, -1])
  const ahead = await partition({ leaderEpoch: 9 })
  deepStrictEqual([ahead?.errorCode, ahead?.preferredReadReplica], [ErrorCode.UNKNOWN_LEADER_EPOCH, -1])
})

test('debugging tools read here, and the rack of a consumer is told to the policy', async t => {
  const { node, reads } = await redirecting(t)
  const topicId = node.controller.image.topicIds.get('orders')
  const ask = (more: { rackId?: string; replicaId?: number }) =>
    node.call(
      FetchApi,
      {
        ...more,
        maxWaitMs: 0,
        minBytes: 1,
        topics: [{ topic: 'orders', partitions: [{ partition: 0, fetchOffset: 0n, partitionMaxBytes: 1000 }] }],
      },
      { version: 12 },
    )
  strictEqual(typeof topicId, 'string')
  const tool = await ask({ replicaId: -2 })
  strictEqual(tool?.responses[0]?.partitions[0]?.preferredReadReplica, -1)
  await ask({ rackId: 'near' })
  deepStrictEqual(
    reads.map(({ rack }) => rack),
    ['near'],
  )
})
