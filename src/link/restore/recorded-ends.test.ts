/** Which of the recorded ends counts where both sides have recorded one. */
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { endsOf } from './recorded-ends.ts'

const ends = (ofSource: boolean, ...offsets: number[]) =>
  offsets.map((stopOffset, partition) => ({ partition, stopOffset, ofSource }))

const found = (...recorded: readonly ReturnType<typeof ends>[]) => Object.fromEntries(endsOf(recorded.flat()))

test('of two mirrors the one that stopped further on counts, of a mirror and a source that was kept the mirror', () => {
  deepEqual(found(ends(false, 5, 7), ends(false, 9, 2, 4)), { 0: 9, 1: 7, 2: 4 })
  deepEqual(found(ends(true, 5, 7), ends(false, 0)), { 0: 0, 1: 7 })
  deepEqual(found(ends(false, 0), ends(true, 5, 7)), { 0: 0, 1: 7 })
  deepEqual(found(ends(true, 5, 7)), { 0: 5, 1: 7 })
})
