/** Produce and Fetch over the wire format, in several versions. */
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { randomUuid } from '../../core/uuid.ts'
import { batchesIn } from '../../protocol/batches/batch-iteration.ts'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { FetchApi } from '../../protocol/messages/01-fetch.ts'
import type { WriteGate } from '../../replica/write-gate.ts'
import { batch, deleteRecords, fetch, NOW, type Produced, produce } from '../fakes/requests.ts'
import { TestNode } from '../fakes/test-node.ts'
import { CloseConnection } from '../handler.ts'

test('what was produced in any version is fetched in any version', async () => {
  const node = await TestNode.start()
  await node.createTopic('orders')
  for (let version = 3; version <= 13; version++) {
    const answer = await produce(node, { version, records: batch(NOW, `v${version}`) })
    deepStrictEqual([answer?.errorCode, answer?.baseOffset], [0, BigInt(version - 3)], `version ${version}`)
    strictEqual(answer?.logStartOffset, version >= 5 ? 0n : -1n)
  }
  for (let version = 4; version <= 18; version++) {
    const answer = await fetch(node, { version, offset: 2 })
    const partition = answer?.responses[0]?.partitions[0]
    strictEqual(answer?.sessionId, 0)
    strictEqual(partition?.errorCode, 0, `version ${version}`)
    strictEqual(partition?.highWatermark, 11n)
    deepStrictEqual(
      Array.from(batchesIn(partition?.records ?? Buffer.alloc(0)), header => header.baseOffset),
      [2, 3, 4, 5, 6, 7, 8, 9, 10],
    )
  }
  await node.close()
})

test('Produce refuses per partition, with the code and the message', async () => {
  const node = await TestNode.start()
  await node.createTopic('orders')
  await node.createTopic('tables', { configs: { 'cleanup.policy': 'compact' } })
  const refused = async (options: Produced) => errorName((await produce(node, options))?.errorCode ?? 0)
  strictEqual(await refused({ topic: 'nothing' }), 'UNKNOWN_TOPIC_OR_PARTITION')
  strictEqual(await refused({ partition: 5 }), 'UNKNOWN_TOPIC_OR_PARTITION')
  strictEqual(await refused({ version: 13, topicId: randomUuid() }), 'UNKNOWN_TOPIC_ID')
  strictEqual(await refused({ acks: 2 }), 'INVALID_REQUIRED_ACKS')
  strictEqual(await refused({ records: null }), 'INVALID_RECORD')
  const keyless = buildBatch({ records: [{ timestamp: NOW, key: null, value: Buffer.from('v') }] })
  const answer = await produce(node, { topic: 'tables', records: keyless })
  strictEqual(errorName(answer?.errorCode ?? 0), 'INVALID_RECORD')
  deepStrictEqual(
    answer?.recordErrors.map(({ batchIndex }) => batchIndex),
    [0],
  )
  await node.close()
})

test('internal topics are written by the admin client only', async () => {
  const node = await TestNode.start()
  await node.createTopic('__consumer_offsets')
  strictEqual((await produce(node, { topic: '__consumer_offsets' }))?.errorCode, ErrorCode.INVALID_TOPIC_EXCEPTION)
  const admin = { topic: '__consumer_offsets', clientId: '__admin_client' }
  strictEqual((await produce(node, admin))?.errorCode, 0)
  await node.close()
})

test('acks=0 has no answer, and an error closes the connection', async () => {
  const node = await TestNode.start()
  await node.createTopic('orders')
  strictEqual(await produce(node, { acks: 0 }), undefined)
  strictEqual(node.partition('orders').log.logEndOffset, 1)
  await rejects(produce(node, { acks: 0, topic: 'nothing' }), CloseConnection)
  await node.close()
})

test('transactional records without a transactional id fail the whole request', async () => {
  const node = await TestNode.start()
  await node.createTopic('orders')
  const records = buildBatch({
    records: [{ timestamp: NOW, key: null, value: null }],
    producerId: 1n,
    producerEpoch: 0,
    baseSequence: 0,
    transactional: true,
  })
  strictEqual((await produce(node, { records }))?.errorCode, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
  await node.close()
})

test('a mirror refuses Produce and DeleteRecords with the words of the gate', async () => {
  const writeGate: WriteGate = {
    refusal: (_id, topic, write) =>
      topic === 'orders' ? { errorCode: ErrorCode.POLICY_VIOLATION, message: `${topic}: ${write}` } : undefined,
  }
  const node = await TestNode.start({ writeGate })
  await node.createTopic('orders')
  const answer = await produce(node)
  deepStrictEqual([answer?.errorCode, answer?.errorMessage], [ErrorCode.POLICY_VIOLATION, 'orders: produce'])
  strictEqual(await deleteRecords(node, 'orders', 0n), 'POLICY_VIOLATION')
  await node.close()
})

test('Fetch answers unknown topics without ending the wait of the others', async () => {
  const clock = new ManualClock()
  const node = await TestNode.start({ clock })
  await node.createTopic('orders')
  const missing = await fetch(node, { topic: 'nothing' })
  strictEqual(missing?.responses[0]?.partitions[0]?.errorCode, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
  const unknownId = await fetch(node, { version: 13, topicId: randomUuid() })
  strictEqual(unknownId?.responses[0]?.partitions[0]?.errorCode, ErrorCode.UNKNOWN_TOPIC_ID)
  strictEqual(unknownId?.errorCode, 0)
  let answered = false
  const both = node.call(FetchApi, {
    maxWaitMs: 500,
    minBytes: 1,
    topics: ['orders', 'nothing'].map(name => ({
      topic: '',
      topicId: node.controller.image.topicIds.get(name) ?? randomUuid(),
      partitions: [{ partition: 0, fetchOffset: 0n, partitionMaxBytes: 100 }],
    })),
  })
  both.then(() => {
    answered = true
  })
  await clock.advance(499)
  strictEqual(answered, false)
  await clock.advance(1)
  const answer = await both
  deepStrictEqual(
    answer?.responses.map(topic => topic.partitions[0]?.errorCode),
    [0, ErrorCode.UNKNOWN_TOPIC_ID],
  )
  await node.close()
})

test('Fetch names the present leader where the epoch is fenced', async () => {
  const node = await TestNode.start()
  const { topicId } = await node.createTopic('orders')
  const epoch = await node.controller.bumpLeaderEpoch(topicId, 0)
  const answer = await fetch(node, { version: 16, leaderEpoch: epoch - 1 })
  const partition = answer?.responses[0]?.partitions[0]
  strictEqual(partition?.errorCode, ErrorCode.FENCED_LEADER_EPOCH)
  deepStrictEqual({ ...partition?.currentLeader }, { leaderId: 1, leaderEpoch: epoch })
  deepStrictEqual(
    answer?.nodeEndpoints.map(({ nodeId, port }) => [nodeId, port]),
    [[1, 9092]],
  )
  await node.close()
})
