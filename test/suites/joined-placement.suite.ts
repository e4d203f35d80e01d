/** Where partitions live while Lockstep nodes are brokers of a real Kafka cluster: other people's go away unharmed, ours stay and come back. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Partitioners } from 'kafkajs'
import type { NewTopic } from '../../src/metadata/controller-port.ts'
import type { MetadataDelta } from '../../src/metadata/metadata-delta.ts'
import { type PartitionImage, topicByName } from '../../src/metadata/metadata-image.ts'
import { RawClient } from '../../src/network/fakes/raw-client.ts'
import { batchesIn } from '../../src/protocol/batches/batch-iteration.ts'
import { recordsOf } from '../../src/protocol/batches/records-of.ts'
import { FetchApi } from '../../src/protocol/messages/01-fetch.ts'
import { patientKafkaJs } from '../clients/kafkajs.ts'
import { eventually } from '../eventually.ts'
import { fetchFrame } from '../hostile/raw-topic.ts'
import { JoinedClient } from '../joined-client.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import type { KafkaVersion } from '../kafka/jars.ts'
import { startJoinedNode } from '../kafka/joined-node.ts'
import type { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { answerOf } from '../raw-request.ts'
import { skipWithout } from '../requirements.ts'

const version = (process.env['LOCKSTEP_CLUSTER_VERSION'] ?? '4.3.1') as KafkaVersion
/** From Kafka 4.3 on a node's directory is cordoned, before that the controller places everybody's replicas on it. */
const cordons = version === '4.3.1'
const skip = skipWithout('java')
const opened = new Opened()
after(() => opened.close())

const FIRST = 1001
const SECOND = 1002
const session = { 'broker.session.timeout.ms': '9000', 'broker.heartbeat.interval.ms': '1000' }

interface Stage {
  readonly cluster: KafkaCluster
  readonly node: LockstepNode
  /** Another tool: it follows the metadata and sends commands to the controller, and is no broker. */
  readonly tool: JoinedClient
  /** Names of partitions that were ever seen on a Lockstep node. */
  readonly seenHere: ReadonlySet<string>
}

let shared: Promise<Stage> | undefined
const stage = (): Promise<Stage> => {
  shared ??= prepare()
  return shared
}

async function prepare(): Promise<Stage> {
  const cluster = await opened.add(KafkaCluster.start({ version, brokers: 2, properties: session }))
  const node = await opened.add(startJoinedNode(cluster, { nodeId: FIRST }))
  const directory = await mkdtemp(join(tmpdir(), 'lockstep-tool-'))
  await opened.add(Promise.resolve({ close: () => rm(directory, { recursive: true, force: true }) }))
  const { clusterId, controllerAddresses: controller } = cluster
  const tool = await opened.add(JoinedClient.start({ controller, clusterId, nodeId: 7000, directory }))
  const seenHere = new Set<string>()
  const onImage = (_image: unknown, { changedTopics }: MetadataDelta): void => {
    for (const { after: topic } of changedTopics.values())
      for (const [partition, { replicas }] of topic.partitions.entries())
        if (replicas.some(id => id > 1000)) seenHere.add(`${topic.name}-${partition}`)
  }
  await tool.observer.subscribe({ name: 'seen', onImage })
  return { cluster, node, tool, seenHere }
}

const topic = (name: string, more: Partial<NewTopic>): NewTopic => ({
  name,
  partitions: -1,
  replicationFactor: -1,
  assignments: new Map(),
  configs: new Map(),
  ...more,
})

async function create({ tool }: Stage, ...topics: readonly NewTopic[]): Promise<void> {
  // Whoever is to lead must be there: a busy machine misses heartbeats.
  await eventually(() => {
    for (const id of [1, 2, FIRST]) strictEqual(tool.observer.image.brokers.get(id)?.fenced, false, `broker ${id}`)
  })
  const answers = await tool.controller.createTopics(topics, { validateOnly: false })
  deepStrictEqual(
    answers.map(({ errorMessage }) => errorMessage),
    topics.map(() => null),
  )
}

function partitionsOf({ tool }: Stage, name: string): readonly PartitionImage[] {
  const found = topicByName(tool.observer.image, name)
  ok(found, `topic ${name} exists`)
  return found.partitions
}

/** Waits until all partitions have so many replicas, all of them in sync, and none on a Lockstep node. */
const settledElsewhere = (on: Stage, name: string, replicas: number): Promise<void> =>
  eventually(() => {
    for (const [index, partition] of partitionsOf(on, name).entries()) {
      const at = `${name}-${index} on ${partition.replicas} in sync ${partition.isr} led by ${partition.leader}`
      ok(partition.replicas.length === replicas && partition.isr.length === replicas, at)
      ok(partition.replicas.every(id => id < 1000) && partition.leader < 1000, at)
    }
  })

/** All records of partition 0, from its leader. */
async function valuesOf(address: string, name: string): Promise<string[]> {
  const client = await RawClient.connect(Number(address.split(':')[1]))
  await client.write(fetchFrame({ name, partition: 0 }, 0))
  const { records } = answerOf(FetchApi, await client.next(), 11).responses[0]?.partitions[0] ?? { records: null }
  await client.close()
  ok(records)
  return [...batchesIn(records)].flatMap(header => recordsOf(records, header).map(({ value }) => String(value)))
}

