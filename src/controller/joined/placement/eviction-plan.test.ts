/** What the evictor decides about foreign partitions, by hand and as properties. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { seededRandom } from '../../../core/random.ts'
import { javaBroker, joinedImage, lockstepBroker, partitionOn } from '../../../metadata/fakes/joined-images.ts'
import type { PartitionImage } from '../../../metadata/metadata-image.ts'
import { evictionPlan, evictorOf, needsEviction, reassignmentGoal } from './eviction-plan.ts'

const random = seededRandom(3)
const all = [javaBroker(1), javaBroker(2), javaBroker(3), lockstepBroker(1001), lockstepBroker(1002)]
const image = joinedImage({ brokers: all })
const planOf = (partition: PartitionImage, brokers = all) => evictionPlan(joinedImage({ brokers }), partition, random)

test('a partition with another replica in sync leaves at once, and gets back its replication factor', () => {
  deepStrictEqual(planOf(partitionOn([1001, 1, 2])), { leave: [1, 2], settle: [1, 2, 3] })
  deepStrictEqual(planOf(partitionOn([1, 1001, 2], { isr: [1001, 2] })), { leave: [2], settle: [1, 2, 3] })
})

test('the only replica goes to one broker that is alive', () => {
  const plan = planOf(partitionOn([1001]), [javaBroker(1, { fenced: true }), javaBroker(2), lockstepBroker(1001)])
  deepStrictEqual(plan, { leave: [2], settle: [2] })
})

test('a partition whose other replicas are dead is not made to wait for them', () => {
  const brokers = [javaBroker(1, { fenced: true }), javaBroker(2), lockstepBroker(1001)]
  deepStrictEqual(planOf(partitionOn([1001, 1], { isr: [1001] }), brokers), { leave: [2], settle: [1, 2] })
})

test('a replica that is alive but behind is waited for, since it is on its way', () => {
  deepStrictEqual(planOf(partitionOn([1001, 2], { isr: [1001] }))?.leave, [2])
})

test('without a real broker that is alive nothing can be done', () => {
  strictEqual(planOf(partitionOn([1001]), [javaBroker(1, { fenced: true }), lockstepBroker(1001)]), undefined)
})

test('one on its way off is left alone, unless where it goes has died', () => {
  const leaving = partitionOn([2, 1001], {
    isr: [1001],
    leader: 1001,
    addingReplicas: [2],
    removingReplicas: [1001],
  })
  strictEqual(needsEviction(image, leaving), false)
  strictEqual(planOf(leaving), undefined)
  const dead = [javaBroker(2, { fenced: true }), javaBroker(3), lockstepBroker(1001)]
  deepStrictEqual(planOf(leaving, dead)?.leave, [3])
})

test('one that another tool is moving here is turned away', () => {
  const coming = partitionOn([1001, 2, 1], {
    isr: [1],
    leader: 1,
    addingReplicas: [1001, 2],
    removingReplicas: [1],
  })
  deepStrictEqual(reassignmentGoal(coming), [1001, 2])
  strictEqual(planOf(coming)?.leave.includes(1001), false)
})

test('the first of its nodes that is alive acts, or the first of all', () => {
  strictEqual(evictorOf(image, partitionOn([1002, 1001])), 1001)
  strictEqual(evictorOf(image, partitionOn([1002, 1])), 1002)
  const dead = joinedImage({ brokers: [javaBroker(1), lockstepBroker(1001), lockstepBroker(1002, { fenced: true })] })
  strictEqual(evictorOf(dead, partitionOn([1002, 1])), 1001)
  strictEqual(evictorOf(joinedImage({ brokers: [javaBroker(1)] }), partitionOn([1])), undefined)
})

test('whatever the state, no step names a Lockstep node, nobody twice, and none shrinks for good where brokers are there', () => {
  const states = fc.record({
    replicas: fc.shuffledSubarray([1, 2, 3, 1001, 1002], { minLength: 1 }),
    inSync: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
    fenced: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
    seed: fc.integer(),
  })
  fc.assert(
    fc.property(states, ({ replicas, inSync, fenced, seed }) => {
      const brokers = [
        ...[1, 2, 3].map((id, index) => javaBroker(id, { fenced: fenced[index] ?? false })),
        lockstepBroker(1001),
        lockstepBroker(1002),
      ]
      const aliveIn = replicas.filter(id => id > 1000 || !fenced[id - 1])
      const isr = aliveIn.filter((_, index) => inSync[index])
      const partition = partitionOn(replicas, { isr, leader: isr[0] ?? -1 })
      const among = joinedImage({ brokers })
      const plan = evictionPlan(among, partition, seededRandom(seed))
      const hosted = replicas.some(id => id > 1000)
      const anyAlive = fenced.some(dead => !dead)
      strictEqual(plan !== undefined, hosted && (anyAlive || isr.some(id => id < 1000)))
      if (!plan) return
      for (const step of [plan.leave, plan.settle]) {
        ok(step.length > 0 && step.every(id => id < 1000))
        strictEqual(new Set(step).size, step.length)
      }
      ok(plan.leave.every(id => plan.settle.includes(id)))
      // Complete in one record, or waiting for somebody who is alive.
      ok(plan.leave.every(id => isr.includes(id)) || (plan.leave.length === 1 && !fenced[(plan.leave[0] ?? 0) - 1]))
      const placeable = new Set([...replicas.filter(id => id < 1000), ...[1, 2, 3].filter(id => !fenced[id - 1])]).size
      ok(plan.settle.length >= Math.min(replicas.length, placeable))
    }),
    { numRuns: 500 },
  )
})

test('a broker that is not registered any more gets nothing back: another one takes its place', () => {
  const brokers = [javaBroker(1), javaBroker(2), lockstepBroker(1001)]
  deepStrictEqual(planOf(partitionOn([1001, 7, 1], { isr: [1001, 1] }), brokers), { leave: [1], settle: [1, 2] })
})
