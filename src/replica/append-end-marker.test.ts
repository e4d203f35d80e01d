/** Markers that end transactions, against a real log: what they close, which epochs are refused, and records that come too late. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { ErrorCode, errorName } from '../protocol/errors.ts'
import { appendEndMarker, type TransactionEnd } from './append-end-marker.ts'
import { appendFromClient } from './append-from-client.ts'
import { PartitionBench } from './fakes/open-partition.ts'
import type { Partition } from './partition.ts'
import type { VerificationGuard } from './transaction-verifications.ts'
import { beginVerification } from './transactional-records.ts'

const producer = { producerId: 7n, producerEpoch: 0 }

const records = (baseSequence: number, producerEpoch = 0) =>
  buildBatch({
    records: [{ timestamp: 1n, key: null, value: Buffer.from('v') }],
    producerId: 7n,
    producerEpoch,
    baseSequence,
    transactional: true,
  })

async function append(
  bench: PartitionBench,
  partition: Partition,
  of: { sequence: number; epoch?: number; guard: VerificationGuard | undefined },
): Promise<string> {
  const outcome = await appendFromClient(
    partition,
    {
      records: records(of.sequence, of.epoch),
      acks: -1,
      timeoutMs: 1000,
      produceVersion: 12,
      refusal: () => undefined,
      transaction: { guard: of.guard, required: true },
    },
    bench,
  )
  return errorName(outcome.errorCode)
}

const ask = (bench: PartitionBench, partition: Partition, baseSequence = 0) =>
  beginVerification(partition, { ...producer, baseSequence }, { bumpsEpoch: false, clock: bench.clock })

const end = async (bench: PartitionBench, partition: Partition, change: Partial<TransactionEnd> = {}) =>
  errorName(
    await appendEndMarker(
      partition,
      { ...producer, committed: true, coordinatorEpoch: 3, transactionVersion: 0, ...change },
      bench,
    ),
  )

test('a marker closes the transaction and lets readers of committed records go on', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  strictEqual(await append(bench, partition, { sequence: 0, guard: ask(bench, partition) }), 'NONE')
  strictEqual(partition.lastStableOffset, 0)
  // The transaction is open here: nobody needs to be asked again.
  strictEqual(ask(bench, partition, 1), undefined)
  strictEqual(await append(bench, partition, { sequence: 1, guard: undefined }), 'NONE')
  strictEqual(await end(bench, partition, { committed: false }), 'NONE')
  strictEqual(partition.lastStableOffset, 3)
  strictEqual(partition.log.flushedOffset, 3)
  deepStrictEqual(
    (await partition.log.abortedTransactions(0, 3)).map(({ producerId }) => producerId),
    [7n],
  )
  await bench.close()
})

test('records that were asked for before a marker came do not begin a transaction that nobody ends', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  const guard = ask(bench, partition)
  strictEqual(await end(bench, partition, { committed: false }), 'NONE')
  strictEqual(await append(bench, partition, { sequence: 0, guard }), 'INVALID_TXN_STATE')
  strictEqual(await append(bench, partition, { sequence: 0, guard: undefined }), 'INVALID_TXN_STATE')
  strictEqual(partition.lastStableOffset, 1)
  await bench.close()
})

test('a coordinator of an older epoch, and a marker of an older producer, are refused', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  strictEqual(await end(bench, partition, { producerEpoch: 5 }), 'NONE')
  strictEqual(await end(bench, partition, { producerEpoch: 5, coordinatorEpoch: 2 }), 'TRANSACTION_COORDINATOR_FENCED')
  strictEqual(await end(bench, partition, { producerEpoch: 4 }), 'INVALID_PRODUCER_EPOCH')
  strictEqual(await append(bench, partition, { sequence: 0, epoch: 4, guard: undefined }), 'INVALID_PRODUCER_EPOCH')
  await bench.close()
})

test('with version 2 a marker needs a higher epoch than the open records, and may come again', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  strictEqual(await append(bench, partition, { sequence: 0, guard: ask(bench, partition) }), 'NONE')
  strictEqual(await end(bench, partition, { transactionVersion: 2 }), 'INVALID_PRODUCER_EPOCH')
  strictEqual(await end(bench, partition, { transactionVersion: 2, producerEpoch: 1 }), 'NONE')
  strictEqual(await end(bench, partition, { transactionVersion: 2, producerEpoch: 1 }), 'NONE')
  strictEqual(partition.log.openTransactions().length, 0)
  await bench.close()
})

test('a repeated batch is acknowledged without a question, also when its transaction has ended', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  strictEqual(await append(bench, partition, { sequence: 0, guard: ask(bench, partition) }), 'NONE')
  strictEqual(await end(bench, partition), 'NONE')
  strictEqual(await append(bench, partition, { sequence: 0, guard: undefined }), 'NONE')
  strictEqual(partition.log.logEndOffset, 2)
  await bench.close()
})

test('a partition that cannot be written says why', async () => {
  const bench = new PartitionBench()
  const few = await bench.open({ topic: 'few', settings: { minInsyncReplicas: 2 }, assignment: { replicas: [1, 2] } })
  strictEqual(await end(bench, few), 'NOT_ENOUGH_REPLICAS')
  const broken = await bench.open({ topic: 'broken' })
  await broken.log.close()
  strictEqual(await end(bench, broken), errorName(ErrorCode.NOT_LEADER_OR_FOLLOWER))
  await bench.close()
})
