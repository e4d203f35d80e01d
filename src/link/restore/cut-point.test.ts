/** Where two logs part, found by comparisons: in logs of every shape, and with few of them. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../core/random.ts'
import { batchAt } from '../fakes/engine-world.ts'
import { batchesFrom, copiesOf, endOf } from '../fakes/two-copies.ts'
import { findCutPoint } from './cut-point.ts'

test('whatever the logs look like, the cut is behind the last batch that both have, found with few questions', async () => {
  for (let seed = 1; seed <= 60; seed++) {
    const random = seededRandom(seed)
    const common = batchesFrom(0, random, { count: 1 + Math.floor(random() * 60), producerId: 1n, epoch: 7 })
    const end = endOf(common)
    const tail = (producerId: bigint) =>
      batchesFrom(end, random, { count: Math.floor(random() * 80), producerId, epoch: 8 })
    const [ours, theirs] = [
      [...common, ...tail(2n)],
      [...common, ...tail(3n)],
    ]
    // What was recorded may be too high by any amount: another log may have been put in place since.
    const limit = random() < 0.5 ? end : Math.min(endOf(ours), endOf(theirs))
    const { copies, asked } = copiesOf(ours, theirs)
    const found = await findCutPoint(copies, limit)
    ok(typeof found !== 'string', `seed ${seed}: ${found}`)
    deepEqual([found.offset, found.sourceEpoch, found.warnings], [end, 7, []], `seed ${seed}`)
    ok(asked.times < 60, `seed ${seed}: ${asked.times} questions`)
  }
})

test('a log of which nothing is the same, or that begins behind what is common, is not cut', async () => {
  const random = seededRandom(1)
  const ours = batchesFrom(0, random, { count: 40, producerId: 1n, epoch: 1 })
  const theirs = batchesFrom(0, random, { count: 40, producerId: 2n, epoch: 1 })
  const refused = await findCutPoint(copiesOf(ours, theirs).copies, 30)
  match(String(refused), /^no batch below offset 30 is the same at both clusters$/)
  const behind = await findCutPoint(copiesOf(ours, ours, { logStartOffset: 20 }).copies, 10)
  match(String(behind), /^the log begins at offset 20 here, and what both clusters have ends at 10$/)
})

test('batches in a hole of the other log prove nothing, and those behind which something is the same are kept', async () => {
  const theirs = [batchAt(0, 5), batchAt(20, 5), batchAt(40, 3, { producerId: 5n })]
  const inHole = await findCutPoint(copiesOf([batchAt(0, 5), batchAt(7, 5)], theirs).copies, 12)
  ok(typeof inHole !== 'string')
  equal(inHole.offset, 5)
  const cleaned = [batchAt(0, 5), batchAt(7, 5), batchAt(20, 5), batchAt(30, 1), batchAt(40, 2, { producerId: 6n })]
  const behind = await findCutPoint(copiesOf(cleaned, theirs).copies, 42)
  ok(typeof behind !== 'string')
  equal(behind.offset, 25)
})

test('what the other cluster has deleted is believed as it was recorded, and said', async () => {
  const common = [batchAt(0, 5), batchAt(5, 5)]
  const { copies } = copiesOf([...common, batchAt(10, 3)], [...common, batchAt(10, 9, { producerId: 5n })], {
    earliest: 10,
  })
  const found = await findCutPoint(copies, 10)
  ok(typeof found !== 'string')
  equal(found.offset, 10)
  match(found.warnings[0] ?? '', /could not be compared/)
})

test('a log that was compacted beyond the cut is mirrored anew, one that was compacted below it is not', async () => {
  const ours = [batchAt(0, 5), batchAt(5, 5), batchAt(10, 3)]
  const theirs = [batchAt(0, 5), batchAt(5, 5), batchAt(10, 4, { producerId: 5n })]
  const beyond = await findCutPoint(copiesOf(ours, theirs, { cleanedOffset: 12 }).copies, 10)
  ok(typeof beyond !== 'string')
  deepEqual([beyond.offset, beyond.sourceEpoch, beyond.warnings.length], [0, undefined, 1])
  const below = await findCutPoint(copiesOf(ours, theirs, { cleanedOffset: 10 }).copies, 10)
  ok(typeof below !== 'string')
  equal(below.offset, 10)
})

test('nothing is cut off a log that ends where the other one goes on', async () => {
  const ours = [batchAt(0, 5), batchAt(5, 5)]
  const found = await findCutPoint(copiesOf(ours, [...ours, batchAt(10, 4)]).copies, 10)
  ok(typeof found !== 'string')
  deepEqual([found.offset, found.warnings], [10, []])
})
