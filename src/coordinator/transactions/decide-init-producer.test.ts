/** InitProducerId: epochs, fencing, repeated requests (KIP-360) and epochs that run out. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { errorName } from '../../protocol/errors.ts'
import { decideInitProducer, type InitProducer } from './decide-init-producer.ts'
import { NOW_MS, someTransaction } from './fakes/some-transaction.ts'
import { newTransaction, type TransactionMetadata } from './transaction-metadata.ts'

function init(metadata: TransactionMetadata, change: Partial<InitProducer> = {}) {
  const decision = decideInitProducer(metadata, { timeoutMs: 2000, expected: null, nowMs: NOW_MS, ...change })
  if (decision.kind === 'refuse') return errorName(decision.errorCode)
  if (decision.kind !== 'change') return decision.kind
  const { state, producerId, producerEpoch, lastProducerEpoch, timeoutMs, startMs } = decision.to
  deepStrictEqual([state, timeoutMs, startMs], ['Empty', 2000, -1])
  return [producerId, producerEpoch, lastProducerEpoch]
}

const expecting = (producerEpoch: number, producerId = 7n) => ({ expected: { producerId, producerEpoch } })

test('a new id begins at epoch 0, whatever its producer believes', () => {
  const metadata = newTransaction('tx', { producerId: 7n, timeoutMs: 1000, nowMs: NOW_MS })
  deepStrictEqual(init(metadata), [7n, 0, -1])
  deepStrictEqual(init(metadata, expecting(9, 99n)), [7n, 0, -1])
})

test('every producer that begins gets the next epoch; one that goes on keeps its last one in mind', () => {
  for (const state of ['Empty', 'CompleteCommit', 'CompleteAbort'] as const) {
    const metadata = someTransaction({ state, lastProducerEpoch: 2 })
    deepStrictEqual(init(metadata), [7n, 4, -1])
    deepStrictEqual(init(metadata, expecting(3)), [7n, 4, 3])
    // Its answer was lost.
    deepStrictEqual(init(metadata, expecting(2)), [7n, 3, 2])
    strictEqual(init(metadata, expecting(1)), 'PRODUCER_FENCED')
    strictEqual(init(metadata, expecting(3, 8n)), 'PRODUCER_FENCED')
  }
})

test('an open transaction is aborted first, one on its way to its end is waited for', () => {
  strictEqual(init(someTransaction({ state: 'Ongoing' })), 'fence')
  strictEqual(init(someTransaction({ state: 'PrepareCommit' })), 'CONCURRENT_TRANSACTIONS')
  strictEqual(init(someTransaction({ state: 'PrepareAbort' })), 'CONCURRENT_TRANSACTIONS')
  strictEqual(init(someTransaction({ state: 'Ongoing' }), expecting(3, 8n)), 'PRODUCER_FENCED')
})

test('an id whose epochs ran out is followed by another', () => {
  const metadata = someTransaction({ state: 'Empty', producerEpoch: 32_766 })
  strictEqual(init(metadata), 'needs-producer-id')
  deepStrictEqual(init(metadata, { freshProducerId: 9n }), [9n, 0, -1])
  deepStrictEqual(init(metadata, { freshProducerId: 9n, ...expecting(32_766) }), [9n, 0, 32_766])
  const rotated = someTransaction({
    state: 'Empty',
    producerId: 9n,
    producerEpoch: 0,
    previousProducerId: 7n,
    lastProducerEpoch: 32_766,
  })
  deepStrictEqual(init(rotated, expecting(32_766)), [9n, 0, 32_766])
})
