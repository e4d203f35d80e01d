/** Where new mirrors live: properties of the placement over random clusters, and what is refused. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { seededRandom } from '../../core/random.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { javaBroker, joinedImage, lockstepBroker } from '../fakes/joined-images.ts'
import { topicByName } from '../metadata-image.ts'
import { placeGrowth, placeMirror } from './mirror-placement.ts'
import { minInsyncReplicasOf, OWN_TOPICS, ownTopicMove, placeOwnTopic } from './own-topics.ts'
import { DRAINING_CONFIG } from './usable-brokers.ts'

const random = seededRandom(7)

function assignmentsOf(placement: ReturnType<typeof placeMirror>): readonly (readonly number[])[] {
  ok(placement.ok, placement.ok ? '' : (placement.error.errorMessage ?? ''))
  return placement.assignments
}

const spread = (values: readonly number[], over: readonly number[]): number => {
  const counts = over.map(id => values.filter(value => value === id).length)
  return Math.max(...counts) - Math.min(...counts)
}

const clusters = fc.record({
  nodes: fc.integer({ min: 1, max: 4 }),
  /** Brokers per rack. */
  racks: fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 4 }),
  count: fc.integer({ min: 1, max: 40 }),
  factor: fc.integer({ min: 1, max: 5 }),
  seed: fc.integer(),
})

test('every partition has as many real brokers as asked for, behind the Lockstep nodes, nobody twice', () => {
  fc.assert(
    fc.property(clusters, ({ nodes, racks, count, factor, seed }) => {
      const java = racks.flatMap((size, rack) =>
        Array.from({ length: size }, (_, i) => javaBroker(rack * 10 + i, { rack: `r${rack}` })),
      )
      const ids = Array.from({ length: nodes }, (_, i) => 1001 + i)
      const image = joinedImage({ brokers: [...java, ...ids.map(id => lockstepBroker(id, { rack: 'r0' }))] })
      const placed = placeMirror(image, { count, replicationFactor: factor, random: seededRandom(seed) })
      strictEqual(placed.ok, factor <= java.length)
      if (!placed.ok) return
      const { assignments } = placed
      const rackOf = new Map(java.map(({ id, rack }) => [id, rack]))
      strictEqual(assignments.length, count)
      for (const replicas of assignments) {
        strictEqual(new Set(replicas).size, replicas.length)
        const ahead = Math.min(nodes, 2)
        ok(replicas.slice(0, ahead).every(id => ids.includes(id)))
        const behind = replicas.slice(ahead)
        strictEqual(behind.length, factor)
        // In as many racks as possible.
        strictEqual(new Set(behind.map(id => rackOf.get(id))).size, Math.min(factor, racks.length))
      }
      ok(
        spread(
          assignments.map(([first = -1]) => first),
          ids,
        ) <= 1,
      )
      if (new Set(racks).size > 1 || factor > racks.length) return
      // Racks of one size: whoever leads after a promote is spread evenly, and so is the load.
      const all = java.map(({ id }) => id)
      ok(
        spread(
          assignments.flatMap(replicas => replicas.slice(Math.min(nodes, 2))),
          all,
        ) <=
          1 + factor,
      )
      ok(
        spread(
          assignments.map(replicas => replicas[Math.min(nodes, 2)] ?? -1),
          all,
        ) <= 2,
      )
    }),
    { numRuns: 300 },
  )
})

test('many topics of one partition are spread over the Lockstep nodes too', () => {
  const brokers = [javaBroker(1), javaBroker(2), lockstepBroker(1001), lockstepBroker(1002), lockstepBroker(1003)]
  const topics: Record<string, (readonly number[])[]> = {}
  for (let index = 0; index < 12; index++) {
    const image = joinedImage({ brokers, topics })
    topics[`t${index}`] = [...assignmentsOf(placeMirror(image, { count: 1, replicationFactor: 2, random }))]
  }
  const assignments = Object.values(topics).flat()
  strictEqual(
    spread(
      assignments.map(([first = -1]) => first),
      [1001, 1002, 1003],
    ),
    0,
  )
  ok(assignments.every(replicas => replicas.length === 4))
})

test('the node that leads the topics of Lockstep leads as many mirror partitions as the others', () => {
  const brokers = [javaBroker(1), javaBroker(2), lockstepBroker(1001), lockstepBroker(1002)]
  const topics = Object.fromEntries(OWN_TOPICS.map(name => [name, [[1001, 1002, 1, 2]]]))
  const image = joinedImage({ brokers, topics })
  const assignments = assignmentsOf(placeMirror(image, { count: 4, replicationFactor: 2, random }))
  strictEqual(
    spread(
      assignments.map(([first = -1]) => first),
      [1001, 1002],
    ),
    0,
  )
})

test('stand-ins of a node that dies are spread over the others', () => {
  const ids = [1001, 1002, 1003, 1004]
  const image = joinedImage({ brokers: [javaBroker(1), ...ids.map(id => lockstepBroker(id))] })
  const assignments = assignmentsOf(placeMirror(image, { count: 48, replicationFactor: 1, random }))
  const standIns = assignments.filter(([first]) => first === 1001).map(([, second = -1]) => second)
  strictEqual(spread(standIns, [1002, 1003, 1004]), 0)
})

