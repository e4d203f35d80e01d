/** Transactions over the wire format against a whole node in memory: both versions, fencing, timeouts, expiry, mirrors. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { OffsetFetchApi } from '../../protocol/messages/09-offset-fetch.ts'
import { WriteTxnMarkersApi } from '../../protocol/messages/27-write-txn-markers.ts'
import { DescribeTransactionsApi } from '../../protocol/messages/65-describe-transactions.ts'
import { ListTransactionsApi } from '../../protocol/messages/66-list-transactions.ts'
import type { WriteGate } from '../../replica/write-gate.ts'
import { TestNode, type TestNodeOptions } from '../fakes/test-node.ts'
import { TransactionalClient, turn } from '../fakes/transactional-client.ts'

/** One partition of `__transaction_state` is quicker to make than fifty. */
const file = new Map([
  ['transaction.state.log.num.partitions', '1'],
  ['offsets.topic.num.partitions', '1'],
])

async function start(options: TestNodeOptions = {}): Promise<TestNode> {
  const node = await TestNode.start({ file, ...options })
  await node.createTopic('orders', { partitions: 2 })
  await node.transactions.partitions.ensureTopic()
  while (node.transactions.partitions.loading) await turn()
  return node
}

const committedOffset = async (node: TestNode, groupId: string) => {
  const partitionIndexes = [0]
  const answer = await node.call(
    OffsetFetchApi,
    {
      groups: [{ groupId, topics: [{ name: 'orders', partitionIndexes }] }],
      requireStable: false,
    },
    { version: 9 },
  )
  return answer?.groups[0]?.topics[0]?.partitions[0]?.committedOffset
}

const markers = async (node: TestNode, partition = 0) => {
  const { log, highWatermark } = node.partition('orders', partition)
  const aborted = await log.abortedTransactions(0, highWatermark)
  return { end: log.logEndOffset, stable: log.lastStableOffset(highWatermark), aborted: aborted.length }
}

for (const generation of [1, 2] as const)
  test(`a client of generation ${generation} commits and aborts`, async () => {
    const node = await start()
    const client = new TransactionalClient(node, { generation })
    strictEqual(await client.init(), 'NONE')
    for (const committed of [true, false]) {
      for (const partition of [0, 1]) {
        if (generation === 1) strictEqual(await client.add('orders', partition), 'NONE')
        strictEqual(await client.produce('orders', partition), 'NONE')
        strictEqual(await client.produce('orders', partition), 'NONE')
      }
      strictEqual((await client.describe())?.transactionState, 'Ongoing')
      strictEqual(await client.end(committed), 'NONE')
      await client.settled()
      strictEqual((await client.describe())?.transactionState, committed ? 'CompleteCommit' : 'CompleteAbort')
    }
    deepStrictEqual(await markers(node, 0), { end: 6, stable: 6, aborted: 1 })
    deepStrictEqual(await markers(node, 1), { end: 6, stable: 6, aborted: 1 })
    strictEqual(client.producerEpoch, generation === 1 ? 0 : 2)
    await node.close()
  })

test('records of the first generation need a partition that was added', async () => {
  const node = await start()
  const client = new TransactionalClient(node, { generation: 1 })
  await client.init()
  strictEqual(await client.produce('orders'), 'TRANSACTION_ABORTABLE')
  strictEqual(await client.add('orders', 0), 'NONE')
  strictEqual(await client.produce('orders'), 'NONE')
  strictEqual(await client.produce('orders', 1), 'TRANSACTION_ABORTABLE')
  await node.close()
})

test('verification can be switched off', async () => {
  const off = new Map([...file, ['transaction.partition.verification.enable', 'false']])
  const node = await start({ file: off })
  const client = new TransactionalClient(node, { generation: 1 })
  await client.init()
  strictEqual(await client.produce('orders'), 'NONE')
  await node.close()
})

