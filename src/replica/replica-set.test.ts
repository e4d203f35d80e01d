/** The set of partitions follows the metadata image, survives restarts and crashes, and brings failed logs back. */
import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { produce } from '../broker/fakes/requests.ts'
import { TestNode } from '../broker/fakes/test-node.ts'
import { ManualClock } from '../core/clock.ts'
import { seededRandom } from '../core/random.ts'
import { randomUuid, ZERO_UUID } from '../core/uuid.ts'
import { MemoryFileSystem } from '../log/fakes/memory-file-system.ts'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { ErrorCode, errorName } from '../protocol/errors.ts'
import { PartitionUnavailable } from './partition-unavailable.ts'

const unavailable = (errorCode: number) => (error: unknown) =>
  error instanceof PartitionUnavailable && error.errorCode === errorCode

test('a clean restart finds topics, data and configs again, in a new leader epoch', async () => {
  const options = { fs: new MemoryFileSystem(), clusterId: randomUuid() }
  const before = await TestNode.start(options)
  const { topicId } = await before.createTopic('orders', { partitions: 2, configs: { 'retention.ms': '77' } })
  for (let i = 0; i < 3; i++) await produce(before, { partition: 1 })
  const epoch = before.partition('orders', 1).leaderEpoch
  await before.close()
  const after = await TestNode.start(options)
  const partition = after.partition('orders', 1)
  deepStrictEqual(
    [partition.topicId, partition.log.logEndOffset, partition.highWatermark, partition.settings.retentionMs],
    [topicId, 3, 3, 77],
  )
  strictEqual(partition.leaderEpoch > epoch, true)
  deepStrictEqual(partition.log.endOffsetForEpoch(epoch), { epoch, endOffset: 3 })
  await after.close()
})

test('nothing acknowledged is lost when the power fails', async () => {
  for (let seed = 1; seed <= 10; seed++) {
    const fs = new MemoryFileSystem()
    const options = { fs, clusterId: randomUuid() }
    const before = await TestNode.start(options)
    await before.createTopic('orders')
    for (let i = 0; i < 3; i++) await produce(before, { acks: i % 2 === 0 ? 1 : -1 })
    await produce(before, { acks: 0 })
    fs.crash(seededRandom(seed))
    const after = await TestNode.start(options)
    const end = after.partition('orders').log.logEndOffset
    strictEqual(end === 3 || end === 4, true, `seed ${seed}: the log ends at ${end}`)
    await after.close()
  }
})

test('a partition that is unknown, deleted or not led here is refused with the right code', async () => {
  const node = await TestNode.start()
  const { topicId } = await node.createTopic('orders')
  throws(() => node.replicas.lookup(topicId, 1), unavailable(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
  throws(() => node.replicas.lookup(randomUuid(), 0), unavailable(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
  throws(() => node.replicas.lookupByName('clicks', 0), unavailable(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
  await node.controller.deleteTopics([{ name: 'orders', topicId: ZERO_UUID }])
  throws(() => node.replicas.lookup(topicId, 0), unavailable(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
  await node.close()
  throws(() => node.replicas.lookup(topicId, 0), unavailable(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION))
})

test('added partitions are opened, changed broker configs reach every topic', async () => {
  const node = await TestNode.start()
  await node.createTopic('orders')
  await node.controller.createPartitions([{ name: 'orders', newCount: 3 }], { validateOnly: false })
  strictEqual(node.partition('orders', 2).log.logEndOffset, 0)
  const changes = [{ key: 'message.max.bytes', operation: 'set' as const, value: '99' }]
  await node.controller.incrementalAlterConfigs([{ resource: { type: 4, name: '' }, changes }], {
    validateOnly: false,
  })
  for (const partition of node.replicas.partitions) strictEqual(partition.settings.maxMessageBytes, 99)
  await node.close()
})

test('a log whose flush failed goes out of service and comes back with what was acknowledged', async () => {
  const fs = new MemoryFileSystem()
  const clock = new ManualClock()
  const node = await TestNode.start({ fs, clock })
  await node.createTopic('orders')
  await node.createTopic('clicks')
  const code = async (topic: string) => errorName((await produce(node, { topic }))?.errorCode ?? 0)
  strictEqual(await code('orders'), 'NONE')
  fs.failWhen = ({ name, path }) => (name === 'sync' && path.includes('orders') ? new Error('i/o error') : undefined)
  strictEqual(await code('orders'), 'KAFKA_STORAGE_ERROR')
  strictEqual(await code('orders'), 'KAFKA_STORAGE_ERROR')
  strictEqual(await code('clicks'), 'NONE')
  throws(() => node.partition('orders'), unavailable(ErrorCode.KAFKA_STORAGE_ERROR))
  fs.failWhen = () => undefined
  for (let i = 0; i < 10; i++) await clock.advance(2000)
  const end = node.partition('orders').log.logEndOffset
  strictEqual(end >= 1, true)
  strictEqual((await produce(node))?.baseOffset, BigInt(end))
  await node.close()
})

test('a log that cannot be opened at start is offline and tried again', async () => {
  const fs = new MemoryFileSystem()
  const clock = new ManualClock()
  const options = { fs, clock, clusterId: randomUuid() }
  const before = await TestNode.start(options)
  await before.createTopic('orders')
  await produce(before)
  await before.close()
  fs.failWhen = ({ path }) => (path.includes('orders-0') ? new Error('i/o error') : undefined)
  const after = await TestNode.start(options)
  throws(() => after.partition('orders'), unavailable(ErrorCode.KAFKA_STORAGE_ERROR))
  fs.failWhen = () => undefined
  for (let i = 0; i < 10; i++) await clock.advance(2000)
  strictEqual(after.partition('orders').log.logEndOffset, 1)
  await after.close()
})

test('idle producers are forgotten after producer.id.expiration.ms', async () => {
  const clock = new ManualClock()
  const node = await TestNode.start({ clock, file: new Map([['producer.id.expiration.ms', '3600000']]) })
  await node.createTopic('orders')
  const records = buildBatch({
    records: [{ timestamp: BigInt(clock.nowMs()), key: null, value: null }],
    producerId: 5n,
    producerEpoch: 0,
    baseSequence: 0,
  })
  await produce(node, { records })
  const known = () => Array.from(node.partition('orders').log.producers(), ({ producerId }) => producerId)
  await clock.advance(3_000_000)
  deepStrictEqual(known(), [5n])
  await clock.advance(1_200_000)
  deepStrictEqual(known(), [])
  await node.close()
})
