/** Verification of what the source sent: anything damaged or out of order is refused, holes and new epochs pass. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { readBatchHeader } from '../../protocol/batches/batch-header.ts'
import { batchAt } from '../fakes/engine-world.ts'
import { type VerifyContext, verifyBatches } from './verify-batches.ts'

const context = (change: Partial<VerifyContext> = {}): VerifyContext => ({
  wantedOffset: 0,
  logIsEmpty: true,
  lastSourceEpoch: undefined,
  ...change,
})

/** Ascending batches with holes between them and epochs that do not decrease. */
const batchesArbitrary = fc
  .array(fc.record({ hole: fc.nat(50), count: fc.integer({ min: 1, max: 5 }), epochStep: fc.nat(2) }), {
    minLength: 1,
    maxLength: 8,
  })
  .map(steps => {
    let offset = 0
    let epoch = 0
    return steps.map(({ hole, count, epochStep }) => {
      epoch += epochStep
      const batch = batchAt(offset + hole, count, { epoch })
      offset += hole + count
      return batch
    })
  })

const damageArbitrary = fc.record({ which: fc.nat(), where: fc.nat(), flip: fc.integer({ min: 1, max: 255 }) })

test('any ascending batches pass whole, holes included, and every new epoch is named once', () => {
  fc.assert(
    fc.property(batchesArbitrary, batches => {
      const records = Buffer.concat(batches)
      const verified = verifyBatches(records, context())
      equal(verified.refusal, undefined)
      equal(verified.bytes, records.length)
      equal(verified.batches, batches.length)
      const headers = batches.map(batch => readBatchHeader(batch, 0))
      equal(verified.nextOffset, (headers.at(-1)?.lastOffset ?? 0) + 1)
      deepEqual(
        verified.newEpochs.map(range => range.epoch),
        [...new Set(headers.map(header => header.leaderEpoch))],
      )
      for (const { epoch, firstOffset } of verified.newEpochs)
        equal(headers.find(header => header.leaderEpoch === epoch)?.baseOffset, firstOffset)
    }),
  )
})

test('one changed byte anywhere behind the leader epoch is refused, and what came before it is kept', () => {
  fc.assert(
    fc.property(batchesArbitrary, damageArbitrary, (batches, { which, where, flip }) => {
      const index = which % batches.length
      const damaged = Buffer.from(batches[index] ?? Buffer.alloc(0))
      // From the CRC on; base offset, length and epoch are not covered by it and are checked by their order.
      const position = 17 + (where % (damaged.length - 17))
      damaged[position] = (damaged[position] ?? 0) ^ flip
      const before = batches.slice(0, index)
      const records = Buffer.concat([...before, damaged, ...batches.slice(index + 1)])
      const verified = verifyBatches(records, context())
      equal(verified.refusal?.error, 'CORRUPT_BATCH')
      equal(verified.bytes, Buffer.concat(before).length)
    }),
  )
})

test('two batches in the wrong order are refused', () => {
  fc.assert(
    fc.property(batchesArbitrary, fc.nat(), (batches, which) => {
      fc.pre(batches.length > 1)
      const index = which % (batches.length - 1)
      const swapped = [...batches]
      const [first, second] = [batches[index], batches[index + 1]]
      ok(first && second)
      swapped[index] = second
      swapped[index + 1] = first
      const { refusal } = verifyBatches(Buffer.concat(swapped), context({ logIsEmpty: false }))
      ok(refusal?.error === 'UNALIGNED_BATCH' || refusal?.error === 'NON_MONOTONIC_SOURCE_EPOCH')
    }),
  )
})

test('a repeated batch is refused', () => {
  const batch = batchAt(5, 3)
  equal(verifyBatches(Buffer.concat([batch, batch]), context()).refusal?.error, 'UNALIGNED_BATCH')
})

test('an incomplete batch at the end is left for the next fetch', () => {
  const [first, second] = [batchAt(0, 2), batchAt(2, 2)]
  for (const cut of [1, 12, 17, 40, second.length - 1]) {
    const verified = verifyBatches(Buffer.concat([first, second.subarray(0, cut)]), context())
    equal(verified.refusal, undefined)
    equal(verified.bytes, first.length)
  }
  equal(verifyBatches(Buffer.alloc(0), context()).bytes, 0)
})

test('a first batch below the wanted offset passes only as the first of an empty log', () => {
  const batch = batchAt(10, 10)
  const inside = verifyBatches(batch, context({ wantedOffset: 15 }))
  equal(inside.bytes, batch.length)
  deepEqual(inside.newEpochs, [{ epoch: 0, firstOffset: 15 }])
  const refused = verifyBatches(batch, context({ wantedOffset: 15, logIsEmpty: false }))
  equal(refused.refusal?.error, 'UNALIGNED_BATCH')
  match(refused.refusal?.reason ?? '', /offsets 10 to 19 where 15 was wanted/)
  equal(verifyBatches(batch, context({ wantedOffset: 20 })).refusal?.error, 'UNALIGNED_BATCH')
})

test('a source epoch that goes back is refused, also against what is already mirrored', () => {
  const batch = batchAt(0, 1, { epoch: 3 })
  equal(verifyBatches(batch, context({ lastSourceEpoch: 4 })).refusal?.error, 'NON_MONOTONIC_SOURCE_EPOCH')
  deepEqual(verifyBatches(batch, context({ lastSourceEpoch: 3 })).newEpochs, [])
})

test('old message formats are refused by name', () => {
  const old = Buffer.from(batchAt(0, 1))
  old[16] = 1
  const { refusal } = verifyBatches(old, context())
  equal(refusal?.error, 'UNSUPPORTED_MESSAGE_FORMAT')
  match(refusal?.reason ?? '', /magic 1/)
})
