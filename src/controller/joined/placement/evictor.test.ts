/** The evictor over a controller in memory that reassigns as Kafka's does. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ManualClock } from '../../../core/clock.ts'
import { silentLogger } from '../../../core/logger.ts'
import { seededRandom } from '../../../core/random.ts'
import type { Reassignment } from '../../../metadata/cluster-commands.ts'
import { javaBroker, joinedImage, lockstepBroker, partitionOn } from '../../../metadata/fakes/joined-images.ts'
import { wholeImageDelta } from '../../../metadata/metadata-delta.ts'
import { type MetadataImage, type PartitionImage, topicByName } from '../../../metadata/metadata-image.ts'
import { ErrorCode } from '../../../protocol/errors.ts'
import { Evictor } from './evictor.ts'
import { type TopicOwner, topicOwners } from './topic-owner.ts'

const brokers = [javaBroker(1), javaBroker(2), javaBroker(3), lockstepBroker(1001), lockstepBroker(1002)]

type Topics = Record<string, PartitionImage[]>

function world(t: TestContext, topics: Topics, owned: Record<string, TopicOwner> = {}) {
  const asked: string[] = []
  const owners = new Map(Object.entries(owned))
  const clock = new ManualClock()
  const state = { image: joinedImage({ brokers }), refusing: 0 }
  const publish = () => {
    state.image = joinedImage({ brokers, topics })
    evictor.onImage(state.image, wholeImageDelta(state.image))
  }
  const alterPartitionReassignments = async (reassignments: readonly Reassignment[]) => {
    await Promise.resolve()
    const answers = reassignments.map(({ topic, partition, replicas }) => {
      asked.push(`${topic}-${partition} ${replicas?.join()}`)
      const refused = state.refusing-- > 0
      const placed = topics[topic]?.[partition]
      if (!refused && placed && replicas && topics[topic]) topics[topic][partition] = reassigned(placed, replicas)
      const errorCode = refused ? ErrorCode.INVALID_REPLICA_ASSIGNMENT : ErrorCode.NONE
      return { topic, partition, errorCode, errorMessage: null }
    })
    publish()
    return answers
  }
  const evictor = new Evictor({
    brokerId: 1001,
    controller: {
      get image(): MetadataImage {
        return state.image
      },
      cluster: { alterPartitionReassignments },
    },
    ownerOf: topic => owners.get(topic.name) ?? 'foreign',
    clock,
    random: seededRandom(1),
    logger: silentLogger,
  })
  t.after(() => evictor.close())
  publish()
  evictor.start()
  return { evictor, asked, owners, clock, topics, state, publish }
}

/** At once if all that it names are in sync; else the new ones are on their way. */
function reassigned(placed: PartitionImage, target: readonly number[]): PartitionImage {
  const old = placed.replicas.filter(id => !placed.addingReplicas.includes(id))
  if (target.every(id => placed.isr.includes(id))) return partitionOn(target)
  return partitionOn([...target, ...old.filter(id => !target.includes(id))], {
    isr: placed.isr,
    leader: placed.leader,
    addingReplicas: target.filter(id => !old.includes(id)),
    removingReplicas: old.filter(id => !target.includes(id)),
  })
}

/** Lets everything happen that needs no time. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise(resolve => setImmediate(resolve))
}

test('what is foreign leaves at once and gets its replicas back; mirrors and own topics stay', async t => {
  const topics = {
    theirs: [partitionOn([1, 2]), partitionOn([1001, 1])],
    mirror: [partitionOn([1001, 1, 2])],
    __lockstep_state: [partitionOn([1001, 1002, 1, 2])],
  }
  const w = world(t, topics, { mirror: 'mirror', __lockstep_state: 'own' })
  await settled()
  strictEqual(w.asked.length, 2)
  strictEqual(w.asked[0], 'theirs-1 1')
  ok(w.asked[1] === 'theirs-1 1,2' || w.asked[1] === 'theirs-1 1,3')
  deepStrictEqual(w.evictor.foreignPartitions(), [])
  deepStrictEqual([w.evictor.evictedTotal, w.evictor.failuresTotal], [1, 0])
})

test('an only replica is waited for, and asked for once', async t => {
  const w = world(t, { alone: [partitionOn([1001])] })
  await settled()
  await w.clock.advance(5000)
  await settled()
  strictEqual(w.asked.length, 1)
  const [waiting] = w.evictor.foreignPartitions()
  deepStrictEqual([waiting?.state, waiting?.leader, waiting?.attempts], ['waiting', 1001, 1])
  const target = Number(w.asked[0]?.split(' ')[1])
  w.topics['alone'] = [partitionOn([target])]
  w.publish()
  await settled()
  deepStrictEqual([w.evictor.foreignPartitions(), w.evictor.evictedTotal], [[], 1])
})

test('a refusal is told and tried again, later each time', async t => {
  const w = world(t, { theirs: [partitionOn([1001, 1])] })
  w.state.refusing = 2
  await settled()
  strictEqual(w.asked.length, 1)
  deepStrictEqual(w.evictor.foreignPartitions()[0]?.error, 'INVALID_REPLICA_ASSIGNMENT')
  for (let second = 0; second < 6; second++) {
    await w.clock.advance(1000)
    await settled()
  }
  deepStrictEqual(w.evictor.foreignPartitions(), [])
  strictEqual(w.evictor.failuresTotal, 2)
})

test('what may be a mirror is not touched until it is known; a promoted one goes', async t => {
  const w = world(t, { maybe: [partitionOn([1001, 1, 2])] }, { maybe: 'mirror' })
  await settled()
  w.owners.set('maybe', 'unknown')
  await w.clock.advance(1000)
  await settled()
  deepStrictEqual(w.asked, [])
  w.owners.set('maybe', 'foreign')
  await w.clock.advance(1000)
  await settled()
  deepStrictEqual(w.asked, ['maybe-0 1,2', 'maybe-0 1,2,3'])
})

test("another node's partitions are that node's business", async t => {
  const w = world(t, { theirs: [partitionOn([1002, 1])] })
  await settled()
  deepStrictEqual([w.asked, w.evictor.foreignPartitions()[0]?.state], [[], 'other-node'])
})

test('a topic with the fence of mirrors is spared for ten seconds, until its link is known here', async () => {
  const clock = new ManualClock()
  const image = joinedImage({
    brokers,
    topics: { fenced: [[1001, 1]], plain: [[1001]], __lockstep_inbox: [[1001, 1]] },
    topicConfigs: { fenced: { 'max.message.bytes': '78' } },
  })
  let kind: 'writable' | 'mirror' | 'unknown' = 'writable'
  const ownerOf = topicOwners({ image: () => image, statusOf: () => ({ kind }), clock })
  const of = (name: string) => {
    const topic = topicByName(image, name)
    ok(topic)
    return ownerOf(topic)
  }
  deepStrictEqual([of('fenced'), of('plain'), of('__lockstep_inbox')], ['unknown', 'foreign', 'own'])
  kind = 'mirror'
  strictEqual(of('fenced'), 'mirror')
  kind = 'writable'
  strictEqual(of('fenced'), 'unknown')
  await clock.advance(10_000)
  strictEqual(of('fenced'), 'foreign')
  kind = 'unknown'
  strictEqual(of('plain'), 'unknown')
})
