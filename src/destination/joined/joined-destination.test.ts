/** Topics that links create in a joined cluster: where their partitions are put. */
import { deepStrictEqual, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { seededRandom } from '../../core/random.ts'
import { ZERO_UUID } from '../../core/uuid.ts'
import type { Controller, NewTopic, PartitionGrowth } from '../../metadata/controller-port.ts'
import { fakeId, javaBroker, joinedImage, lockstepBroker } from '../../metadata/fakes/joined-images.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { LocalFence } from '../local-fence.ts'
import { JoinedDestination } from './joined-destination.ts'

function scene(options: { nodes: number[] }) {
  const created: NewTopic[] = []
  const grown: PartitionGrowth[] = []
  const guarded: string[] = []
  const controller = {
    image: joinedImage({
      brokers: [javaBroker(1), javaBroker(2), ...options.nodes.map(id => lockstepBroker(id))],
      topics: { there: [[1001, 1, 2]] },
    }),
    createTopics: async (topics: readonly NewTopic[], { validateOnly }: { validateOnly: boolean }) => {
      if (!validateOnly) created.push(...topics)
      return topics.map(({ name, configs }) => {
        return { name, topicId: ZERO_UUID, partitions: 1, replicationFactor: 2, configs, errorCode: ErrorCode.NONE }
      })
    },
    createPartitions: async (topics: readonly PartitionGrowth[]) => {
      grown.push(...topics)
      return topics.map(({ name }) => ({ name, errorCode: ErrorCode.NONE, errorMessage: null }))
    },
  } as unknown as Controller
  const unused = () => {
    throw new Error('not in this test')
  }
  const destination = new JoinedDestination({
    brokerId: 1001,
    file: new Map(),
    controller,
    replicas: { lookup: unused, clock: new ManualClock(), flushSoon: unused, storageFailed: unused },
    groupOffsetRetentionMs: 1,
    hasAuthorizer: false,
    fence: Object.assign(new LocalFence(controller), {
      configsOf: (meant: ReadonlyMap<string, string>) => new Map([...meant, ['max.message.bytes', '78']]),
      guard: async (topic: string) => void guarded.push(topic),
      unguard: async (topic: string) => void guarded.push(`not ${topic}`),
    }),
    barrier: { raiseAbove: unused },
    reclaim: { reclaim: unused, beginEpoch: unused },
    peerLogs: { call: unused },
    questions: {
      ...{ highWatermark: unused, logStart: unused, producerStates: unused, abortTransaction: unused },
      ...{ readBatches: unused, topicConfig: unused },
    },
    transactions: { abort: unused },
    brokers: { to: unused },
    groups: { read: unused, commit: unused, readShareStarts: unused, setShareStarts: unused },
    random: seededRandom(5),
  })
  return { destination, created, grown, guarded }
}

const request = { name: 't', partitions: 2, replicationFactor: -1, configs: new Map() }

test('a mirror is placed on Lockstep nodes first, with as many Java replicas as the cluster gives by default', async () => {
  const { destination, created, grown, guarded } = scene({ nodes: [1001, 1002] })
  const answer = await destination.createTopic(request, { validateOnly: false })
  ok(answer.ok)
  deepStrictEqual(answer.topic.partitions, 2)
  const [topic] = created
  deepStrictEqual([topic?.partitions, topic?.replicationFactor], [-1, -1])
  deepStrictEqual([guarded, topic?.configs.get('max.message.bytes')], [['t'], '78'])
  const leaders = [...(topic?.assignments.values() ?? [])].map(([first]) => first).sort()
  ok(leaders.includes(1002))
  for (const replicas of topic?.assignments.values() ?? [])
    deepStrictEqual(
      [...replicas].sort((a, b) => a - b),
      [1, 2, 1001, 1002],
    )
  await destination.createPartitions(fakeId('there'), 3)
  deepStrictEqual(
    grown[0]?.assignments?.map(replicas => replicas.toSorted((a, b) => a - b)),
    [
      [1, 2, 1002],
      [1, 2, 1001],
    ],
  )
  ok(destination.leads(fakeId('there'), 0))
  ok(!destination.leads(fakeId('there'), 1))
})

test('where there is no place for a mirror the reason is told, and nothing is created', async () => {
  const { destination, created, guarded } = scene({ nodes: [] })
  const answer = await destination.createTopic(request, { validateOnly: false })
  ok(!answer.ok)
  match(answer.message, /No Lockstep node/)
  deepStrictEqual([created, guarded], [[], ['t', 'not t']])
})