test('a storm of topics that another tool creates leaves nothing on a Lockstep node', { skip }, async () => {
  const on = await stage()
  const names = Array.from({ length: 12 }, (_, index) => `storm-${index}`)
  for (const [index, name] of names.entries())
    await create(on, topic(name, { partitions: 3, replicationFactor: 1 + (index % 2) }))
  for (const [index, name] of names.entries()) await settledElsewhere(on, name, 1 + (index % 2))
  const seen = [...on.seenHere].filter(name => name.startsWith('storm-'))
  // Where nothing can be cordoned, a third of it was here for a moment.
  ok(cordons ? seen.length === 0 : seen.length > 0, seen.join())
})

test('partitions that are put here by hand go away, and get back their replication factor', { skip }, async () => {
  const on = await stage()
  const assignments = new Map([
    [0, [FIRST, 1]],
    [1, [2, FIRST]],
  ])
  await create(on, topic('by-hand', { assignments }))
  await settledElsewhere(on, 'by-hand', 2)
  await eventually(async () => {
    const text = await fetch(`${on.node.rest.origin}/metrics`).then(answer => answer.text())
    ok(text.includes('lockstep_foreign_partitions 0'))
    ok(Number(/lockstep_foreign_partitions_moved_total (\d+)/.exec(text)?.[1]) >= 2)
  })
})

test('records that are written to an only replica here survive its way to a Java broker', { skip }, async () => {
  const on = await stage()
  const kafka = patientKafkaJs(on.cluster.node(1).address)
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await opened.add(producer.connect().then(() => ({ close: () => producer.disconnect() })))
  const written: string[] = []
  const write = async (value: string) => {
    await producer.send({ topic: 'alone', acks: -1, messages: [{ partition: 0, value }] })
    written.push(value)
  }
  await create(on, topic('alone', { assignments: new Map([[0, [FIRST]]]) }))
  for (let index = 0; index < 100; index++) await write(`early-${index}`)
  await settledElsewhere(on, 'alone', 1)
  ok(on.seenHere.has('alone-0'))
  await write('late')
  // The broker may hear later than the tool that it leads.
  await eventually(async () => {
    const { leader } = partitionsOf(on, 'alone')[0] ?? { leader: -1 }
    // What a producer without idempotence sends twice is there twice.
    deepStrictEqual([...new Set(await valuesOf(on.cluster.node(leader).address, 'alone'))], written)
  })
})

// What follows does not depend on the version.
if (cordons) {
  test("Lockstep's own topics spread to a node that joins, which takes over when the first one dies, and gives back", {
    skip,
  }, async () => {
    const on = await stage()
    const { tool, node, cluster } = on
    if (!topicByName(tool.observer.image, '__lockstep_inbox'))
      await create(on, topic('__lockstep_inbox', { assignments: new Map([[0, [FIRST, 1, 2]]]) }))
    const second = await opened.add(startJoinedNode(cluster, { nodeId: SECOND }))
    const inbox = () => partitionsOf(on, '__lockstep_inbox')[0]
    await eventually(() =>
      deepStrictEqual(
        inbox()
          ?.isr.filter(id => id > 1000)
          .sort(),
        [FIRST, SECOND],
      ),
    )
    await eventually(() => strictEqual(inbox()?.leader, FIRST))

    await node.kill()
    await eventually(() => strictEqual(inbox()?.leader, SECOND))
    await node.start()
    await eventually(() => strictEqual(inbox()?.leader, FIRST))

    // A Java broker leads it while both are down: the first that is back and in sync takes it over.
    await Promise.all([node.kill(), second.kill()])
    await eventually(() => ok((inbox()?.leader ?? 0) < 1000 && (inbox()?.leader ?? 0) > 0))
    await Promise.all([node.start(), second.start()])
    await eventually(() => ok((inbox()?.leader ?? 0) > 1000))
    await eventually(() => strictEqual(inbox()?.isr.length, 4))
  })

  test('a drained node keeps nothing of ours, and gets it back when it is resumed', { skip }, async () => {
    const on = await stage()
    const inbox = () => partitionsOf(on, '__lockstep_inbox')[0]
    const drained = inbox()?.leader ?? 0
    const other = drained === FIRST ? SECOND : FIRST
    // Both nodes have just started.
    await eventually(async () => {
      const planned = await on.node.rest.call('POST', `/nodes/${drained}:drain?validate_only=true`)
      ok(JSON.stringify(planned).includes('"topic_name":"__lockstep_inbox"'), JSON.stringify(planned))
    })
    ok(inbox()?.replicas.includes(drained))
    await eventually(() => on.node.rest.call('POST', `/nodes/${drained}:drain`))
    await eventually(() => {
      ok(!inbox()?.replicas.includes(drained), `${inbox()?.replicas}`)
      strictEqual(inbox()?.leader, other)
    })
    await eventually(() => on.node.rest.call('POST', `/nodes/${drained}:resume`))
    await eventually(() => ok(inbox()?.isr.includes(drained), `${inbox()?.isr}`))
    await eventually(async () => {
      const placement = await on.node.rest.call('GET', '/placement')
      ok(JSON.stringify(placement).includes('"foreign_partitions":[]'), JSON.stringify(placement))
    })
  })
}
