/** CreatePartitions, AlterConfigs, IncrementalAlterConfigs, DescribeLogDirs and DescribeProducers over the wire format, with and without a write gate. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { configOverrides, topicByName } from '../../metadata/metadata-image.ts'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { AlterConfigsApi } from '../../protocol/messages/33-alter-configs.ts'
import { DescribeLogDirsApi } from '../../protocol/messages/35-describe-log-dirs.ts'
import { CreatePartitionsApi, type CreatePartitionsRequestInput } from '../../protocol/messages/37-create-partitions.ts'
import { IncrementalAlterConfigsApi } from '../../protocol/messages/44-incremental-alter-configs.ts'
import { DescribeProducersApi } from '../../protocol/messages/61-describe-producers.ts'
import type { ClientWrite, WriteGate } from '../../replica/write-gate.ts'
import { NOW, produce } from '../fakes/requests.ts'
import { TestNode } from '../fakes/test-node.ts'

const TOPIC = 2
const BROKER = 4

/** `mirror` is a mirror whose retention.ms is copied. */
const asked: ClientWrite[] = []
const gate: WriteGate = {
  refusal(_id, topic, write) {
    if (topic !== 'mirror') return undefined
    asked.push(write)
    if (typeof write === 'object' && !write.alterConfigs.includes('retention.ms')) return undefined
    return { errorCode: ErrorCode.POLICY_VIOLATION, message: 'mirror is a mirror of link west' }
  },
}

async function start() {
  const node = await TestNode.start({ writeGate: gate })
  await node.createTopic('orders')
  await node.createTopic('mirror', { configs: { 'retention.ms': '5' } })
  const grow = async (topics: CreatePartitionsRequestInput['topics'], validateOnly = false) => {
    const answer = await node.call(CreatePartitionsApi, { topics, timeoutMs: 1000, validateOnly })
    return answer?.results.map(({ name, errorCode }) => [name, errorName(errorCode)])
  }
  const alter = async (
    [type, name]: [number, string],
    configs: [string, number, string | null][],
    validateOnly = false,
  ) => {
    const answer = await node.call(IncrementalAlterConfigsApi, {
      resources: [
        {
          resourceType: type,
          resourceName: name,
          configs: configs.map(([key, configOperation, value]) => ({ name: key, configOperation, value })),
        },
      ],
      validateOnly,
    })
    return answer?.responses.map(({ errorCode }) => errorName(errorCode)).join()
  }
  const overrides = (name: string) => Object.fromEntries(configOverrides(node.controller.image, { type: TOPIC, name }))
  return { node, grow, alter, overrides }
}

test('partitions are created, refused for mirrors and for names given twice, and only checked on request', async () => {
  const { node, grow } = await start()
  const one = (name: string, count: number) => ({ name, count, assignments: null })
  deepStrictEqual(await grow([one('orders', 3)], true), [['orders', 'NONE']])
  strictEqual(topicByName(node.controller.image, 'orders')?.partitions.length, 1)
  deepStrictEqual(await grow([one('orders', 3), one('mirror', 3), one('a', 2), one('a', 2), one('nowhere', 2)]), [
    ['a', 'INVALID_REQUEST'],
    ['mirror', 'POLICY_VIOLATION'],
    ['orders', 'NONE'],
    ['nowhere', 'UNKNOWN_TOPIC_OR_PARTITION'],
  ])
  strictEqual(node.partition('orders', 2).log.logEndOffset, 0)
  strictEqual(topicByName(node.controller.image, 'mirror')?.partitions.length, 1)
  deepStrictEqual(await grow([one('orders', 3)]), [['orders', 'INVALID_PARTITIONS']])
  await node.close()
})

test('configs are set, deleted, appended and subtracted; those a link copies are refused', async () => {
  const { node, alter, overrides } = await start()
  strictEqual(await alter([TOPIC, 'orders'], [['retention.ms', 0, '77']], true), 'NONE')
  deepStrictEqual(overrides('orders'), {})
  strictEqual(
    await alter(
      [TOPIC, 'orders'],
      [
        ['cleanup.policy', 2, 'compact'],
        ['retention.ms', 0, '77'],
      ],
    ),
    'NONE',
  )
  deepStrictEqual(overrides('orders'), { 'cleanup.policy': 'delete,compact', 'retention.ms': '77' })
  strictEqual(node.partition('orders').settings.retentionMs, 77)
  strictEqual(
    await alter(
      [TOPIC, 'orders'],
      [
        ['cleanup.policy', 3, 'delete'],
        ['retention.ms', 1, null],
      ],
    ),
    'NONE',
  )
  deepStrictEqual(overrides('orders'), { 'cleanup.policy': 'compact' })
  strictEqual(await alter([TOPIC, 'mirror'], [['retention.ms', 0, '77']]), 'POLICY_VIOLATION')
  strictEqual(await alter([TOPIC, 'mirror'], [['segment.bytes', 0, '1048576']]), 'NONE')
  await node.close()
})

