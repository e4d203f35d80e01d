/** A partition as a mirror: offsets and holes kept, compare-and-set, log start, cuts, and the end of open transactions. */
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { LogError } from '../log/log-error.ts'
import { isControl, readBatchHeader } from '../protocol/batches/batch-header.ts'
import { batchesIn } from '../protocol/batches/batch-iteration.ts'
import { type BatchInput, buildBatch } from '../protocol/batches/build-batch.ts'
import { decodeControlRecord } from '../protocol/batches/control-batch.ts'
import { assignmentOf, PartitionBench } from './fakes/open-partition.ts'
import { fetchFromLog } from './fetch-from-log.ts'
import { MirrorPartition } from './mirror-partition.ts'

const EPOCH = 3
const batchAt = (baseOffset: number, input: Partial<BatchInput> = {}) =>
  buildBatch({
    records: [{ timestamp: 1n, key: null, value: Buffer.from('v') }],
    baseOffset,
    leaderEpoch: 99,
    ...input,
  })

async function openMirror() {
  const bench = new PartitionBench()
  const partition = await bench.open({ assignment: { leaderEpoch: EPOCH } })
  const mirror = new MirrorPartition(partition, bench)
  const append = (batches: Buffer, endOffset = mirror.state().logEndOffset) =>
    mirror.append(batches, { endOffset, leaderEpoch: EPOCH })
  const batches = async (offset: number) => {
    const request = { offset, maxBytes: 1 << 20, maxOffset: Number.MAX_SAFE_INTEGER, minOneBatch: true }
    const read = await partition.log.read(request)
    return read.kind === 'batches' ? read.records : Buffer.alloc(0)
  }
  const offsets = async (from: number) => Array.from(batchesIn(await batches(from)), header => header.baseOffset)
  return { bench, partition, mirror, append, batches, offsets }
}

const conflict = (error: unknown) => error instanceof LogError && error.kind === 'conflict'

test('batches keep their offsets, holes stay, the epoch is ours', async () => {
  const { bench, partition, mirror, append, batches, offsets } = await openMirror()
  const state = await append(Buffer.concat([batchAt(0), batchAt(7)]))
  deepStrictEqual(state, {
    logStartOffset: 0,
    logEndOffset: 8,
    highWatermark: 8,
    leaderEpoch: EPOCH,
    isEmpty: false,
    cleanedOffset: 0,
  })
  deepStrictEqual(await offsets(0), [0, 7])
  strictEqual(readBatchHeader(await batches(0), 0).leaderEpoch, EPOCH)
  deepStrictEqual(bench.flushes, [partition])
  await mirror.flush()
  strictEqual(partition.log.flushedOffset, 8)
  await bench.close()
})

test('an append with another idea of the end or of the epoch is a conflict', async () => {
  const { bench, partition, mirror, append } = await openMirror()
  await append(batchAt(0))
  await rejects(append(batchAt(5), 5), conflict)
  await partition.lead(assignmentOf({ leaderEpoch: EPOCH + 1 }))
  await rejects(append(batchAt(1)), conflict)
  strictEqual(mirror.state().logEndOffset, 1)
  await bench.close()
})

test('an empty mirror begins anywhere, also inside a batch', async () => {
  const { bench, mirror, append, offsets } = await openMirror()
  strictEqual((await mirror.startAt(1_000_000_007)).logStartOffset, 1_000_000_007)
  const records = Array.from({ length: 5 }, () => ({ timestamp: 1n, key: null, value: null }))
  const state = await append(buildBatch({ records, baseOffset: 1_000_000_005 }))
  strictEqual(state.logEndOffset, 1_000_000_010)
  deepStrictEqual(await offsets(1_000_000_007), [1_000_000_005])
  await bench.close()
})

