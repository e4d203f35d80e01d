/** Who leads mirrors again, when, and what is told meanwhile; and the plans of moves. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ManualClock } from '../../../core/clock.ts'
import { silentLogger } from '../../../core/logger.ts'
import type { NamedPartition, Reassignment } from '../../../metadata/cluster-commands.ts'
import { javaBroker, joinedImage, lockstepBroker, partitionOn } from '../../../metadata/fakes/joined-images.ts'
import { wholeImageDelta } from '../../../metadata/metadata-delta.ts'
import type { MetadataImage, PartitionImage } from '../../../metadata/metadata-image.ts'
import { DRAINING_CONFIG } from '../../../metadata/placement/usable-brokers.ts'
import { conditionOf } from './mirror-conditions.ts'
import { MirrorWatch } from './mirror-watch.ts'
import { planDrain, planMove } from './move-plan.ts'

const brokers = [javaBroker(1), javaBroker(2), lockstepBroker(1001), lockstepBroker(1002)]
const image = joinedImage({ brokers })
const accepted = { errorCode: 0, errorMessage: null }

test('a partition is as it should be, or has one condition and perhaps somebody to lead it', () => {
  const conditions: [PartitionImage, string | undefined, number | undefined][] = [
    [partitionOn([1001, 1002, 1, 2]), undefined, undefined],
    [partitionOn([1001, 1002, 1], { leader: 1 }), 'LED_BY_KAFKA', 1001],
    [partitionOn([1001, 1002, 1], { leader: 1, isr: [1, 1002] }), 'LED_BY_KAFKA', 1002],
    [partitionOn([1001, 1, 2], { leader: 1, isr: [1, 2] }), 'LED_BY_KAFKA', undefined],
    [partitionOn([1001, 1002, 1], { leader: 1002 }), 'LED_BY_STAND_IN', 1001],
    [partitionOn([1001, 1002, 1], { leader: -1 }), 'WITHOUT_LEADER', undefined],
    [partitionOn([1, 2]), 'OFF_LOCKSTEP', undefined],
    [partitionOn([1, 2, 1001], { removingReplicas: [1001] }), 'OFF_LOCKSTEP', undefined],
    [partitionOn([1, 1001, 2], { leader: 1 }), 'NOT_PREFERRED', undefined],
  ]
  for (const [partition, name, returnsTo] of conditions) {
    const condition = conditionOf(image, partition)
    deepStrictEqual([condition?.name, condition?.returnsTo], [name, returnsTo], partition.replicas.join())
  }
  const draining = joinedImage({ brokers, brokerConfigs: { 1001: { [DRAINING_CONFIG]: 'true' } } })
  strictEqual(conditionOf(draining, partitionOn([1001, 1], { leader: 1 }))?.returnsTo, undefined)
})

function watchOver(t: TestContext, topics: Record<string, PartitionImage[]>) {
  const clock = new ManualClock()
  const asked: string[] = []
  const state: { problem: string | undefined; image: MetadataImage } = {
    problem: undefined,
    image: joinedImage({ brokers, topics }),
  }
  const change = (topic: string, partition: number, placed: PartitionImage | undefined) => {
    const partitions = topics[topic]
    if (partitions && placed) partitions[partition] = placed
    state.image = joinedImage({ brokers, topics })
    watch.onImage(state.image, wholeImageDelta(state.image))
  }
  const watch = new MirrorWatch({
    brokerId: 1001,
    controller: {
      get image() {
        return state.image
      },
      cluster: {
        alterPartitionReassignments: async (moves: readonly Reassignment[]) => {
          for (const { topic, partition, replicas } of moves) {
            asked.push(`reassign ${topic}-${partition} ${replicas?.join()}`)
            const placed = topics[topic]?.[partition]
            if (placed && replicas) change(topic, partition, { ...placed, replicas })
          }
          return moves.map(({ topic, partition }) => ({ topic, partition, ...accepted }))
        },
        electLeaders: async (_type: string, partitions: readonly NamedPartition[] | null) => {
          for (const { topic, partition } of partitions ?? []) {
            asked.push(`elect ${topic}-${partition}`)
            const placed = topics[topic]?.[partition]
            if (placed) change(topic, partition, { ...placed, leader: placed.replicas[0] ?? -1 })
          }
          return (partitions ?? []).map(partition => ({ ...partition, ...accepted }))
        },
      },
    },
    ownerOf: ({ name }) => (name === 'theirs' ? 'foreign' : 'mirror'),
    leadingProblem: () => state.problem,
    clock,
    logger: silentLogger,
  })
  t.after(() => watch.close())
  watch.onImage(state.image, wholeImageDelta(state.image))
  watch.start()
  return { watch, clock, asked, state, change }
}

test('a mirror that a Java broker leads is told at once, and led by us again when we are in sync and may', async t => {
  const led = partitionOn([1001, 1, 2], { leader: 1, isr: [1, 2] })
  const w = watchOver(t, { m: [led], theirs: [partitionOn([1001, 1], { leader: 1 })] })
  await w.clock.advance(6000)
  deepStrictEqual(
    w.watch.misplacedPartitions().map(({ topic, condition, leader }) => [topic, condition, leader]),
    [['m', 'LED_BY_KAFKA', 1]],
  )
  deepStrictEqual(w.asked, [])
  w.state.problem = 'records above the last mirrored offset'
  w.change('m', 0, { ...led, isr: [1, 2, 1001] })
  await w.clock.advance(2000)
  deepStrictEqual(w.asked, [])
  strictEqual(w.watch.misplacedPartitions()[0]?.reason, 'records above the last mirrored offset')
  w.state.problem = undefined
  await w.clock.advance(2000)
  deepStrictEqual(w.asked, ['elect m-0'])
  deepStrictEqual([w.watch.misplacedPartitions(), w.watch.returnedTotal], [[], 1])
})

test('a stand-in that is alone in sync becomes the preferred leader first', async t => {
  const w = watchOver(t, { m: [partitionOn([1002, 1001, 1], { leader: 1, isr: [1, 1001] })] })
  await w.clock.advance(3000)
  deepStrictEqual(w.asked, ['reassign m-0 1001,1002,1', 'elect m-0'])
})

test('what somebody moved to Java brokers is told and left there', async t => {
  const w = watchOver(t, { m: [partitionOn([1, 2]), partitionOn([1, 1001])] })
  await w.clock.advance(9000)
  deepStrictEqual(w.asked, [])
  deepStrictEqual(Object.fromEntries(w.watch.begunTotal), { OFF_LOCKSTEP: 1, NOT_PREFERRED: 1 })
})

const topicsOf = (among: MetadataImage) => [...among.topics.values()]

test('a move puts the node first: the old leader stands in for it', () => {
  const three = [...brokers, lockstepBroker(1003), lockstepBroker(1004, { fenced: true })]
  const among = joinedImage({
    brokers: three,
    topics: {
      m: [
        [1001, 1002, 1, 2],
        [1002, 1001, 1, 2],
        [1, 2],
      ],
    },
  })
  const toOf = (node: number, partition?: number) =>
    planMove(among, { node, topics: topicsOf(among), partition }).moves.map(({ partition: p, to, copies }) => [
      p,
      to.join(),
      copies,
    ])
  deepStrictEqual(toOf(1002), [
    [0, '1002,1001,1,2', false],
    [2, '1002,1,2', true],
  ])
  deepStrictEqual(toOf(1003, 0), [[0, '1003,1001,1,2', true]])
  match(planMove(among, { node: 1, topics: [] }).problem ?? '', /not a Lockstep node/)
  match(planMove(among, { node: 1004, topics: [] }).problem ?? '', /not alive/)
})

test('a drained node keeps nothing: stand-ins take over and others take their place', () => {
  const topics = {
    m: [
      [1001, 1002, 1, 2],
      [1002, 1001, 1, 2],
      [1002, 1, 2],
    ],
  }
  const three = joinedImage({ brokers: [...brokers, lockstepBroker(1003)], topics })
  const { moves } = planDrain(three, { node: 1001, topics: topicsOf(three) })
  deepStrictEqual(
    moves.map(({ to }) => to.join()),
    ['1002,1003,1,2', '1002,1003,1,2'],
  )
  const two = joinedImage({ brokers, topics })
  deepStrictEqual(
    planDrain(two, { node: 1001, topics: topicsOf(two) }).moves.map(({ to }) => to.join()),
    ['1002,1,2', '1002,1,2'],
  )
  ok(planDrain(two, { node: 1002, topics: topicsOf(two) }).moves.length === 3)
  const one = joinedImage({ brokers: brokers.filter(({ id }) => id !== 1002), topics: { m: [[1001, 1]] } })
  match(planDrain(one, { node: 1001, topics: topicsOf(one) }).problem ?? '', /no other Lockstep node is alive/)
})
