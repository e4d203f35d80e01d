/** Counting the Kafka brokers behind mirrors. */
import { deepStrictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { javaBroker, joinedImage, lockstepBroker, partitionOn } from '../../../metadata/fakes/joined-images.ts'
import { javaReplicas } from './java-replicas.ts'

test('of each mirror that the node leads the worst partition counts, and Lockstep nodes do not', () => {
  const image = joinedImage({
    brokers: [javaBroker(1), javaBroker(2), lockstepBroker(1001), lockstepBroker(1002)],
    topics: {
      whole: [[1001, 1002, 1, 2]],
      behind: [[1001, 1, 2], partitionOn([1001, 1, 2], { isr: [1001, 2] }), partitionOn([1001, 1], { isr: [1001] })],
      single: [[1001, 1]],
      elsewhere: [partitionOn([1002, 1], { isr: [1002] })],
    },
  })
  const found = javaReplicas({ image, leader: 1001, mirrors: image.topics.values(), minInsync: () => 2 })
  deepStrictEqual(Object.fromEntries(found.fewest), { whole: 2, behind: 0, single: 1 })
  // A mirror that was placed on one broker can have no second one.
  deepStrictEqual(found.below, 2)
})