test('a mirror that is not empty is extended over a hole', async () => {
  const { bench, mirror, append, offsets } = await openMirror()
  await append(batchAt(0))
  deepStrictEqual(await mirror.startAt(50), {
    logStartOffset: 0,
    logEndOffset: 50,
    highWatermark: 50,
    leaderEpoch: EPOCH,
    isEmpty: false,
    cleanedOffset: 0,
  })
  await append(batchAt(50))
  deepStrictEqual(await offsets(0), [0])
  deepStrictEqual(await offsets(1), [50])
  await bench.close()
})

test('the log start follows, never above the high watermark and never back', async () => {
  const { bench, mirror, append } = await openMirror()
  for (let offset = 0; offset < 5; offset++) await append(batchAt(offset))
  strictEqual((await mirror.raiseLogStart(3)).logStartOffset, 3)
  strictEqual((await mirror.raiseLogStart(1)).logStartOffset, 3)
  // Nothing is readable any more, but the log is not a fresh one: a batch that begins inside what it held has no place in it.
  deepStrictEqual(await mirror.raiseLogStart(100), {
    logStartOffset: 5,
    logEndOffset: 5,
    highWatermark: 5,
    leaderEpoch: EPOCH,
    isEmpty: false,
    cleanedOffset: 0,
  })
  const records = Array.from({ length: 3 }, () => ({ timestamp: 1n, key: null, value: null }))
  await rejects(append(buildBatch({ records, baseOffset: 4 })), /a batch from 4 to 6 cannot follow offset 4/)
  await bench.close()
})

test('a cut lowers the high watermark with the log end', async () => {
  const { bench, mirror, append } = await openMirror()
  for (let offset = 0; offset < 5; offset++) await append(batchAt(offset))
  const state = await mirror.truncateTo(2)
  deepStrictEqual([state.logEndOffset, state.highWatermark], [2, 2])
  strictEqual((await append(batchAt(2))).highWatermark, 3)
  await bench.close()
})

test('open transactions are aborted in order, with their own producer and a valid coordinator epoch', async () => {
  const { bench, partition, mirror, append, batches } = await openMirror()
  const open = (offset: number, producerId: bigint) =>
    batchAt(offset, { producerId, producerEpoch: 4, baseSequence: 0, transactional: true })
  await append(Buffer.concat([open(0, 21n), open(1, 20n), batchAt(2)]))
  strictEqual(partition.lastStableOffset, 0)
  deepStrictEqual(
    mirror.openTransactions().map(({ producerId, firstOffset }) => [producerId, firstOffset]),
    [
      [21n, 0],
      [20n, 1],
    ],
  )
  const aborted = await mirror.abortOpenTransactions()
  deepStrictEqual(
    aborted.map(({ producerId }) => producerId),
    [21n, 20n],
  )
  strictEqual(partition.lastStableOffset, 5)
  strictEqual(partition.log.flushedOffset, 5)
  const tail = await batches(3)
  const markers = Array.from(batchesIn(tail), header => ({ header, record: decodeControlRecord(tail, header) }))
  for (const { header } of markers) strictEqual(isControl(header), true)
  deepStrictEqual(
    markers.map(({ header, record }) => [header.producerId, header.producerEpoch, record]),
    [
      [21n, 4, { type: 'abort', offset: 3, coordinatorEpoch: 0 }],
      [20n, 4, { type: 'abort', offset: 4, coordinatorEpoch: 0 }],
    ],
  )
  deepStrictEqual(await mirror.abortOpenTransactions(), [])
  await bench.close()
})

// Producer ids of both clusters begin at 0. A producer of this cluster that had its id before the failover and came to the
// topic afterwards was taken for the one of the source with that id: its records were acknowledged as a repetition, and lost.
test('once a mirror has ended, its producers are strangers to those of this cluster', async () => {
  const { bench, partition, mirror, append } = await openMirror()
  const producer = { producerId: 7n, producerEpoch: 2, baseSequence: 0 }
  await append(Buffer.concat([batchAt(0, producer), batchAt(1, { producerId: 8n, producerEpoch: 0, baseSequence: 0 })]))
  await mirror.abortOpenTransactions()
  for (const producerEpoch of [2, 0]) {
    const records = batchAt(0, { ...producer, producerId: producerEpoch === 0 ? 8n : 7n, producerEpoch })
    const end = mirror.state().logEndOffset
    const result = await partition.log.appendAsLeader(records, { leaderEpoch: EPOCH })
    deepStrictEqual([result.kind, result.kind === 'appended' && result.baseOffset], ['appended', end])
  }
  strictEqual(partition.log.maxProducerId, 8n)
  await bench.close()
})

