/** Mirrors of a joined cluster in complete Apache Kafka 4.3.1 with an authorizer: nobody writes them while their node is dead, what others change is restored, and they become ordinary topics by another node or by Kafka's own tools. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openToAll, quorumConnections } from '../../src/controller/joined/quorum-connection.ts'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import type { Uuid } from '../../src/core/uuid.ts'
import { BrokerQuestions } from '../../src/destination/joined/broker-questions.ts'
import { DistantLog } from '../../src/destination/joined/distant-log.ts'
import { JoinedFence } from '../../src/destination/joined/joined-fence.ts'
import { ProducerIdBarrier } from '../../src/destination/joined/producer-id-barrier.ts'
import { lockstepEndpoint } from '../../src/metadata/lockstep-nodes.ts'
import { topicByName } from '../../src/metadata/metadata-image.ts'
import { ClusterConnections } from '../../src/node/joined/cluster-connections.ts'
import { ProducerIds } from '../../src/replica/producer-ids.ts'
import { blocksOf } from '../documents/command-blocks.ts'
import { eventually } from '../eventually.ts'
import { JavaDriver, JavaError } from '../java/driver.ts'
import { JoinedClient } from '../joined-client.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'
import { type ProduceArgs, TopicSide } from '../scenarios/topic-side.ts'

const skip = skipWithout('java')
const opened = new Opened()
after(() => opened.close())

const patience = { timeoutMs: 120_000, intervalMs: 200 }

/** Everybody is ANONYMOUS and may do what no ACL forbids: the DENY needs its ALLOW, or nobody could read any more. */
const authorizer = {
  'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
  'allow.everyone.if.no.acl.found': 'true',
}

/** A Lockstep node as far as fences go: it is registered and its log answers nobody. */
interface Node {
  readonly client: JoinedClient
  readonly fence: JoinedFence
  readonly barrier: ProducerIdBarrier
  readonly questions: BrokerQuestions
}

interface Stage {
  readonly cluster: KafkaCluster
  readonly java: JavaDriver
  readonly side: TopicSide
  /** Alive throughout; replica of nothing. */
  readonly other: Node
}

let shared: Promise<Stage> | undefined

function stage(): Promise<Stage> {
  shared ??= prepare()
  return shared
}

async function prepare(): Promise<Stage> {
  const properties = { ...authorizer, 'initial.broker.registration.timeout.ms': '600000' }
  const cluster = await opened.add(KafkaCluster.start({ version: '4.3.1', brokers: 2, properties }))
  const java = await opened.add(JavaDriver.start({ version: '4.3.1', heapMb: 256 }))
  const side = new TopicSide(java, { bootstrap: cluster.bootstrap, dataDirectory: cluster.node(1).dataDirectory })
  const other = await startNode(cluster, 1002)
  // Its replicas can be assigned, and it is gone: mirrors are what it leaves behind.
  const dying = await startNode(cluster, 1001)
  for (const topic of ['orders', 'payments', 'invoices']) await createMirror(dying, topic)
  await dying.client.close()
  await eventually(() => {
    for (const topic of ['orders', 'payments', 'invoices']) ok([1, 2].includes(leaderOf(other, topic) ?? -1))
  }, patience)
  return { cluster, java, side, other }
}

async function startNode(cluster: KafkaCluster, nodeId: number): Promise<Node> {
  const directory = await mkdtemp(join(tmpdir(), 'lockstep-promote-'))
  await opened.add(Promise.resolve({ close: () => rm(directory, { recursive: true, force: true }) }))
  const at = { controller: cluster.controllerAddresses, clusterId: cluster.clusterId, nodeId, directory }
  const client = await opened.add(JoinedClient.start(at))
  await client.membership.join([
    { name: 'PLAINTEXT', host: '127.0.0.1', port: 1, securityProtocol: 0 },
    lockstepEndpoint('http://127.0.0.1:1'),
  ])
  await client.membership.serve()
  const { controller } = client
  const image = () => controller.image
  const open = quorumConnections({ clientId: 'lockstep', security: openToAll, clock: systemClock, timeoutMs: 30_000 })
  const connections = await opened.add(Promise.resolve(new ClusterConnections({ listener: 'PLAINTEXT', open, image })))
  const questions = new BrokerQuestions(connections)
  const fence = new JoinedFence({
    brokerId: nodeId,
    controller,
    questions,
    replicas: {
      lookup: () => {
        throw new Error('this node leads nothing')
      },
    },
    security: { allowsIfNoAcl: true },
    clock: systemClock,
    logger: silentLogger,
  })
  await controller.subscribe(fence)
  const producerIds = new ProducerIds(controller)
  const barrier = new ProducerIdBarrier({ brokerId: nodeId, image, producerIds, questions, clock: systemClock })
  return { client, fence, barrier, questions }
}

