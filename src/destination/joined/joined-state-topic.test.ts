/** `__lockstep_state` among several nodes: led here or followed, and who may write it. */
import { deepStrictEqual, match, rejects, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { seededRandom } from '../../core/random.ts'
import { NotLinkCoordinator, type StateProposal, type StateRecord } from '../../link/ports.ts'
import { fakeId, javaBroker, joinedImage, lockstepBroker, partitionOn } from '../../metadata/fakes/joined-images.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { assignmentOf, PartitionBench } from '../../replica/fakes/open-partition.ts'
import { FakeLeaderLog } from './fakes/fake-leader-log.ts'
import { JoinedStateTopic } from './joined-state-topic.ts'
import { OwnTopic } from './own-topic.ts'
import type { InboxProposal } from './proposal-codec.ts'

const STATE = '__lockstep_state'

const record = (key: string, value = 'v'): StateRecord => ({ key: Buffer.from(key), value: Buffer.from(value) })

const texts = (records: readonly StateRecord[]) => records.map(({ key, value }) => `${key}=${value}`).join()

/** Nodes 1 (this one) and 2, a Kafka broker 3; `lead` says who leads the state from now on. */
async function scene(leader: number) {
  const bench = new PartitionBench()
  const elsewhere = new FakeLeaderLog()
  const brokers = [lockstepBroker(1), lockstepBroker(2), javaBroker(3)]
  const imageWith = (of: { leader: number; leaderEpoch: number }): MetadataImage =>
    joinedImage({
      brokers,
      topics: { [STATE]: [partitionOn([1, 2, 3], of)], __lockstep_inbox: [[1, 2, 3]], orders: [[2]] },
    })
  const commands: string[] = []
  const controller = {
    image: imageWith({ leader, leaderEpoch: 1 }),
    createTopics: async () => [],
    cluster: {
      alterPartitionReassignments: async (asked: readonly { replicas: readonly number[] | null }[]) => {
        commands.push(`replicas ${asked[0]?.replicas?.join()}`)
        return []
      },
      electLeaders: async (type: string) => {
        commands.push(`elect ${type}`)
        return []
      },
    },
  }
  const partition = await bench.open({ topic: STATE, assignment: { leader: 1, leaderEpoch: 1 } })
  const sent: StateRecord[] = []
  let listener: ((proposal: InboxProposal) => Promise<void>) | undefined
  const reader = {
    start: (given: typeof listener) => {
      listener = given
    },
    stop: async () => {
      listener = undefined
    },
  }
  const own = (name: string) => new OwnTopic({ name, configs: new Map(), controller, random: seededRandom(1) })
  const topic = new JoinedStateTopic({
    brokerId: 1,
    state: own(STATE),
    inbox: {
      topic: own('__lockstep_inbox'),
      writer: { append: async records => void sent.push(...records) },
      reader,
      signatures: { sign: () => Buffer.alloc(32), isGenuine: () => true },
    },
    controller,
    replicas: { lookup: () => partition, storageFailed: () => {} },
    connections: elsewhere,
    clock: systemClock,
    random: seededRandom(1),
    logger: silentLogger,
  })
  const seen: string[] = []
  const open = () => topic.open(records => void seen.push(texts(records)))
  const lead = async (next: number, leaderEpoch: number) => {
    controller.image = imageWith({ leader: next, leaderEpoch })
    if (next === 1) await partition.lead(assignmentOf({ leader: 1, leaderEpoch }))
    topic.onImage()
  }
  const close = async () => {
    await topic.close()
    await bench.close()
  }
  return { topic, open, lead, seen, elsewhere, sent, commands, close, propose: (of: InboxProposal) => listener?.(of) }
}

test('the leader appends and replays what it has appended; another epoch needs another look', async () => {
  const { topic, open, lead, seen, close } = await scene(1)
  await open()
  strictEqual(topic.leadership.term, 1)
  await topic.append([record('a'), record('b')])
  deepStrictEqual([seen, topic.leadership.position], [['a=v,b=v'], 2])
  let changes = 0
  topic.leadership.onChanged(() => changes++)
  await lead(1, 2)
  topic.onImage()
  deepStrictEqual([changes, topic.leadership.term], [1, 2])
  await topic.append([record('c')])
  deepStrictEqual(seen.slice(1), ['c=v'])
  await close()
})

test('others read it from its leader, append nothing, and can wait for what it has written', async () => {
  const { topic, open, seen, elsewhere, close } = await scene(2)
  elsewhere.append(record('a'))
  await open()
  deepStrictEqual([seen, elsewhere.opened, topic.leadership.term], [['a=v'], [2], undefined])
  await rejects(topic.append([record('b')]), NotLinkCoordinator)
  const reached = topic.leadership.reached(3)
  elsewhere.append(record('b'), record('c'))
  await reached
  deepStrictEqual([seen.slice(1), topic.leadership.position], [['b=v,c=v'], 3])
  await topic.leadership.reached(0)
  await close()
})

test('a proposal is sent with what was known, and ends when this node becomes the coordinator', async () => {
  const { topic, open, lead, sent, elsewhere, close } = await scene(2)
  await open()
  const done = topic.propose([record('a')])
  elsewhere.append(record('a'))
  await done
  strictEqual(sent.length, 1)
  const given = rejects(topic.propose([record('b')]), /has become the link coordinator/)
  await lead(1, 2)
  await given
  await close()
})

test('while a Kafka broker leads it, or nobody, there is no coordinator, and the reason is told', async () => {
  const { topic, open, lead, close } = await scene(2)
  await open()
  strictEqual(topic.leadership.vacancy, undefined)
  await lead(3, 2)
  match(topic.leadership.vacancy ?? '', /led by broker 3, which is no Lockstep node \(2 of those are alive\)/)
  await rejects(topic.propose([record('a')]), /broker 3/)
  await lead(-1, 3)
  match(topic.leadership.vacancy ?? '', /no leader now/)
  await close()
})

test('what another node proposes says whether it was decided on what is written, and what its sender leads', async () => {
  const { topic, open, propose, close } = await scene(1)
  const given: StateProposal[] = []
  topic.onProposal(async proposal => void given.push(proposal))
  await open()
  await topic.append([record('a')])
  await topic.append([record('b')])
  await propose({ sender: 2, decidedAt: 1, records: [record('a', 'w')] })
  await propose({ sender: 2, decidedAt: 1, records: [record('b', 'w')] })
  deepStrictEqual(
    given.map(proposal => [
      proposal.isCurrent(),
      proposal.leads(fakeId('orders'), 0),
      proposal.leads(fakeId(STATE), 0),
    ]),
    [
      [true, true, false],
      [false, true, false],
    ],
  )
  // Neither from itself nor from a broker that is no Lockstep node.
  await propose({ sender: 1, decidedAt: 1, records: [record('a')] })
  await propose({ sender: 3, decidedAt: 1, records: [record('a')] })
  strictEqual(given.length, 2)
  await close()
})

test('it is handed over to another Lockstep node that is in sync, and to nobody else', async () => {
  const { topic, open, lead, commands, close } = await scene(1)
  await open()
  strictEqual(await topic.leadership.handOver?.(), true)
  deepStrictEqual(commands, ['replicas 2,3,1', 'elect preferred'])
  await lead(2, 2)
  strictEqual(await topic.leadership.handOver?.(), false)
  strictEqual(commands.length, 2)
  await close()
})