test('a consumer that waits gets mirrored batches at once', async () => {
  const { bench, partition, append } = await openMirror()
  const asked = {
    replicaId: -1,
    isolation: 'read_uncommitted' as const,
    maxWaitMs: 500,
    minBytes: 1,
    bytesMax: 1000,
    signal: new AbortController().signal,
    targets: [
      {
        topicId: partition.topicId,
        topic: partition.topic,
        partition: 0,
        fetchOffset: 0,
        currentLeaderEpoch: -1,
        lastFetchedEpoch: -1,
        partitionBytesMax: 1000,
      },
    ],
  }
  const fetch = fetchFromLog(bench, asked, bench.clock)
  await append(batchAt(4))
  const [fetched] = await fetch
  deepStrictEqual(
    Array.from(batchesIn(fetched?.records ?? Buffer.alloc(0)), header => header.baseOffset),
    [4],
  )
  await bench.close()
})

test('what followers may have of the present leader epoch is not cut under their feet', async () => {
  const bench = new PartitionBench()
  const alone = await bench.open({ topic: 'alone' })
  const followed = await bench.open({ topic: 'followed', assignment: { replicas: [1, 2], isr: [1, 2] } })
  for (const partition of [alone, followed]) {
    const mirror = new MirrorPartition(partition, bench)
    const { leaderEpoch } = mirror.state()
    await mirror.append(batchAt(0), { endOffset: 0, leaderEpoch })
    await mirror.append(batchAt(1), { endOffset: 1, leaderEpoch })
  }
  strictEqual((await new MirrorPartition(alone, bench).truncateTo(1)).logEndOffset, 1)
  const mirror = new MirrorPartition(followed, bench)
  await rejects(mirror.truncateTo(1), /only in a new leader epoch/)
  await followed.lead({ ...followed.assignment, leaderEpoch: 1, partitionEpoch: 1 })
  strictEqual((await mirror.truncateTo(1)).logEndOffset, 1)
  deepStrictEqual(followed.log.endOffsetForEpoch(0), { epoch: 0, endOffset: 1 })
  await bench.close()
})

test('where its in-sync replicas end is known when each of them has fetched, and is above the log end until a cut has reached them', async () => {
  const bench = new PartitionBench()
  const partition = await bench.open({ assignment: { replicas: [1, 2, 3], isr: [1, 2] } })
  const mirror = new MirrorPartition(partition, bench)
  for (let offset = 0; offset < 4; offset++) await mirror.append(batchAt(offset), { endOffset: offset, leaderEpoch: 0 })
  await partition.lead({ ...partition.assignment, leaderEpoch: 1, partitionEpoch: 1 })
  strictEqual(partition.replicasEnd, undefined)
  const fetched = (replicaId: number, fetchOffset: number) =>
    partition.followerFetched({ replicaId, brokerEpoch: -1, fetchOffset })
  fetched(3, 4)
  strictEqual(partition.replicasEnd, undefined)
  fetched(2, 4)
  await mirror.truncateTo(2)
  deepStrictEqual([partition.replicasEnd, mirror.state().logEndOffset], [4, 2])
  fetched(2, 2)
  deepStrictEqual([partition.replicasEnd, mirror.state().highWatermark], [2, 2])
  // One is too few to be safe: others may be elected then.
  await partition.applySettings({ ...partition.settings, minInsyncReplicas: 3 })
  strictEqual(partition.replicasEnd, undefined)
  await bench.close()
})