test('fenced, leaving, cordoned and drained brokers get nothing', () => {
  const brokers = [
    javaBroker(1),
    javaBroker(2, { fenced: true }),
    javaBroker(3, { inControlledShutdown: true }),
    javaBroker(4, { cordonedLogDirs: javaBroker(4).logDirs }),
    javaBroker(5, { cordonedLogDirs: null }),
    lockstepBroker(1001),
    lockstepBroker(1002, { fenced: true }),
    lockstepBroker(1003),
  ]
  const image = joinedImage({ brokers, brokerConfigs: { 1003: { [DRAINING_CONFIG]: 'true' } } })
  const assignments = assignmentsOf(placeMirror(image, { count: 8, replicationFactor: 2, random }))
  for (const replicas of assignments)
    deepStrictEqual(
      [...replicas].sort((a, b) => a - b),
      [1, 5, 1001],
    )
})

test('too few real brokers are refused as Kafka refuses it, and a cluster without a node for it too', () => {
  const image = joinedImage({ brokers: [javaBroker(1), lockstepBroker(1001), lockstepBroker(1002)] })
  const refused = placeMirror(image, { count: 1, replicationFactor: 2, random })
  ok(!refused.ok)
  strictEqual(refused.error.errorCode, ErrorCode.INVALID_REPLICATION_FACTOR)
  match(refused.error.errorMessage ?? '', /only 1 Kafka broker\(s\) are alive/)
  const none = placeMirror(joinedImage({ brokers: [javaBroker(1)] }), { count: 1, replicationFactor: 1, random })
  match(none.ok ? '' : (none.error.errorMessage ?? ''), /No Lockstep node is alive/)
  const zero = placeMirror(image, { count: 1, replicationFactor: 0, random })
  strictEqual(zero.ok ? 0 : zero.error.errorCode, ErrorCode.INVALID_REPLICATION_FACTOR)
})

test('added partitions have as many replicas as the first one, whichever nodes there are by then', () => {
  const brokers = [javaBroker(1), javaBroker(2), javaBroker(3), lockstepBroker(1001), lockstepBroker(1002)]
  const grown = (replicas: readonly number[], among = brokers) => {
    const image = joinedImage({ brokers: among, topics: { t: [replicas] } })
    const topic = topicByName(image, 't')
    ok(topic)
    return placeGrowth(image, { topic, newCount: 4, random })
  }
  for (const replicas of assignmentsOf(grown([1001, 1, 2]))) {
    strictEqual(replicas.length, 3)
    deepStrictEqual(
      replicas.map(id => id > 1000),
      [true, false, false],
    )
  }
  // The stand-in is gone: a real broker more takes its place.
  const one = brokers.filter(({ id }) => id !== 1002)
  for (const replicas of assignmentsOf(grown([1002, 1001, 1, 2], one))) {
    deepStrictEqual([replicas[0], [...replicas.slice(1)].sort()], [1001, [1, 2, 3]])
  }
  const few = grown([1002, 1001, 1, 2, 3], one)
  match(few.ok ? '' : (few.error.errorMessage ?? ''), /target replication factor of 4/)
})

test("Lockstep's own topics are on every node, and on up to three real brokers behind them, all three alike", () => {
  const java = [1, 2, 3, 4].map(id => javaBroker(id, { rack: `r${id % 2}` }))
  const brokers = [...java, lockstepBroker(1001), lockstepBroker(1002)]
  const state = placeOwnTopic(joinedImage({ brokers }), random)
  deepStrictEqual([state?.replicas.slice(0, 2), state?.replicas.length, state?.minInsyncReplicas], [[1001, 1002], 5, 2])
  const with_ = joinedImage({ brokers, topics: { __lockstep_state: [[1002, 1001, 4, 2, 1]] } })
  deepStrictEqual(placeOwnTopic(with_, random)?.replicas, [1002, 1001, 4, 2, 1])
  const small = joinedImage({ brokers: [javaBroker(1), lockstepBroker(1001)] })
  deepStrictEqual(placeOwnTopic(small, random), { replicas: [1001, 1], minInsyncReplicas: 1 })
  strictEqual(placeOwnTopic(joinedImage({ brokers: [javaBroker(1)] }), random), undefined)
  deepStrictEqual([1, 2, 3, 5].map(minInsyncReplicasOf), [1, 1, 2, 2])
})

test('own topics follow the nodes: new ones are added, drained and forgotten ones leave, dead ones keep their place', () => {
  const brokers = [javaBroker(1), javaBroker(2), lockstepBroker(1001), lockstepBroker(1002, { fenced: true })]
  strictEqual(ownTopicMove(joinedImage({ brokers }), [1001, 1002, 2, 1]), undefined)
  const grown = joinedImage({ brokers: [...brokers, lockstepBroker(1003)] })
  deepStrictEqual(ownTopicMove(grown, [1001, 1002, 2, 1]), [1001, 1002, 1003, 2, 1])
  const drained = joinedImage({ brokers, brokerConfigs: { 1002: { [DRAINING_CONFIG]: 'true' } } })
  deepStrictEqual(ownTopicMove(drained, [1002, 1001, 2, 1]), [1001, 2, 1])
  deepStrictEqual(ownTopicMove(joinedImage({ brokers }), [900, 1001, 1002, 2, 1]), [1001, 1002, 2, 1])
  strictEqual(ownTopicMove(joinedImage({ brokers: [javaBroker(1)] }), [1001, 1]), undefined)
})