test('a second producer of the same id fences the first and aborts what it left open', async () => {
  const node = await start()
  const first = new TransactionalClient(node)
  const second = new TransactionalClient(node)
  strictEqual(await first.init(), 'NONE')
  strictEqual(await first.produce('orders'), 'NONE')
  strictEqual(await second.init(), 'NONE')
  // One epoch for the marker that aborts, one for the producer.
  deepStrictEqual([first.producerEpoch, second.producerEpoch], [0, 2])
  deepStrictEqual(await markers(node), { end: 2, stable: 2, aborted: 1 })
  strictEqual(await first.produce('orders'), 'INVALID_PRODUCER_EPOCH')
  strictEqual(await first.end(true), 'PRODUCER_FENCED')
  strictEqual(await first.init({ keep: true }), 'PRODUCER_FENCED')
  strictEqual(await second.produce('orders'), 'NONE')
  await node.close()
})

test('a transaction that is open for too long is aborted, and its producer fenced', async () => {
  const clock = new ManualClock()
  const node = await start({ clock })
  const client = new TransactionalClient(node)
  strictEqual(await client.init({ timeoutMs: 5000 }), 'NONE')
  strictEqual(await client.produce('orders'), 'NONE')
  await clock.advance(10_000)
  await client.settled()
  strictEqual((await client.describe())?.transactionState, 'CompleteAbort')
  deepStrictEqual(await markers(node), { end: 2, stable: 2, aborted: 1 })
  strictEqual(await client.end(true), 'INVALID_TXN_STATE')
  strictEqual(await client.produce('orders'), 'INVALID_PRODUCER_EPOCH')
  await node.close()
})

test('an idle id is forgotten', async () => {
  const clock = new ManualClock()
  const options = new Map([...file, ['transactional.id.expiration.ms', '1000']])
  const node = await start({ clock, file: options })
  const client = new TransactionalClient(node)
  await client.init()
  await clock.advance(3_600_000)
  strictEqual((await client.describe())?.errorCode, ErrorCode.TRANSACTIONAL_ID_NOT_FOUND)
  strictEqual(await client.end(true), 'INVALID_PRODUCER_ID_MAPPING')
  await node.close()
})

test('a deleted topic does not keep a transaction from its end', async () => {
  const node = await start()
  await node.createTopic('gone')
  const client = new TransactionalClient(node)
  await client.init()
  strictEqual(await client.produce('gone'), 'NONE')
  strictEqual(await client.produce('orders'), 'NONE')
  const [deleted] = await node.controller.deleteTopics([{ name: 'gone', topicId: 'AAAAAAAAAAAAAAAAAAAAAA' as never }])
  strictEqual(deleted?.errorCode, 0)
  strictEqual(await client.end(true), 'NONE')
  await client.settled()
  strictEqual((await client.describe())?.transactionState, 'CompleteCommit')
  deepStrictEqual(await markers(node), { end: 2, stable: 2, aborted: 0 })
  await node.close()
})

test('a mirror takes part in no transaction', async () => {
  const refusal = { errorCode: ErrorCode.POLICY_VIOLATION, message: 'a mirror' }
  const writeGate: WriteGate = { refusal: (_id, topic) => (topic === 'orders' ? refusal : undefined) }
  const node = await start({ writeGate })
  const old = new TransactionalClient(node, { id: 'old', generation: 1 })
  const young = new TransactionalClient(node, { id: 'young' })
  await old.init()
  await young.init()
  strictEqual(await old.add('orders'), 'POLICY_VIOLATION')
  strictEqual(await young.produce('orders'), 'POLICY_VIOLATION')
  strictEqual((await young.describe())?.transactionState, 'Empty')
  await node.close()
})

test('a foreign marker is checked and written, into a mirror it is not', async () => {
  const node = await start()
  const write = async (producerEpoch: number, coordinatorEpoch = 1) => {
    const answer = await node.call(WriteTxnMarkersApi, {
      markers: [
        {
          producerId: 7n,
          producerEpoch,
          transactionResult: false,
          coordinatorEpoch,
          topics: [{ name: 'orders', partitionIndexes: [0, 9] }],
        },
      ],
    })
    return answer?.markers[0]?.topics[0]?.partitions.map(({ errorCode }) => errorCode)
  }
  const { NONE, UNKNOWN_TOPIC_OR_PARTITION: unknown } = ErrorCode
  deepStrictEqual(await write(3), [NONE, unknown])
  deepStrictEqual(await write(2), [ErrorCode.INVALID_PRODUCER_EPOCH, unknown])
  deepStrictEqual(await write(3, 0), [ErrorCode.TRANSACTION_COORDINATOR_FENCED, unknown])
  strictEqual(node.partition('orders').log.logEndOffset, 1)
  await node.close()
})

