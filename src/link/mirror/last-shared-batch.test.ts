/** The last batch that two logs have in common: in logs that both were compacted, and with few comparisons. */
import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../core/random.ts'
import { readBatchHeader } from '../../protocol/batches/batch-header.ts'
import { batchesFrom, copiesOf, endOf } from '../fakes/two-copies.ts'
import { askBounds } from './compare-batches.ts'
import { lastSharedBatch } from './last-shared-batch.ts'
import { findPartingPoint } from './parting-point.ts'

test('of logs that were both compacted it is the last batch that both still have', async () => {
  for (let seed = 1; seed <= 150; seed++) {
    const random = seededRandom(seed)
    const common = batchesFrom(0, random, { count: 1 + Math.floor(random() * 150), producerId: 1n, epoch: 7 })
    const end = endOf(common)
    const tail = (producerId: bigint) =>
      batchesFrom(end, random, { count: Math.floor(random() * 60), producerId, epoch: 8 })
    const kept = [random(), random()]
    const compacted = (batches: readonly Buffer[], side: 0 | 1) =>
      random() < 0.3 ? [...batches] : batches.filter(() => random() < (kept[side] ?? 1))
    const ours = [...compacted(common, 0), ...tail(2n)]
    const theirs = [...compacted(common, 1), ...tail(3n)]
    const { copies, asked } = copiesOf(ours, theirs)
    const bounds = await askBounds(copies)
    const found = await lastSharedBatch(copies, Math.min(endOf(ours), bounds.latest), bounds)
    const wanted = ours.filter(batch => theirs.includes(batch)).at(-1)
    equal(found?.batch.baseOffset, wanted && readBatchHeader(wanted, 0).baseOffset, `seed ${seed}`)
    ok(asked.times < 200, `seed ${seed}: ${asked.times} questions`)
  }
})

// Two hundred were looked at, one after the other, and then the partition was given up.
test('a source that differs in thousands of batches of one epoch is compared a few dozen times', async () => {
  const random = seededRandom(3)
  const common = batchesFrom(0, random, { count: 2000, producerId: 1n, epoch: 7 })
  const tail = (producerId: bigint) => batchesFrom(endOf(common), random, { count: 3000, producerId, epoch: 7 })
  const { copies, asked } = copiesOf([...common, ...tail(2n)], [...common, ...tail(3n)])
  const found = await findPartingPoint(copies, [])
  ok(found && typeof found !== 'string')
  equal(found.offset, endOf(common))
  ok(asked.times < 80, `${asked.times} questions`)
})