test('what is wrong with an alteration has the error code of Kafka', async () => {
  const { node, alter } = await start()
  strictEqual(await alter([TOPIC, 'orders'], [['retention.ms', 0, null]]), 'INVALID_REQUEST')
  strictEqual(
    await alter(
      [TOPIC, 'orders'],
      [
        ['a', 0, '1'],
        ['a', 1, null],
      ],
    ),
    'INVALID_REQUEST',
  )
  strictEqual(await alter([TOPIC, 'orders'], [['retention.ms', 9, '1']]), 'INVALID_REQUEST')
  strictEqual(await alter([TOPIC, 'orders'], [['retention.ms', 2, '1']]), 'INVALID_CONFIG')
  strictEqual(await alter([TOPIC, 'nowhere'], [['retention.ms', 0, '1']]), 'UNKNOWN_TOPIC_OR_PARTITION')
  strictEqual(await alter([99, 'orders'], []), 'INVALID_REQUEST')
  strictEqual(await alter([BROKER, 'x'], []), 'INVALID_REQUEST')
  strictEqual(await alter([BROKER, '7'], []), 'INVALID_REQUEST')
  strictEqual(await alter([BROKER, ''], [['log.retention.ms', 0, '1000']]), 'NONE')
  await node.close()
})

test('AlterConfigs replaces everything; what a link copies may stay but not go', async () => {
  const { node, overrides } = await start()
  const replace = async (name: string, configs: Record<string, string | null>) => {
    const answer = await node.call(AlterConfigsApi, {
      resources: [
        {
          resourceType: TOPIC,
          resourceName: name,
          configs: Object.entries(configs).map(([key, value]) => ({ name: key, value })),
        },
      ],
      validateOnly: false,
    })
    return errorName(answer?.responses[0]?.errorCode ?? -1)
  }
  strictEqual(await replace('orders', { 'retention.ms': '5', 'segment.bytes': '1048576' }), 'NONE')
  strictEqual(await replace('orders', { 'segment.bytes': '2097152' }), 'NONE')
  deepStrictEqual(overrides('orders'), { 'segment.bytes': '2097152' })
  strictEqual(await replace('orders', { 'segment.bytes': null }), 'INVALID_REQUEST')
  strictEqual(await replace('mirror', { 'retention.ms': '5', 'segment.bytes': '1048576' }), 'NONE')
  strictEqual(await replace('mirror', { 'segment.bytes': '1048576' }), 'POLICY_VIOLATION')
  deepStrictEqual(asked.at(-1), { alterConfigs: ['retention.ms'] })
  await node.close()
})

test('DescribeLogDirs tells the directory, the sizes of its logs and the space', async () => {
  const { node } = await start()
  await produce(node)
  const describe = async (topics: { topic: string; partitions: number[] }[] | null) =>
    (await node.call(DescribeLogDirsApi, { topics }))?.results[0]
  const all = await describe(null)
  deepStrictEqual([all?.logDir, all?.totalBytes, all?.usableBytes], ['/data', 1000n, 400n])
  deepStrictEqual(all?.topics.map(({ name }) => name).sort(), ['mirror', 'orders'])
  const one = await describe([{ topic: 'orders', partitions: [0, 9] }])
  const partitionSize = BigInt(node.partition('orders').log.sizeBytes)
  deepStrictEqual(one?.topics, [
    { name: 'orders', partitions: [{ partitionIndex: 0, partitionSize, offsetLag: 0n, isFutureKey: false }] },
  ])
  await node.close()
})

test('DescribeProducers tells what the log remembers', async () => {
  const { node } = await start()
  const records = buildBatch({
    records: [{ timestamp: NOW, key: null, value: null }],
    producerId: 7n,
    producerEpoch: 3,
    baseSequence: 0,
  })
  await produce(node, { records })
  const answer = await node.call(DescribeProducersApi, {
    topics: [
      { name: 'orders', partitionIndexes: [0, 5] },
      { name: 'nowhere', partitionIndexes: [0] },
    ],
  })
  const [known, unknown] = answer?.topics[0]?.partitions ?? []
  const expected = { producerId: 7n, producerEpoch: 3, lastSequence: 0, lastTimestamp: NOW }
  deepStrictEqual(known?.activeProducers, [{ ...expected, coordinatorEpoch: -1, currentTxnStartOffset: -1n }])
  deepStrictEqual(
    [unknown, answer?.topics[1]?.partitions[0]].map(partition => errorName(partition?.errorCode ?? 0)),
    ['UNKNOWN_TOPIC_OR_PARTITION', 'UNKNOWN_TOPIC_OR_PARTITION'],
  )
  await node.close()
})