async function createMirror({ client, fence }: Node, name: string): Promise<void> {
  await fence.guard(name)
  const configs = fence.configsOf(new Map([['min.insync.replicas', '1']]))
  const assignments = new Map([[0, [1001, 1, 2]]])
  const topic = { name, partitions: -1, replicationFactor: -1, assignments, configs }
  const [created] = await client.controller.createTopics([topic], { validateOnly: false })
  strictEqual(created?.errorCode, 0, created?.errorMessage ?? '')
}

const topicOf = ({ client }: Node, name: string) => topicByName(client.controller.image, name)
const leaderOf = (node: Node, name: string) => topicOf(node, name)?.partitions[0]?.leader
const idOf = (node: Node, name: string): Uuid => {
  const topic = topicOf(node, name)
  ok(topic)
  return topic.id
}

const records = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ key: `k${i}`, value: 'a value of more than ten bytes' }))
const write = (side: TopicSide, topic: string, more: ProduceArgs = {}) =>
  side.produce(topic, { partition: 0, records: records(5), ...more })

async function countOf(side: TopicSide, topic: string): Promise<number> {
  const consumed = await side.consume(topic)
  return Object.values(consumed).reduce((sum, { records: read }) => sum + read.length, 0)
}

test('with its node dead a mirror can be read, and not be written', { skip }, async () => {
  const { side } = await stage()
  strictEqual(await countOf(side, 'orders'), 0)
  for (const acks of ['all', '1'] as const)
    await rejects(write(side, 'orders', { acks, idempotent: false }), (error: unknown) => {
      ok(error instanceof JavaError)
      match(error.javaClass, /TopicAuthorization|RecordTooLarge/)
      return true
    })
  strictEqual(await countOf(side, 'orders'), 0)
})

test('what somebody changes of a fence is restored within moments, and readers stay', { skip }, async () => {
  const { side, other } = await stage()
  const restored: string[] = []
  const stop = other.fence.onDisturbed(() => {
    void other.fence.restore(idOf(other, 'orders')).then(changed => restored.push(...changed))
  })
  await side.alterConfigs('orders', { 'max.message.bytes': '1000000' })
  await eventually(() => deepStrictEqual(restored, ['max.message.bytes']), patience)
  stop()
  strictEqual(await countOf(side, 'orders'), 0)
})

test('the producer-id barrier takes every broker past the mirrored ids', { skip }, async () => {
  const { other } = await stage()
  const highest = other.client.controller.image.nextProducerId + 1500n
  deepStrictEqual(await other.barrier.raiseAbove(highest, new Set()), [
    'brokers 1001 could not be asked: unless their processes end first, they may hand out producer ids that the mirrored logs have seen',
  ])
  await eventually(() => ok(other.client.controller.image.nextProducerId > highest), patience)
})

test('a transaction that has nothing to do with a mirror ends while the fence is up', { skip }, async () => {
  const { side, java } = await stage()
  const topics = [{ name: 'plain', partitions: 1, replicationFactor: 2 }]
  await java.call('create-topics', { bootstrap: side.bootstrap, topics })
  await write(side, 'plain', { transaction: { id: 'unrelated', end: 'commit' } })
  const consumed = await side.consume('plain', { isolation: 'read_committed' })
  strictEqual(consumed[0]?.records.length, 5)
})

test('a transaction that is open in a log which a broker leads is aborted through that broker', { skip }, async () => {
  const { side, other } = await stage()
  await write(side, 'plain', { transaction: { id: 'left', end: 'open' } })
  const placed = await eventually(() => {
    const partition = topicOf(other, 'plain')?.partitions[0]
    ok(partition)
    return partition
  }, patience)
  const of = { topic: 'plain', partition: 0, placed, questions: other.questions }
  const log = await eventually(async () => {
    const opened = await DistantLog.open(of)
    strictEqual(opened.openTransactions().length, 1)
    return opened
  }, patience)
  const end = log.state().logEndOffset
  strictEqual((await log.abortOpenTransactions()).length, 1)
  deepStrictEqual([log.openTransactions().length, log.state().logEndOffset], [0, end + 1])
  const consumed = await side.consume('plain', { isolation: 'read_committed' })
  strictEqual(consumed[0]?.records.length, 5)
})

