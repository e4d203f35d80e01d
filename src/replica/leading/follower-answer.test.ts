/** How much a Kafka broker that follows is given at once, so that its index of aborted transactions comes out right. */
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { batchesIn } from '../../protocol/batches/batch-iteration.ts'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import { buildEndMarker } from '../../protocol/batches/control-batch.ts'
import { untilProducerReturns } from './follower-answer.ts'

const data = (producerId: bigint, baseOffset: number) =>
  buildBatch({
    ...{ baseOffset, producerId, producerEpoch: 0, baseSequence: baseOffset, transactional: true },
    records: [{ timestamp: 0n, key: null, value: Buffer.from('v') }],
  })
const marker = (type: 'abort' | 'commit', producerId: bigint, offset: number) =>
  buildEndMarker({ type, producerId, producerEpoch: 0, coordinatorEpoch: 0, offset, timestamp: 0n, leaderEpoch: 0 })

const given = (...batches: readonly Buffer[]): number[] =>
  [...batchesIn(untilProducerReturns(Buffer.concat(batches)))].map(({ baseOffset }) => baseOffset)

// Seen at real brokers that were restarted and had much to catch up with: committed readers there were shown aborted records.
test('an answer ends where a producer begins again behind its ABORT marker', () => {
  deepEqual(given(data(1n, 0), marker('abort', 1n, 1), data(1n, 2), marker('abort', 1n, 3), data(2n, 4)), [0, 1])
  deepEqual(given(data(1n, 0), data(2n, 1), marker('abort', 1n, 2), data(2n, 3), data(1n, 4)), [0, 1, 2, 3])
})

test('commits, other producers, and records without a transaction do not end it', () => {
  const plain = buildBatch({ baseOffset: 3, records: [{ timestamp: 0n, key: null, value: Buffer.from('v') }] })
  const all = [
    data(1n, 0),
    marker('commit', 1n, 1),
    data(1n, 2),
    plain,
    data(2n, 4),
    marker('abort', 2n, 5),
    data(1n, 6),
  ]
  const records = Buffer.concat(all)
  equal(untilProducerReturns(records), records)
  equal(untilProducerReturns(Buffer.alloc(0)).length, 0)
})