test('transactions are listed by state, producer, age and pattern', async () => {
  const node = await start()
  for (const id of ['a-1', 'a-2', 'b-1']) await new TransactionalClient(node, { id }).init()
  const open = new TransactionalClient(node, { id: 'open' })
  await open.init()
  await open.produce('orders')
  const list = async (filter: object) => {
    const answer = await node.call(ListTransactionsApi, { stateFilters: [], producerIdFilters: [], ...filter })
    return answer?.errorCode || answer?.transactionStates.map(({ transactionalId }) => transactionalId).sort()
  }
  deepStrictEqual(await list({}), ['a-1', 'a-2', 'b-1', 'open'])
  deepStrictEqual(await list({ stateFilters: ['Ongoing', 'Nonsense'] }), ['open'])
  deepStrictEqual(await list({ stateFilters: ['Nonsense'] }), [])
  deepStrictEqual(await list({ producerIdFilters: [open.producerId] }), ['open'])
  deepStrictEqual(await list({ transactionalIdPattern: 'a-.' }), ['a-1', 'a-2'])
  deepStrictEqual(await list({ transactionalIdPattern: '(' }), ErrorCode.INVALID_REGULAR_EXPRESSION)
  const described = await node.call(DescribeTransactionsApi, { transactionalIds: ['open', 'none', ''] })
  deepStrictEqual(
    described?.transactionStates.map(({ errorCode, topics }) => [errorCode, topics]),
    [
      [0, [{ topic: 'orders', partitions: [0] }]],
      [ErrorCode.TRANSACTIONAL_ID_NOT_FOUND, []],
      [ErrorCode.INVALID_REQUEST, []],
    ],
  )
  await node.close()
})

test('with version 2 an abort without any record bumps the epoch too, and a repeated end is told by it', async () => {
  const node = await start()
  const client = new TransactionalClient(node)
  await client.init()
  const before = client.producerEpoch
  strictEqual(await client.end(true), 'INVALID_TXN_STATE')
  strictEqual(await client.end(false), 'NONE')
  await client.settled()
  strictEqual(client.producerEpoch, before + 1)
  client.producerEpoch = before
  strictEqual(await client.end(false), 'NONE')
  strictEqual(client.producerEpoch, before + 1)
  await node.close()
})

for (const generation of [1, 2] as const)
  test(`offsets of a transaction count when it is committed, generation ${generation}`, async () => {
    const node = await start()
    await node.groups.ensureTopic()
    const client = new TransactionalClient(node, { generation })
    await client.init()
    const send = async (offset: bigint, committed: boolean) => {
      if (generation === 1) strictEqual(await client.addGroup('g'), 'NONE')
      strictEqual(await client.commitOffset('g', offset), 'NONE')
      strictEqual(await client.end(committed), 'NONE')
      await client.settled()
      return await committedOffset(node, 'g')
    }
    strictEqual(await send(5n, true), 5n)
    strictEqual(await send(9n, false), 5n)
    strictEqual(await send(7n, true), 7n)
    const { log, lastStableOffset } = node.partition('__consumer_offsets')
    strictEqual(lastStableOffset, log.logEndOffset)
    await node.close()
  })

test('offsets of the first generation need a group that was added', async () => {
  const node = await start()
  await node.groups.ensureTopic()
  const client = new TransactionalClient(node, { generation: 1 })
  await client.init()
  strictEqual(await client.commitOffset('g', 1n), 'TRANSACTION_ABORTABLE')
  strictEqual(await committedOffset(node, 'g'), -1n)
  await node.close()
})