test('another node fails a mirror over whose node is dead', { skip }, async () => {
  const { side, other } = await stage()
  const topicId = idOf(other, 'payments')
  const request = {
    topicId,
    verb: 'failover',
    plan: other.fence.plan(topicId),
    endOffsets: [0],
    configs: new Map([['retention.ms', '86400000']]),
  } as const
  deepStrictEqual((await other.fence.outlook(topicId, 'promote')).obstacles.size, 0)
  await other.fence.release(request)
  // A second time there is nothing to do.
  await other.fence.release(request)
  const placed = topicOf(other, 'payments')?.partitions[0]
  deepStrictEqual([placed?.replicas, placed?.leader], [[1, 2], 1])
  ok(other.fence.isTakenAway(topicId, 0))
  await eventually(() => write(side, 'payments'), patience)
  strictEqual(await countOf(side, 'payments'), 5)
})

const TOOLS: Readonly<Record<string, string>> = {
  'kafka-topics.sh': 'org.apache.kafka.tools.TopicCommand',
  'kafka-reassign-partitions.sh': 'org.apache.kafka.tools.reassign.ReassignPartitionsCommand',
  'kafka-transactions.sh': 'org.apache.kafka.tools.TransactionsCommand',
  'kafka-configs.sh': 'kafka.admin.ConfigCommand',
  'kafka-acls.sh': 'org.apache.kafka.tools.AclCommand',
}

test('the kill switch of the documentation, word by word, makes a mirror an ordinary topic', { skip }, async () => {
  const { side, java, other } = await stage()
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-kill-switch-'))
  await opened.add(Promise.resolve({ close: () => rm(folder, { recursive: true, force: true }) }))
  const blocks = blocksOf('docs/kill-switch.md')
  ok(blocks.length >= 4)
  for (const { language, text } of blocks) {
    if (language === 'json') await writeFile(join(folder, 'move.json'), text)
    else
      for (const line of text.trim().split('\n')) {
        const [name = '', ...words] = line.split(' ')
        const args = words.map(word =>
          word === 'broker1:9092' ? side.bootstrap : word === 'move.json' ? join(folder, word) : word,
        )
        const answer = await java.call<{ status: number; out: string; err: string }>('run-tool', {
          tool: TOOLS[name],
          args,
        })
        strictEqual(answer.status, 0, `${line}\n${answer.out}${answer.err}`)
      }
  }
  await eventually(() => write(side, 'orders'), patience)
  strictEqual(await countOf(side, 'orders'), 5)
  await eventually(() => {
    const placed = topicOf(other, 'orders')?.partitions[0]
    deepStrictEqual([placed?.replicas, placed?.leader], [[1, 2], 1])
  }, patience)
  // A node that is there again sees that it is theirs.
  ok(other.fence.isTakenAway(idOf(other, 'orders'), 0))
})

test('with a Kafka broker down a mirror is released to the other one, and the one that comes back gets its replica', {
  skip,
}, async () => {
  const { cluster, side, other } = await stage()
  const topicId = idOf(other, 'invoices')
  const plan = other.fence.plan(topicId)
  await cluster.node(2).kill()
  await eventually(() => deepStrictEqual(topicOf(other, 'invoices')?.partitions[0]?.isr, [1]), patience)
  const { obstacles, warnings } = await other.fence.outlook(topicId, 'promote')
  deepStrictEqual(
    [obstacles.size, warnings],
    [0, ['broker 2 is not in sync with 1 of its partitions and gets them when it is back']],
  )
  await other.fence.release({ topicId, verb: 'promote', plan, endOffsets: [0], configs: new Map() })
  strictEqual(leaderOf(other, 'invoices'), 1)
  await eventually(() => write(side, 'invoices', { acks: '1' }), patience)
  await cluster.node(2).start()
  await eventually(() => {
    const placed = topicOf(other, 'invoices')?.partitions[0]
    deepStrictEqual(
      [placed?.replicas, placed?.isr.toSorted()],
      [
        [1, 2],
        [1, 2],
      ],
    )
  }, patience)
})
