/** Which mirrors get a stand-in, who leads them then, and when it is asked for. */
import { deepStrictEqual } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ManualClock } from '../../../core/clock.ts'
import { silentLogger } from '../../../core/logger.ts'
import type { Reassignment } from '../../../metadata/cluster-commands.ts'
import { javaBroker, joinedImage, lockstepBroker, partitionOn } from '../../../metadata/fakes/joined-images.ts'
import type { BrokerImage, MetadataImage, PartitionImage } from '../../../metadata/metadata-image.ts'
import { DRAINING_CONFIG } from '../../../metadata/placement/usable-brokers.ts'
import { ErrorCode } from '../../../protocol/errors.ts'
import { StandInKeeper } from './stand-in-keeper.ts'
import { planStandIns } from './stand-in-plan.ts'

const java = [javaBroker(1), javaBroker(2)]
const two = [...java, lockstepBroker(1001), lockstepBroker(1002)]
type Partitions = readonly (readonly number[] | PartitionImage)[]

function planned(image: MetadataImage, node = 1001, underWayMax = 20): string[] {
  const plan = planStandIns(image, { node, topics: image.topics.values(), underWayMax })
  return plan.map(({ topic, partition, replicas }) => `${topic}-${partition} ${replicas?.join()}`)
}

const withMirror = (partitions: Partitions, brokers: readonly BrokerImage[] = two): MetadataImage =>
  joinedImage({ brokers, topics: { m: partitions } })

test('mirrors that one node leads alone are shared with another one, each standing in for the other', () => {
  const alone = [1001, 1, 2]
  deepStrictEqual(planned(withMirror([alone, alone, alone, alone])), [
    'm-0 1002,1001,1,2',
    'm-1 1002,1001,1,2',
    'm-2 1001,1002,1,2',
    'm-3 1001,1002,1,2',
  ])
  deepStrictEqual(planned(withMirror([alone])), ['m-0 1001,1002,1,2'])
})

test('stand-ins are spread over the other nodes', () => {
  const three = [...two, lockstepBroker(1003)]
  const led = (node: number) => [node, node === 1003 ? 1002 : 1003, 1]
  const image = withMirror([[1001, 1], [1001, 1], led(1002), led(1002), led(1003), led(1003)], three)
  deepStrictEqual(planned(image), ['m-0 1001,1002,1', 'm-1 1001,1003,1'])
})

test('nothing is added without a node that takes it, or where somebody else leads, moves or placed the partition', () => {
  const alone = [1001, 1, 2]
  const fenced = [...java, lockstepBroker(1001), lockstepBroker(1002, { fenced: true })]
  deepStrictEqual(planned(withMirror([alone], fenced)), [])
  for (const draining of [1001, 1002]) {
    const brokerConfigs = { [draining]: { [DRAINING_CONFIG]: 'true' } }
    deepStrictEqual(planned(joinedImage({ brokers: two, topics: { m: [alone] }, brokerConfigs })), [])
  }
  const others: Partitions = [
    [1001, 1002, 1],
    [1002, 1, 2],
    [1, 2],
    partitionOn(alone, { leader: 1 }),
    partitionOn([1, 1001, 2], { leader: 1001 }),
    partitionOn([1001, 1, 2], { addingReplicas: [2] }),
    partitionOn([1001, 1, 2], { removingReplicas: [2] }),
  ]
  deepStrictEqual(planned(withMirror(others)), [])
})

test('only so many are copied at a time', () => {
  const underWay = partitionOn([1001, 1002, 1], { isr: [1001, 1], addingReplicas: [1002] })
  const image = withMirror([underWay, [1001, 1], [1001, 1], [1001, 1]])
  deepStrictEqual(
    planned(image, 1001, 3).map(text => text.split(' ')[0]),
    ['m-1', 'm-2'],
  )
  deepStrictEqual(planned(image, 1001, 1), [])
})

function keeperOf(t: TestContext, brokers: readonly BrokerImage[]) {
  const clock = new ManualClock()
  const asked: string[] = []
  const topics: Record<string, Partitions> = { m: [[1001, 1]], restoring: [[1001, 1]] }
  const state = { image: joinedImage({ brokers, topics }), refusing: false }
  const become = (now: readonly BrokerImage[]) => {
    state.image = joinedImage({ brokers: now, topics })
  }
  const alterPartitionReassignments = async (reassignments: readonly Reassignment[]) =>
    reassignments.map(({ topic, partition, replicas }) => {
      asked.push(`${topic}-${partition} ${replicas?.join()}`)
      if (!state.refusing && replicas) topics[topic] = [replicas]
      become(two)
      const errorCode = state.refusing ? ErrorCode.CLUSTER_AUTHORIZATION_FAILED : ErrorCode.NONE
      return { topic, partition, errorCode, errorMessage: null }
    })
  const keeper = new StandInKeeper({
    brokerId: 1001,
    controller: {
      get image() {
        return state.image
      },
      cluster: { alterPartitionReassignments },
    },
    isMirroring: ({ name }) => name !== 'restoring',
    clock,
    logger: silentLogger,
  })
  t.after(() => keeper.close())
  keeper.start()
  return { clock, asked, state, become }
}

test('a node that has been there for some seconds gets them, once, and topics on their way to be mirrors are left alone', async t => {
  const { clock, asked, become } = keeperOf(t, two)
  await clock.advance(3000)
  become(two.filter(({ id }) => id !== 1002))
  await clock.advance(3000)
  become(two)
  await clock.advance(4000)
  deepStrictEqual(asked, [])
  await clock.advance(30_000)
  deepStrictEqual(asked, ['m-0 1002,1001,1'])
})

test('what is refused is asked for again', async t => {
  const { clock, asked, state } = keeperOf(t, two)
  state.refusing = true
  await clock.advance(10_000)
  state.refusing = false
  await clock.advance(4000)
  const [first] = asked
  deepStrictEqual([first, asked.at(-1), asked.length > 1], ['m-0 1002,1001,1', 'm-0 1002,1001,1', true])
})
