/** ListOffsets, DeleteRecords and OffsetForLeaderEpoch over the wire format, in several versions. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { ListOffsetsApi } from '../../protocol/messages/02-list-offsets.ts'
import { OffsetForLeaderEpochApi } from '../../protocol/messages/23-offset-for-leader-epoch.ts'
import { batch, deleteRecords, fetch, NOW, produce } from '../fakes/requests.ts'
import { TestNode } from '../fakes/test-node.ts'

async function listOffsets(node: TestNode, timestamp: bigint, options: { version?: number; epoch?: number } = {}) {
  const answer = await node.call(
    ListOffsetsApi,
    {
      replicaId: -1,
      topics: [
        {
          name: 'orders',
          partitions: [{ partitionIndex: 0, timestamp, currentLeaderEpoch: options.epoch ?? -1 }],
        },
      ],
    },
    { version: options.version ?? 11 },
  )
  const partition = answer?.topics[0]?.partitions[0]
  return partition?.errorCode
    ? errorName(partition.errorCode)
    : [partition?.offset, partition?.timestamp, partition?.leaderEpoch]
}

test('ListOffsets knows ends, timestamps and the special ones', async () => {
  const node = await TestNode.start()
  const { topicId } = await node.createTopic('orders')
  deepStrictEqual(await listOffsets(node, -1n), [0n, -1n, 0])
  deepStrictEqual(await listOffsets(node, -3n), [-1n, -1n, -1])
  for (const timestamp of [NOW, NOW + 20n, NOW + 10n]) await produce(node, { records: batch(timestamp) })
  const epoch = await node.controller.bumpLeaderEpoch(topicId, 0)
  await produce(node, { records: batch(NOW + 5n) })
  deepStrictEqual(await listOffsets(node, -1n), [4n, -1n, epoch])
  deepStrictEqual(await listOffsets(node, -2n), [0n, -1n, 0])
  deepStrictEqual(await listOffsets(node, -3n), [1n, NOW + 20n, 0])
  deepStrictEqual(await listOffsets(node, -4n), [0n, -1n, 0])
  deepStrictEqual(await listOffsets(node, -5n), [-1n, -1n, -1])
  deepStrictEqual(await listOffsets(node, -6n), [-1n, -1n, -1])
  deepStrictEqual(await listOffsets(node, NOW + 1n), [1n, NOW + 20n, 0])
  deepStrictEqual(await listOffsets(node, NOW + 21n), [-1n, -1n, -1])
  deepStrictEqual(await listOffsets(node, -1n, { version: 1 }), [4n, -1n, -1])
  deepStrictEqual(await listOffsets(node, -3n, { version: 6 }), 'UNSUPPORTED_VERSION')
  deepStrictEqual(await listOffsets(node, -6n, { version: 10 }), 'UNSUPPORTED_VERSION')
  deepStrictEqual(await listOffsets(node, -9n), 'UNSUPPORTED_VERSION')
  deepStrictEqual(await listOffsets(node, -1n, { epoch: epoch + 1 }), 'UNKNOWN_LEADER_EPOCH')
  deepStrictEqual(await listOffsets(node, -1n, { epoch: epoch - 1 }), 'FENCED_LEADER_EPOCH')
  await node.close()
})

test('ListOffsets refuses a partition that is named twice', async () => {
  const node = await TestNode.start()
  await node.createTopic('orders', { partitions: 2 })
  const partitions = [0, 1, 0].map(partitionIndex => ({ partitionIndex, timestamp: -1n }))
  const answer = await node.call(ListOffsetsApi, { replicaId: -1, topics: [{ name: 'orders', partitions }] })
  deepStrictEqual(
    answer?.topics[0]?.partitions.map(({ errorCode }) => errorName(errorCode)),
    ['INVALID_REQUEST', 'NONE'],
  )
  await node.close()
})

test('DeleteRecords raises the log start, never above the high watermark', async () => {
  const node = await TestNode.start()
  await node.createTopic('orders')
  await node.createTopic('tables', { configs: { 'cleanup.policy': 'compact' } })
  for (let i = 0; i < 4; i++) await produce(node)
  strictEqual(await deleteRecords(node, 'orders', 2n), 2n)
  strictEqual(await deleteRecords(node, 'orders', 1n), 2n)
  strictEqual(await deleteRecords(node, 'orders', 5n), 'OFFSET_OUT_OF_RANGE')
  strictEqual(await deleteRecords(node, 'orders', -2n), 'OFFSET_OUT_OF_RANGE')
  strictEqual((await fetch(node, { offset: 1 }))?.responses[0]?.partitions[0]?.errorCode, ErrorCode.OFFSET_OUT_OF_RANGE)
  strictEqual(await deleteRecords(node, 'orders', -1n), 4n)
  deepStrictEqual(await listOffsets(node, -2n), [4n, -1n, 0])
  strictEqual(await deleteRecords(node, 'tables', 0n), 'POLICY_VIOLATION')
  strictEqual(await deleteRecords(node, 'nothing', 0n), 'UNKNOWN_TOPIC_OR_PARTITION')
  await node.close()
})

test('OffsetForLeaderEpoch tells where each epoch ends', async () => {
  const node = await TestNode.start()
  const { topicId } = await node.createTopic('orders')
  await produce(node)
  const epoch = await node.controller.bumpLeaderEpoch(topicId, 0)
  await produce(node)
  const ask = async (leaderEpoch: number, version: number, currentLeaderEpoch = -1) => {
    const answer = await node.call(
      OffsetForLeaderEpochApi,
      { topics: [{ topic: 'orders', partitions: [{ partition: 0, leaderEpoch, currentLeaderEpoch }] }] },
      { version },
    )
    const partition = answer?.topics[0]?.partitions[0]
    return partition?.errorCode ? errorName(partition.errorCode) : [partition?.leaderEpoch, partition?.endOffset]
  }
  for (const version of [2, 3, 4]) {
    deepStrictEqual(await ask(0, version), [0, 1n])
    deepStrictEqual(await ask(epoch, version), [epoch, 2n])
    deepStrictEqual(await ask(epoch + 5, version), [-1, -1n])
    deepStrictEqual(await ask(0, version, epoch + 1), 'UNKNOWN_LEADER_EPOCH')
  }
  await node.close()
})
