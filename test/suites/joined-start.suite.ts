/** A node's controller client against complete Apache Kafka 4.3.1: follows the metadata, becomes a broker, forwards commands, survives a change of controller. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { NewTopic } from '../../src/metadata/controller-port.ts'
import { topicByName } from '../../src/metadata/metadata-image.ts'
import { checkCluster } from '../../src/node/joined/check-cluster.ts'
import { parseSettings } from '../../src/node/settings.ts'
import { eventually } from '../eventually.ts'
import { JoinedClient } from '../joined-client.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'

const skip = skipWithout('java')
const opened = new Opened()
after(() => opened.close())

const NODE_ID = 1001
/** Nothing here waits for a session to end, and a busy machine must not end one. */
const longSession = { 'broker.session.timeout.ms': '30000' }

interface Stage {
  readonly cluster: KafkaCluster
  /** The same data directory in each life of the node. */
  readonly start: () => Promise<JoinedClient>
}

let shared: Promise<Stage> | undefined

/** One cluster for all tests of this suite; each test is a life of the node that goes on with the directory of the one before. */
function stage(): Promise<Stage> {
  shared ??= prepare()
  return shared
}

async function prepare(): Promise<Stage> {
  const directory = await mkdtemp(join(tmpdir(), 'lockstep-joined-'))
  await opened.add(Promise.resolve({ close: () => rm(directory, { recursive: true, force: true }) }))
  const cluster = await opened.add(KafkaCluster.start({ version: '4.3.1', brokers: 2, properties: longSession }))
  const options = { controller: cluster.controllerAddresses, clusterId: cluster.clusterId, nodeId: NODE_ID, directory }
  return { cluster, start: () => opened.add(JoinedClient.start(options)) }
}

const topic = (name: string, partitions: number): NewTopic => ({
  name,
  partitions,
  replicationFactor: 1,
  assignments: new Map(),
  configs: new Map(),
})

test('a check before joining finds that the cluster allows it, and registers nothing', { skip }, async () => {
  const { cluster } = await stage()
  const settings = parseSettings(
    new Map([
      ['process.roles', 'broker'],
      ['node.id', String(NODE_ID)],
      ['cluster.id', cluster.clusterId],
      ['listeners', 'PLAINTEXT://127.0.0.1:1'],
      ['log.dirs', join(tmpdir(), 'lockstep-never-made')],
      ['controller.listener.names', 'CONTROLLER'],
      ['listener.security.protocol.map', 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT'],
      ['controller.quorum.bootstrap.servers', cluster.controllerAddresses],
    ]),
  )
  ok(settings.joined)
  const report = await checkCluster(settings, settings.joined)
  deepStrictEqual([report.problems, report.clusterId], [[], cluster.clusterId])
  const { problems } = await checkCluster({ ...settings, nodeId: 1 }, settings.joined)
  match(problems.join(), /node.id 1 is registered by another process/)
})

test('a node becomes a broker of a Kafka cluster, leads what it is given and nothing else', { skip }, async () => {
  const { start } = await stage()
  const first = await start()
  const { image } = first.observer
  deepStrictEqual([...image.brokers.keys()].sort(), [1, 2])
  ok((image.features.get('metadata.version') ?? 0) >= 30)

  await first.join()
  const registered = first.observer.image.brokers.get(NODE_ID)
  strictEqual(registered?.fenced, true)
  await first.membership.serve()
  await first.observer.reached()
  strictEqual(first.observer.image.brokers.get(NODE_ID)?.fenced, false)
  await eventually(() => {
    strictEqual(first.observer.image.brokers.get(NODE_ID)?.cordonedLogDirs?.length, 1)
  })

  // Nothing of another tool is placed here, though every broker would otherwise get its share.
  const [created] = await first.controller.createTopics([topic('elsewhere', 20)], { validateOnly: false })
  strictEqual(created?.errorCode, 0)
  const elsewhere = topicByName(first.observer.image, 'elsewhere')
  strictEqual(elsewhere?.partitions.length, 20)
  ok(elsewhere.partitions.every(({ leader }) => leader !== NODE_ID))

  // A mirror's manual assignment makes this node its leader.
  await first.controller.createTopics(
    [
      {
        name: 'ours',
        partitions: -1,
        replicationFactor: -1,
        assignments: new Map([[0, [NODE_ID, 1, 2]]]),
        configs: new Map([['max.message.bytes', '78']]),
      },
    ],
    { validateOnly: false },
  )
  const ours = topicByName(first.observer.image, 'ours')
  strictEqual(ours?.partitions[0]?.leader, NODE_ID)
  const [shrunk] = await first.controller.alterPartition([
    { topicId: ours.id, partition: 0, leaderEpoch: 0, partitionEpoch: 0, isr: [NODE_ID, 1] },
  ])
  deepStrictEqual([shrunk?.errorCode, shrunk?.isr, shrunk?.partitionEpoch], [0, [NODE_ID, 1], 1])
  const [stale] = await first.controller.alterPartition([
    { topicId: ours.id, partition: 0, leaderEpoch: 0, partitionEpoch: 0, isr: [NODE_ID] },
  ])
  ok(stale?.errorCode !== 0)
  const before = await first.controller.allocateProducerIds()
  await first.controller.skipProducerIdsBelow(before.firstId + 3000n)
  ok((await first.controller.allocateProducerIds()).firstId > before.firstId + 3000n)
  await first.close()
})

test('a restart within the session, under the same incarnation, is seen by nobody', { skip }, async () => {
  const { start } = await stage()
  const second = await start()
  const before = second.observer.image.brokers.get(NODE_ID)
  strictEqual(before?.fenced, false)
  await second.join()
  strictEqual(second.membership.brokerEpoch, before.epoch)
  await second.membership.serve()
  await second.observer.reached()
  const kept = topicByName(second.observer.image, 'ours')?.partitions[0]
  deepStrictEqual([kept?.leader, kept?.leaderEpoch], [NODE_ID, 0])

  // Leaving: reassigned to whoever is in sync, then all leaderships handed over.
  const moved = await second.controller.cluster.alterPartitionReassignments([
    { topic: 'ours', partition: 0, replicas: [1] },
  ])
  strictEqual(moved[0]?.errorCode, 0)
  await eventually(() => {
    const partition = topicByName(second.observer.image, 'ours')?.partitions[0]
    ok(partition?.leader === 1 && partition.leaderEpoch === 1)
  })
  await second.membership.handOver()
  await second.incarnation.ended('handed-over')
  await second.close()
})

test('after handing over, a new incarnation is taken; forgotten, the node registers again', {
  skip,
}, async () => {
  const { cluster, start } = await stage()
  const third = await start()
  const before = third.observer.image.brokers.get(NODE_ID)?.epoch ?? 0
  await third.join()
  await third.membership.serve()
  ok(third.membership.brokerEpoch > before)
  await third.observer.reached()
  strictEqual(third.observer.image.brokers.get(NODE_ID)?.inControlledShutdown, false)

  // The cluster forgets us: we register again.
  const forgotten = third.membership.brokerEpoch
  strictEqual((await third.controller.cluster.unregisterBroker(NODE_ID)).errorCode, 0)
  await eventually(() => ok(third.membership.brokerEpoch > forgotten))

  // The controller starts again: the same epoch goes on, and the image follows.
  const kept = third.membership.brokerEpoch
  await cluster.node(100).kill()
  await cluster.node(100).start()
  await third.controller.createTopics([topic('later', 1)], { validateOnly: false })
  ok(topicByName(third.observer.image, 'later'))
  strictEqual(third.membership.brokerEpoch, kept)
})
