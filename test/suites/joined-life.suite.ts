/** The life of a joined Lockstep node as a process of its own, in complete Apache Kafka 4.3.1: restarted, hung, stopped, beside a Java broker that comes and goes. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { repositoryRoot } from '../cache.ts'
import { eventually } from '../eventually.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { startJoinedNode } from '../kafka/joined-node.ts'
import type { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'
import { type PartitionView, partitionsAt } from '../scenarios/broker-view.ts'

const skip = skipWithout('java')
const opened = new Opened()
after(() => opened.close())

const NODE_ID = 1001
const KAFKA_ID = 1
const CONTROLLER_ID = 100
/** The node makes it by itself. Topics of others are moved off its nodes. */
const TOPIC = '__lockstep_state'
/** Nothing here waits for a session to end, and a busy machine must not end one. */
const longSession = { 'broker.session.timeout.ms': '30000' }

interface Stage {
  readonly cluster: KafkaCluster
  readonly node: LockstepNode
}

let shared: Promise<Stage> | undefined

/** One cluster and one node for all tests of this suite, which go on from where the one before left. */
function stage(): Promise<Stage> {
  shared ??= prepare()
  return shared
}

async function prepare(): Promise<Stage> {
  const cluster = await opened.add(KafkaCluster.start({ version: '4.3.1', brokers: 1, properties: longSession }))
  const hook = join(repositoryRoot, 'test/kafka/hang-hook.ts')
  const node = await opened.add(
    startJoinedNode(cluster, { nodeId: NODE_ID, env: { NODE_OPTIONS: `--import=${hook}` } }),
  )
  const present = { cluster, node }
  await eventually(async () => deepStrictEqual((await asKafkaSees(present))?.isr.toSorted(), [KAFKA_ID, NODE_ID]))
  return present
}

const clusterPath = ({ clusterId }: LockstepNode): string => `/kafka/v3/clusters/${clusterId}`

/** The topic's only partition, as the Java broker tells it. */
const asKafkaSees = async ({ cluster }: Stage): Promise<PartitionView | undefined> =>
  (await partitionsAt(cluster.node(KAFKA_ID).address, TOPIC))[0]

async function isReady({ node }: Stage): Promise<void> {
  const { status, body } = await node.rest.request('GET', '/readyz')
  strictEqual(status, 200, JSON.stringify(body))
}

/** In sync with whoever leads. */
const isBack = async (present: Stage): Promise<void> => ok((await asKafkaSees(present))?.isr.includes(NODE_ID))

test('a node that has joined tells what it is, and cannot be removed while it is alive', { skip }, async () => {
  const { node } = await stage()
  await eventually(async () => {
    const { body } = await node.rest.request('GET', `${clusterPath(node)}/nodes`)
    const { data } = body as { data: Record<string, unknown>[] }
    deepStrictEqual(
      data.map(({ node_id, mode, cordoned, health }) => ({ node_id, mode, cordoned, health })),
      [{ node_id: NODE_ID, mode: 'JOINED', cordoned: true, health: 'HEALTHY' }],
    )
  })
  const metrics = await node.rest.request('GET', '/metrics')
  match(String(metrics.body), /^lockstep_membership_registered 1$/m)
  match(String(metrics.body), /^lockstep_membership_fenced 0$/m)
  const refused = await node.rest.request('DELETE', `${clusterPath(node)}/nodes/${NODE_ID}`)
  strictEqual(refused.status, 400)
  match(JSON.stringify(refused.body), /is alive/)
})

test('kill -9 and a restart within the session change no leader and no epoch', { skip }, async () => {
  const present = await stage()
  await eventually(async () => strictEqual((await asKafkaSees(present))?.leader, NODE_ID))
  const before = await asKafkaSees(present)
  await present.node.crash()
  match(present.node.output, /the session of the last life goes on/)
  const now = await asKafkaSees(present)
  deepStrictEqual([now?.leader, now?.leaderEpoch], [NODE_ID, before?.leaderEpoch])
})

test('a node that is started before the controllers are there waits for them', { skip }, async () => {
  const present = await stage()
  const controller = present.cluster.node(CONTROLLER_ID)
  await present.node.kill()
  await controller.kill()
  const started = present.node.start()
  started.catch(() => {})
  // It has nothing open in between: no connection, no listener.
  await eventually(() => match(present.node.output, /waiting for the controllers[\s\S]*waiting for the controllers/))
  await controller.start()
  await started
  await eventually(() => isBack(present))
})

test('a main thread that stands still loses its leaderships, and comes back when it goes on', { skip }, async () => {
  const present = await stage()
  await eventually(async () => strictEqual((await asKafkaSees(present))?.leader, NODE_ID))
  const before = await asKafkaSees(present)
  const { pid } = present.node
  ok(pid !== undefined, 'the node runs')
  process.kill(pid, 'SIGUSR2')
  await eventually(async () => strictEqual((await asKafkaSees(present))?.leader, KAFKA_ID))
  ok(((await asKafkaSees(present))?.leaderEpoch ?? 0) > (before?.leaderEpoch ?? 0))
  await eventually(async () => {
    match(present.node.output, /the main thread stood still/)
    await isReady(present)
    await isBack(present)
  })
})

test('SIGTERM hands the leaderships over, and the next life leads again once Kafka lets it register', {
  skip,
}, async () => {
  const present = await stage()
  await present.node.stop()
  match(present.node.output, /the leaderships of this node were handed over/)
  await eventually(async () => strictEqual((await asKafkaSees(present))?.leader, KAFKA_ID))
  await present.node.start()
  await eventually(() => isBack(present))
})

test('a Java broker is shut down in peace and comes back, since this node tells how far it has followed', {
  skip,
}, async () => {
  const present = await stage()
  const broker = present.cluster.node(KAFKA_ID)
  await broker.stop()
  // Written only after a controlled shutdown; one that hangs is killed after 30 s.
  ok(existsSync(join(broker.dataDirectory, '.kafka_cleanshutdown')))
  await broker.start()
  await eventually(async () => {
    await isReady(present)
    deepStrictEqual(new Set((await asKafkaSees(present))?.isr), new Set([KAFKA_ID, NODE_ID]))
  })
})
