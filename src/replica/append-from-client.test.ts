/** Client appends against a real log: offsets, idempotence, what an acknowledgement promises, and failing disks. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { type BatchInput, buildBatch } from '../protocol/batches/build-batch.ts'
import { ErrorCode, errorName } from '../protocol/errors.ts'
import { type AppendOutcome, appendFromClient, type ClientAppend } from './append-from-client.ts'
import { assignmentOf, PartitionBench } from './fakes/open-partition.ts'
import type { Partition } from './partition.ts'

const NOW = 1_700_000_000_000n
const batch = (count = 1, input: Partial<BatchInput> = {}) =>
  buildBatch({
    records: Array.from({ length: count }, (_, i) => ({
      timestamp: NOW,
      key: Buffer.from(`k${i}`),
      value: Buffer.from(`v${i}`),
    })),
    ...input,
  })

const append = (bench: PartitionBench, partition: Partition, change: Partial<ClientAppend> = {}) =>
  appendFromClient(
    partition,
    { records: batch(), acks: -1, timeoutMs: 1000, produceVersion: 13, refusal: () => undefined, ...change },
    bench,
  )

const code = (outcome: AppendOutcome) => errorName(outcome.errorCode)
/** Lets promise chains run without moving any clock. */
const turns = () => new Promise<void>(resolve => setImmediate(resolve))

test('offsets go on where the log ends', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  deepStrictEqual((await append(bench, partition, { records: batch(3) })).baseOffset, 0)
  deepStrictEqual(await append(bench, partition, { records: batch(2) }), {
    errorCode: 0,
    errorMessage: null,
    recordErrors: [],
    baseOffset: 3,
    logAppendTimeMs: -1n,
    logStartOffset: 0,
  })
  strictEqual(partition.log.logEndOffset, 5)
  strictEqual(partition.highWatermark, 5)
  await bench.close()
})

test('a topic with LogAppendTime answers with the time of the append', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open({ settings: { timestampType: 'LogAppendTime' } })
  strictEqual((await append(bench, partition)).logAppendTimeMs, BigInt(bench.clock.nowMs()))
  await bench.close()
})

test('a repeated batch is answered with its first offset and not written again', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  const sequenced = (baseSequence: number) => batch(2, { producerId: 7n, producerEpoch: 0, baseSequence })
  for (let i = 0; i < 5; i++)
    strictEqual((await append(bench, partition, { records: sequenced(2 * i) })).baseOffset, 2 * i)
  for (let i = 0; i < 5; i++)
    strictEqual((await append(bench, partition, { records: sequenced(2 * i) })).baseOffset, 2 * i)
  strictEqual(partition.log.logEndOffset, 10)
  await bench.close()
})

test('two copies of a batch that arrive at once become one', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  const copy = () => batch(2, { producerId: 7n, producerEpoch: 0, baseSequence: 0 })
  const outcomes = await Promise.all([
    append(bench, partition, { records: copy() }),
    append(bench, partition, { records: copy() }),
  ])
  deepStrictEqual(
    outcomes.map(({ baseOffset }) => baseOffset),
    [0, 0],
  )
  strictEqual(partition.log.logEndOffset, 2)
  await bench.close()
})

test('sequences and epochs that do not follow are refused', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  const from = (producerEpoch: number, baseSequence: number) =>
    append(bench, partition, { records: batch(1, { producerId: 7n, producerEpoch, baseSequence }) })
  strictEqual(code(await from(3, 0)), 'NONE')
  strictEqual(code(await from(3, 2)), 'OUT_OF_ORDER_SEQUENCE_NUMBER')
  strictEqual(code(await from(2, 0)), 'INVALID_PRODUCER_EPOCH')
  strictEqual(code(await from(4, 1)), 'OUT_OF_ORDER_SEQUENCE_NUMBER')
  strictEqual(code(await from(4, 0)), 'NONE')
  strictEqual(partition.log.logEndOffset, 2)
  await bench.close()
})

test('transactional records need a transaction that this cluster knows', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  const records = batch(1, { producerId: 7n, producerEpoch: 0, baseSequence: 0, transactional: true })
  strictEqual(code(await append(bench, partition, { records })), 'INVALID_TXN_STATE')
  strictEqual(partition.log.logEndOffset, 0)
  await bench.close()
})

test('the write gate is asked after the writes before it, and its message is answered', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  let closed = false
  const refusal = () => (closed ? { errorCode: ErrorCode.POLICY_VIOLATION, message: 'orders is a mirror' } : undefined)
  const first = append(bench, partition, { refusal })
  await partition.writes.run(() => {
    closed = true
  })
  const second = await append(bench, partition, { refusal })
  strictEqual(code(await first), 'NONE')
  strictEqual(code(second), 'POLICY_VIOLATION')
  strictEqual(second.errorMessage, 'orders is a mirror')
  await bench.close()
})

