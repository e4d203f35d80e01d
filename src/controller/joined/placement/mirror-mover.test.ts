/** What the mover and the keeper of own topics ask of the controller. */
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../../core/clock.ts'
import { silentLogger } from '../../../core/logger.ts'
import type { NamedPartition, Reassignment } from '../../../metadata/cluster-commands.ts'
import type { ConfigAlteration } from '../../../metadata/controller-port.ts'
import { fakeId, javaBroker, joinedImage, lockstepBroker, partitionOn } from '../../../metadata/fakes/joined-images.ts'
import type { MetadataImage } from '../../../metadata/metadata-image.ts'
import { MirrorMover } from './mirror-mover.ts'
import { OwnTopicKeeper } from './own-topic-keeper.ts'

const accepted = { errorCode: 0, errorMessage: null }

/** Accepts everything, changes nothing, and remembers. */
function recorded(image: MetadataImage) {
  const asked: string[] = []
  const cluster = {
    alterPartitionReassignments: async (moves: readonly Reassignment[]) =>
      moves.map(({ topic, partition, replicas }) => {
        asked.push(`reassign ${topic}-${partition} ${replicas?.join()}`)
        return { topic, partition, ...accepted }
      }),
    electLeaders: async (_type: string, partitions: readonly NamedPartition[] | null) =>
      (partitions ?? []).map(({ topic, partition }) => {
        asked.push(`elect ${topic}-${partition}`)
        return { topic, partition, ...accepted }
      }),
  }
  const incrementalAlterConfigs = async (alterations: readonly ConfigAlteration[]) =>
    alterations.map(({ resource, changes }) => {
      asked.push(...changes.map(({ key, operation, value }) => `${operation} ${key}=${value} of ${resource.name}`))
      return { resource, ...accepted }
    })
  return { asked, controller: { image, cluster, incrementalAlterConfigs } }
}

const nodes = [lockstepBroker(1001), lockstepBroker(1002)]
const topics = { m: [[1001, 1002, 1, 2], partitionOn([1001, 1002, 1], { isr: [1001, 1] })], theirs: [[1001, 1]] }
const ownerOf = ({ name }: { readonly name: string }) => (name === 'm' ? ('mirror' as const) : ('foreign' as const))

test('whoever is in sync leads at once, others when they have caught up', async () => {
  const { asked, controller } = recorded(joinedImage({ brokers: [javaBroker(1), javaBroker(2), ...nodes], topics }))
  const mover = new MirrorMover({ controller, ownerOf })
  const request = { node: 1002, topicIds: [fakeId('m')] }
  const planned = await mover.move(request, { dryRun: true })
  deepStrictEqual([asked, planned.map(({ copies }) => copies)], [[], [false, true]])
  const outcomes = await mover.move(request, { dryRun: false })
  deepStrictEqual(asked, ['reassign m-0 1002,1001,1,2', 'reassign m-1 1002,1001,1', 'elect m-0'])
  deepStrictEqual(
    outcomes.map(({ error }) => error),
    [null, null],
  )
})

test('a replica whose broker is not registered any more is left out, or nothing could be moved', async () => {
  const { asked, controller } = recorded(
    joinedImage({
      brokers: [javaBroker(1), lockstepBroker(1002)],
      topics: { m: [partitionOn([1001, 1], { isr: [1] })] },
    }),
  )
  await new MirrorMover({ controller, ownerOf }).move({ node: 1002, topicIds: [fakeId('m')] }, { dryRun: false })
  deepStrictEqual(asked, ['reassign m-0 1002,1'])
})

test('a drain marks the node first, moves only what is ours, and can be taken back', async () => {
  const brokers = [javaBroker(1), javaBroker(2), ...nodes]
  const { asked, controller } = recorded(joinedImage({ brokers, topics }))
  await new MirrorMover({ controller, ownerOf }).drain(1001, { dryRun: false })
  deepStrictEqual(asked, [
    'set lockstep.node.draining=true of 1001',
    'reassign m-0 1002,1,2',
    'reassign m-1 1002,1',
    'elect m-0',
  ])
  const alone = recorded(joinedImage({ brokers: [javaBroker(1), lockstepBroker(1001)], topics: { m: [[1001, 1]] } }))
  await rejects(new MirrorMover({ ...alone, ownerOf }).drain(1001, { dryRun: false }), /nothing was moved: no other/)
  deepStrictEqual(alone.asked, [])
  const drained = joinedImage({ brokers, topics, brokerConfigs: { 1001: { 'lockstep.node.draining': 'true' } } })
  const back = recorded(drained)
  await new MirrorMover({ ...back, ownerOf }).resume(1001)
  deepStrictEqual(back.asked, ['delete lockstep.node.draining=null of 1001'])
})

test('a node that came gets replicas of the own topics, asked for by one node, and not while they move', async t => {
  const clock = new ManualClock()
  const moving = partitionOn([1001, 1002, 1], { addingReplicas: [1002] })
  const among = joinedImage({
    brokers: [javaBroker(1), ...nodes],
    topics: { __lockstep_state: [[1001, 1]], __lockstep_inbox: [moving], __lockstep_status: [[1001, 1002, 1]] },
  })
  const { asked, controller } = recorded(among)
  for (const brokerId of [1001, 1002]) {
    const keeper = new OwnTopicKeeper({ brokerId, controller, clock, logger: silentLogger })
    t.after(() => keeper.close())
    keeper.start()
  }
  await clock.advance(4000)
  deepStrictEqual(asked, ['reassign __lockstep_state-0 1001,1002,1'])
  await clock.advance(4000)
  strictEqual(asked.length, 2)
})
