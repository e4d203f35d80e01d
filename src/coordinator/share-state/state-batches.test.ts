/** Batches laid over each other: every offset has the state of the batch that counts there. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { StateBatch } from './share-persister.ts'
import { combineBatches, isSameState } from './state-batches.ts'

const batch = (
  ...[firstOffset, lastOffset, deliveryState, deliveryCount]: [number, number, number, number]
): StateBatch => ({
  firstOffset,
  lastOffset,
  deliveryState,
  deliveryCount,
})

test('an acknowledgement inside a batch splits it, one beside its like joins it', () => {
  deepStrictEqual(combineBatches([batch(0, 9, 0, 1)], [batch(3, 4, 2, 1)], -1), [
    batch(0, 2, 0, 1),
    batch(3, 4, 2, 1),
    batch(5, 9, 0, 1),
  ])
  deepStrictEqual(combineBatches([batch(0, 4, 2, 1)], [batch(5, 6, 2, 1)], -1), [batch(0, 6, 2, 1)])
})

test('what is below the start is gone', () => {
  deepStrictEqual(combineBatches([batch(0, 4, 2, 1), batch(5, 9, 0, 2)], [], 7), [batch(7, 9, 0, 2)])
})

test('every offset has the highest count, then the highest state, of what covers it, in as few batches as possible', () => {
  const batches = fc.array(
    fc
      .tuple(fc.nat(40), fc.nat(10), fc.constantFrom(0, 2, 4), fc.integer({ min: 1, max: 3 }))
      .map(([first, length, state, count]) => batch(first, first + length, state, count)),
    { maxLength: 12 },
  )
  fc.assert(
    fc.property(batches, batches, fc.integer({ min: -1, max: 30 }), (known, changes, startOffset) => {
      const combined = combineBatches(known, changes, startOffset)
      for (let offset = 0; offset <= 55; offset++) {
        const expected = [...known, ...changes]
          .filter(b => offset >= startOffset && b.firstOffset <= offset && offset <= b.lastOffset)
          .sort((a, b) => b.deliveryCount - a.deliveryCount || b.deliveryState - a.deliveryState)[0]
        const found = combined.filter(b => b.firstOffset <= offset && offset <= b.lastOffset)
        strictEqual(found.length, expected ? 1 : 0)
        if (expected && found[0]) strictEqual(isSameState(found[0], expected), true)
      }
      combined.forEach((b, index) => {
        const next = combined[index + 1]
        if (next) strictEqual(b.lastOffset + 1 < next.firstOffset || !isSameState(b, next), true)
      })
    }),
  )
})