test('nothing is acknowledged before it is on disk, with acks=1 as with acks=all', async () => {
  for (const acks of [1, -1] as const) {
    const bench = new PartitionBench()
    const partition = await bench.open()
    await append(bench, partition)
    let release = () => {}
    const held = new Promise<void>(resolve => {
      release = resolve
    })
    const sync = partition.log.flush.bind(partition.log)
    partition.log.flush = () => held.then(sync)
    let answered = false
    const outcome = append(bench, partition, { acks }).then(result => {
      answered = true
      return result
    })
    for (let i = 0; i < 20; i++) await turns()
    strictEqual(partition.log.logEndOffset, 2)
    strictEqual(answered, false)
    release()
    strictEqual(code(await outcome), 'NONE')
    strictEqual(bench.fs.syncs > 0, true)
    await bench.close()
  }
})

test('acks=0 does not wait and is flushed in the background', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  strictEqual(code(await append(bench, partition, { acks: 0 })), 'NONE')
  deepStrictEqual(bench.flushes, [partition])
  await bench.close()
})

test('a disk that cannot be flushed acknowledges nothing', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  await append(bench, partition)
  bench.fs.failWhen = ({ name }) => (name === 'sync' ? new Error('input/output error') : undefined)
  for (const acks of [1, -1] as const)
    strictEqual(code(await append(bench, partition, { acks })), 'KAFKA_STORAGE_ERROR')
  strictEqual(bench.failures.length, 2)
  bench.fs.failWhen = () => undefined
  await bench.close()
})

test('a full disk refuses the write and leaves the log usable once there is space', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  await append(bench, partition)
  bench.fs.failWhen = ({ name }) =>
    name === 'write' ? Object.assign(new Error('full'), { code: 'ENOSPC' }) : undefined
  strictEqual(code(await append(bench, partition)), 'KAFKA_STORAGE_ERROR')
  bench.fs.failWhen = () => undefined
  const outcome = await append(bench, partition)
  strictEqual(code(outcome), 'NONE')
  strictEqual(outcome.baseOffset, 1)
  await bench.close()
})

test('acks=all waits for every in-sync replica, and times out', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open({ assignment: { replicas: [1, 2, 3], isr: [1, 2] } })
  strictEqual(partition.highWatermark, 0)
  const reached = append(bench, partition)
  for (let i = 0; i < 20; i++) await turns()
  strictEqual(partition.log.logEndOffset, 1)
  strictEqual(partition.highWatermark, 0)
  partition.followerFetched({ replicaId: 3, brokerEpoch: -1, fetchOffset: 1 })
  strictEqual(partition.highWatermark, 0)
  partition.followerFetched({ replicaId: 2, brokerEpoch: -1, fetchOffset: 1 })
  strictEqual(partition.highWatermark, 1)
  strictEqual(code(await reached), 'NONE')
  const late = append(bench, partition, { timeoutMs: 50 })
  for (let i = 0; i < 20; i++) await turns()
  await bench.clock.advance(50)
  strictEqual(code(await late), 'REQUEST_TIMED_OUT')
  strictEqual(partition.log.logEndOffset, 2)
  strictEqual(code(await append(bench, partition, { acks: 1 })), 'NONE')
  await bench.close()
})

test('too few in-sync replicas refuse acks=all only', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open({
    settings: { minInsyncReplicas: 2 },
    assignment: { replicas: [1, 2], isr: [1] },
  })
  strictEqual(code(await append(bench, partition)), 'NOT_ENOUGH_REPLICAS')
  strictEqual(code(await append(bench, partition, { acks: 1 })), 'NONE')
  await bench.close()
})

test('min.insync.replicas above the number of replicas counts as that number', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open({ settings: { minInsyncReplicas: 3 } })
  strictEqual(code(await append(bench, partition)), 'NONE')
  await bench.close()
})

test('whoever waits when the partition leaves gets the reason', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open({ assignment: { replicas: [1, 2], isr: [1, 2] } })
  const waiting = append(bench, partition)
  for (let i = 0; i < 20; i++) await turns()
  await bench.close()
  strictEqual(code(await waiting), 'NOT_LEADER_OR_FOLLOWER')
  strictEqual(code(await append(bench, partition)), 'NOT_LEADER_OR_FOLLOWER')
})

test('a new leader epoch starts at the log end and shows in later batches', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open()
  await append(bench, partition, { records: batch(4) })
  await partition.lead(assignmentOf({ leaderEpoch: 7, partitionEpoch: 1 }))
  await append(bench, partition)
  deepStrictEqual(partition.log.endOffsetForEpoch(0), { epoch: 0, endOffset: 4 })
  deepStrictEqual(partition.log.endOffsetForEpoch(7), { epoch: 7, endOffset: 5 })
  strictEqual(partition.leaderEpochError(6), ErrorCode.FENCED_LEADER_EPOCH)
  strictEqual(partition.leaderEpochError(8), ErrorCode.UNKNOWN_LEADER_EPOCH)
  strictEqual(partition.leaderEpochError(-1), ErrorCode.NONE)
  await bench.close()
})
