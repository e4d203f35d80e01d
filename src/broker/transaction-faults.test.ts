/** Transactions when something fails under them: a disk that refuses, markers that have to wait, requests that cross each other. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../core/clock.ts'
import { MemoryFileSystem } from '../log/fakes/memory-file-system.ts'
import { ErrorCode } from '../protocol/errors.ts'
import type { WriteGate } from '../replica/write-gate.ts'
import { TestNode, type TestNodeOptions } from './fakes/test-node.ts'
import { TransactionalClient, turn } from './fakes/transactional-client.ts'

const file = new Map([['transaction.state.log.num.partitions', '1']])

async function start(options: TestNodeOptions = {}): Promise<TestNode> {
  const node = await TestNode.start({ file, ...options })
  await node.createTopic('orders', { partitions: 4 })
  await node.transactions.partitions.ensureTopic()
  while (node.transactions.partitions.loading) await turn()
  return node
}

test('after a failed write the coordinator knows what its log knows, and goes on', async () => {
  const fs = new MemoryFileSystem()
  const clock = new ManualClock()
  const node = await start({ fs, clock })
  const client = new TransactionalClient(node)
  strictEqual(await client.init(), 'NONE')
  let failing = true
  fs.failWhen = ({ name, path }) =>
    failing && name === 'sync' && path.includes('__transaction_state') ? new Error('no disk') : undefined
  strictEqual(await client.produce('orders'), 'NOT_ENOUGH_REPLICAS')
  strictEqual(await client.end(true), 'COORDINATOR_LOAD_IN_PROGRESS')
  failing = false
  for (let tries = 0; tries < 100 && (await client.describe())?.errorCode !== ErrorCode.NONE; tries++)
    await clock.advance(1000)
  // Whether the partition was added before the disk failed is not known to the client; it repeats.
  strictEqual(await client.produce('orders'), 'NONE')
  strictEqual(await client.end(true), 'NONE')
  await client.settled()
  strictEqual((await client.describe())?.transactionState, 'CompleteCommit')
  strictEqual(node.partition('orders').log.openTransactions().length, 0)
  await node.close()
})

test('markers wait for a partition that cannot take them yet, and the next transaction waits for the markers', async () => {
  const clock = new ManualClock()
  let closed = false
  const refusal = { errorCode: ErrorCode.NOT_LEADER_OR_FOLLOWER, message: 'not known yet' }
  const writeGate: WriteGate = {
    refusal: (_id, _topic, write) => (closed && write === 'transaction-markers' ? refusal : undefined),
  }
  const node = await start({ clock, writeGate })
  const client = new TransactionalClient(node)
  await client.init()
  strictEqual(await client.produce('orders'), 'NONE')
  closed = true
  strictEqual(await client.end(true), 'NONE')
  await clock.advance(1000)
  strictEqual((await client.describe())?.transactionState, 'PrepareCommit')
  const next = client.produce('orders', 1)
  await clock.advance(200)
  strictEqual(await next, 'CONCURRENT_TRANSACTIONS')
  closed = false
  await clock.advance(10_000)
  await client.settled()
  strictEqual((await client.describe())?.transactionState, 'CompleteCommit')
  strictEqual(await client.produce('orders', 1), 'NONE')
  await node.close()
})

test('records that come with the end of the transaction before wait for it', async () => {
  const node = await start()
  const client = new TransactionalClient(node)
  await client.init()
  for (let round = 0; round < 5; round++) {
    strictEqual(await client.produce('orders', round % 4), 'NONE', `round ${round}`)
    strictEqual(await client.end(round % 2 === 0), 'NONE', `round ${round}`)
  }
  await client.settled()
  await node.close()
})

test('many requests of a transaction at once add their partitions one after the other', async () => {
  const node = await start()
  const client = new TransactionalClient(node)
  await client.init()
  const answers = await Promise.all([0, 1, 2, 3].map(partition => client.produce('orders', partition)))
  deepStrictEqual(answers, ['NONE', 'NONE', 'NONE', 'NONE'])
  deepStrictEqual((await client.describe())?.topics[0]?.partitions.toSorted(), [0, 1, 2, 3])
  strictEqual(await client.end(false), 'NONE')
  await client.settled()
  for (const partition of [0, 1, 2, 3]) {
    const { log } = node.partition('orders', partition)
    strictEqual((await log.abortedTransactions(0, log.logEndOffset)).length, 1)
  }
  await node.close()
})

test('a node that stops with markers under way does not wait for them, and writes them when it starts again', async () => {
  const fs = new MemoryFileSystem()
  const clock = new ManualClock()
  const clusterId = 'AAAAAAAAAAAAAAAAAAAAAQ'
  let closed = false
  const refusal = { errorCode: ErrorCode.NOT_LEADER_OR_FOLLOWER, message: 'not known yet' }
  const writeGate: WriteGate = {
    refusal: (_id, _topic, write) => (closed && write === 'transaction-markers' ? refusal : undefined),
  }
  const node = await start({ fs, clock, writeGate, clusterId })
  const client = new TransactionalClient(node)
  await client.init()
  await client.produce('orders')
  closed = true
  strictEqual(await client.end(true), 'NONE')
  await node.close()
  closed = false
  const again = await TestNode.start({ file, fs, clock, writeGate, clusterId })
  while (again.transactions.partitions.loading) await turn()
  const known = new TransactionalClient(again)
  await known.settled()
  strictEqual((await known.describe())?.transactionState, 'CompleteCommit')
  ok(again.partition('orders').log.openTransactions().length === 0)
  await again.close()
})

test('while it is not known whether a topic is a mirror, producers are asked to come again', async () => {
  let known = false
  const refusal = { errorCode: ErrorCode.NOT_LEADER_OR_FOLLOWER, message: 'not known yet' }
  const writeGate: WriteGate = { refusal: () => (known ? undefined : refusal) }
  const node = await start({ writeGate })
  const old = new TransactionalClient(node, { id: 'old', generation: 1 })
  const young = new TransactionalClient(node, { id: 'young' })
  await old.init()
  await young.init()
  // Fatal for no producer of its generation, unlike the code of the write gate in an answer to AddPartitionsToTxn.
  strictEqual(await old.add('orders'), 'COORDINATOR_LOAD_IN_PROGRESS')
  strictEqual(await young.produce('orders'), 'NOT_LEADER_OR_FOLLOWER')
  known = true
  strictEqual(await old.add('orders'), 'NONE')
  strictEqual(await young.produce('orders'), 'NONE')
  await node.close()
})
