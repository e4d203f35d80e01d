/** Which of the recorded ends counts where both sides have recorded one. */
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { endsOf } from './recorded-ends.ts'

const stopped = (ofSource: boolean, ...offsets: number[]) => ({
  points: offsets.map((stopOffset, partition) => ({ partition, stopOffset, ofSource })),
  partitions: offsets.length,
})

const found = (partitions: number, ...recorded: readonly ReturnType<typeof stopped>[]) =>
  Object.fromEntries(endsOf(recorded, partitions))

test('of two mirrors the one that stopped further on counts, of a mirror and a source that was kept the mirror', () => {
  deepEqual(found(2, stopped(false, 5, 7), stopped(false, 9, 2)), { 0: 9, 1: 7 })
  deepEqual(found(2, stopped(true, 5, 7), stopped(false, 0, 6)), { 0: 0, 1: 6 })
  deepEqual(found(2, stopped(false, 0, 6), stopped(true, 5, 7)), { 0: 0, 1: 6 })
  deepEqual(found(2, stopped(true, 5, 7)), { 0: 5, 1: 7 })
})

test('of partitions that were added since it stopped a mirror had nothing, of others it does not tell about one knows nothing', () => {
  deepEqual(found(3, stopped(false, 5)), { 0: 5, 1: 0, 2: 0 })
  deepEqual(found(3, stopped(false, 5), stopped(false, 4, 7)), { 0: 5, 1: 7, 2: 0 })
  deepEqual(found(2, { points: [], partitions: 1 }, { points: [], partitions: 0 }), {})
  // One partition was made an ordinary one by somebody else before it stopped.
  deepEqual(found(2, { ...stopped(false, 5), partitions: 2 }), { 0: 5 })
})
