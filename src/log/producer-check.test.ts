/** What producers may append, by Kafka's rules, and what a snapshot keeps of them. */
import { strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { BatchCursor } from '../protocol/batches/batch-cursor.ts'
import { readBatchHeader } from '../protocol/batches/batch-header.ts'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { buildEndMarker } from '../protocol/batches/control-batch.ts'
import { checkProducer } from './producer-check.ts'
import { ProducerState } from './producer-state.ts'

const producerId = 7n
const data = (baseSequence: number, more: { epoch?: number; count?: number; transactional?: boolean } = {}): Buffer =>
  buildBatch({
    producerId,
    producerEpoch: more.epoch ?? 0,
    baseSequence,
    transactional: more.transactional ?? false,
    records: Array.from({ length: more.count ?? 1 }, () => ({ timestamp: 1000n, key: null, value: null })),
  })

class Producers {
  readonly state = new ProducerState()
  #offset = 100

  append(batch: Buffer): this {
    const cursor = new BatchCursor()
    batch.writeInt32BE(this.#offset, 4)
    cursor.moveTo(batch, 0)
    this.state.apply(cursor)
    this.#offset = cursor.lastOffset + 1
    return this
  }

  verdict(batch: Buffer, origin: 'client' | 'coordinator' = 'client', coordinatorEpoch?: number): string {
    const header = readBatchHeader(batch, 0)
    const verdict = checkProducer(header, this.state.entry(header.producerId), { origin, coordinatorEpoch })
    if (verdict.kind === 'duplicate') return `duplicate ${verdict.baseOffset}-${verdict.lastOffset}`
    return verdict.kind === 'refused' ? verdict.error : verdict.kind
  }
}

test('an unknown producer may begin with any sequence', () => {
  strictEqual(new Producers().verdict(data(41)), 'ok')
})

test('sequences of one epoch are gapless', () => {
  const producers = new Producers().append(data(0, { count: 3 }))
  strictEqual(producers.verdict(data(3)), 'ok')
  strictEqual(producers.verdict(data(4)), 'OUT_OF_ORDER_SEQUENCE_NUMBER')
})

test('one of the last five batches is a duplicate and answers its offsets, an older one is out of order', () => {
  const producers = new Producers()
  for (let sequence = 0; sequence < 12; sequence += 2) producers.append(data(sequence, { count: 2 }))
  strictEqual(producers.verdict(data(10, { count: 2 })), 'duplicate 110-111')
  strictEqual(producers.verdict(data(2, { count: 2 })), 'duplicate 102-103')
  strictEqual(producers.verdict(data(0, { count: 2 })), 'OUT_OF_ORDER_SEQUENCE_NUMBER')
  strictEqual(producers.verdict(data(10)), 'OUT_OF_ORDER_SEQUENCE_NUMBER')
})

test('sequences wrap from 2^31 - 1 to 0', () => {
  const producers = new Producers().append(data(0x7fff_fffe, { count: 2 }))
  strictEqual(producers.verdict(data(0)), 'ok')
  strictEqual(producers.verdict(data(1)), 'OUT_OF_ORDER_SEQUENCE_NUMBER')
  producers.append(data(0, { count: 2 }))
  strictEqual(producers.verdict(data(0x7fff_fffe, { count: 2 })), 'duplicate 100-101')
})

test('an older epoch is refused, a newer one begins at sequence 0', () => {
  const producers = new Producers().append(data(5, { epoch: 3 }))
  strictEqual(producers.verdict(data(6, { epoch: 2 })), 'INVALID_PRODUCER_EPOCH')
  strictEqual(producers.verdict(data(6, { epoch: 4 })), 'OUT_OF_ORDER_SEQUENCE_NUMBER')
  strictEqual(producers.verdict(data(0, { epoch: 4 })), 'ok')
})

test('a producer with an open transaction writes nothing outside of it', () => {
  const producers = new Producers().append(data(0, { transactional: true }))
  strictEqual(producers.verdict(data(1)), 'INVALID_TXN_STATE')
  strictEqual(producers.verdict(data(1, { transactional: true })), 'ok')
})

test('markers are held to producer and coordinator epoch', () => {
  const marker = (producerEpoch: number, coordinatorEpoch: number) =>
    buildEndMarker({
      type: 'commit',
      producerId,
      producerEpoch,
      coordinatorEpoch,
      offset: 0,
      timestamp: 5n,
      leaderEpoch: 0,
    })
  const producers = new Producers().append(data(0, { epoch: 1, transactional: true })).append(marker(1, 10))
  strictEqual(producers.verdict(marker(1, 9), 'coordinator', 9), 'TRANSACTION_COORDINATOR_FENCED')
  strictEqual(producers.verdict(marker(1, 10), 'coordinator', 10), 'ok')
  strictEqual(producers.verdict(marker(0, 10), 'coordinator', 10), 'INVALID_PRODUCER_EPOCH')
})

test('after a marker that bumps the epoch the producer begins at 0', () => {
  const bump = buildEndMarker({
    type: 'abort',
    producerId,
    producerEpoch: 1,
    coordinatorEpoch: 0,
    offset: 0,
    timestamp: 5n,
    leaderEpoch: 0,
  })
  const producers = new Producers().append(data(0, { transactional: true })).append(bump)
  strictEqual(producers.verdict(data(1, { epoch: 1 })), 'OUT_OF_ORDER_SEQUENCE_NUMBER')
  strictEqual(producers.verdict(data(0, { epoch: 1 })), 'ok')
})

test('the snapshot keeps the last batch, open transactions and, for ever, the largest producer id', () => {
  const producers = new Producers().append(data(0, { transactional: true })).append(data(1, { transactional: true }))
  const idle = buildBatch({
    producerId: 900n,
    producerEpoch: 0,
    baseSequence: 0,
    records: [{ timestamp: 1n, key: null, value: null }],
  })
  producers.append(idle)
  const later = new ProducerState()
  strictEqual(later.restore(producers.state.encode(), { nowMs: 1e12, expirationMs: 1000 }), true)
  strictEqual(later.entry(900n), undefined)
  strictEqual(later.maxProducerId, 900n)
  strictEqual(later.openTransactions()[0]?.firstOffset, 100)
  strictEqual(later.entry(7n)?.lastBatch?.lastSequence, 1)
  const again = new ProducerState()
  again.restore(later.encode(), { nowMs: 1e12, expirationMs: 1000 })
  strictEqual(again.maxProducerId, 900n)
})

test('a damaged snapshot is refused and changes nothing', () => {
  const { state } = new Producers().append(data(0))
  const bytes = state.encode()
  bytes[20] = (bytes[20] ?? 0) ^ 1
  strictEqual(state.restore(bytes, { nowMs: 0, expirationMs: 1000 }), false)
  strictEqual(state.entry(7n)?.lastBatch?.lastSequence, 0)
})
