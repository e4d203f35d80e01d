/** Questions to the transaction coordinator that a partition remembers: when their answer still counts. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../core/clock.ts'
import { TransactionVerifications } from './transaction-verifications.ts'

const clock = new ManualClock()
const batch = (baseSequence: number, producerEpoch = 0) => ({ producerId: 7n, producerEpoch, baseSequence })

test('an answer counts until a marker of the producer is appended', () => {
  const verifications = new TransactionVerifications()
  const guard = verifications.begin(batch(0), { bumpsEpoch: false, clock })
  assert.equal(verifications.holds(guard), true)
  verifications.ended({ producerId: 8n, producerEpoch: 0 })
  assert.equal(verifications.holds(guard), true)
  verifications.ended({ producerId: 7n, producerEpoch: 0 })
  assert.equal(verifications.holds(guard), false)
})

test('a question that begins after the marker does not revive the one before it', () => {
  const verifications = new TransactionVerifications()
  const before = verifications.begin(batch(0), { bumpsEpoch: false, clock })
  verifications.ended({ producerId: 7n, producerEpoch: 0 })
  const behind = verifications.begin(batch(1), { bumpsEpoch: false, clock })
  assert.equal(verifications.holds(before), false)
  assert.equal(verifications.holds(behind), true)
})

test('a late marker leaves the question for the next transaction alone when epochs are bumped', () => {
  const verifications = new TransactionVerifications()
  const next = verifications.begin(batch(0, 1), { bumpsEpoch: true, clock })
  verifications.ended({ producerId: 7n, producerEpoch: 1 })
  assert.equal(verifications.holds(next), true)
  verifications.ended({ producerId: 7n, producerEpoch: 2 })
  assert.equal(verifications.holds(next), false)
})

test('batches that wait for the same answer may not overtake the first one', () => {
  const verifications = new TransactionVerifications()
  const first = verifications.begin(batch(3), { bumpsEpoch: false, clock })
  assert.equal(verifications.begin(batch(5), { bumpsEpoch: false, clock }), first)
  assert.equal(verifications.isOutOfOrder(batch(5), true), true)
  assert.equal(verifications.isOutOfOrder(batch(3), true), false)
  verifications.begin(batch(0, 1), { bumpsEpoch: false, clock })
  assert.equal(verifications.isOutOfOrder(batch(1, 1), true), true)
})

test('a producer unknown to the partition begins at sequence 0 when epochs are bumped', () => {
  const verifications = new TransactionVerifications()
  verifications.begin(batch(4), { bumpsEpoch: true, clock })
  assert.equal(verifications.isOutOfOrder(batch(4), false), true)
  assert.equal(verifications.isOutOfOrder(batch(4), true), false)
})

test('old questions, and those beyond the bound, are forgotten', async () => {
  const verifications = new TransactionVerifications()
  const old = verifications.begin(batch(0), { bumpsEpoch: false, clock })
  await clock.advance(1000)
  const young = verifications.begin({ ...batch(0), producerId: 8n }, { bumpsEpoch: false, clock })
  verifications.removeOlderThan(1000, clock)
  assert.deepEqual([verifications.holds(old), verifications.holds(young)], [false, true])
  for (let id = 100n; id < 10_101n; id++)
    verifications.begin({ ...batch(0), producerId: id }, { bumpsEpoch: false, clock })
  assert.equal(verifications.holds(young), false)
})
