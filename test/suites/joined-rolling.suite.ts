/** Mirrors in a complete Apache Kafka 4.3.1 whose controllers, voters of a dynamic quorum, die, hang, are restarted one by one like its brokers, and leave, under load; and the order in which it is upgraded. */
import { deepStrictEqual, match, notStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, type TestContext, test } from 'node:test'
import { seededRandom } from '../../src/core/random.ts'
import { eventually } from '../eventually.ts'
import type { LockstepNode } from '../lockstep-process.ts'
import { skipWithout } from '../requirements.ts'
import { activeControllerAt, partitionsAt } from '../scenarios/broker-view.ts'
import { chosenSeed } from '../scenarios/chance.ts'
import { assertEqualTopics } from '../scenarios/equality.ts'
import { type JoinedWorld, startJoinedWorld } from '../scenarios/joined-world.ts'
import { Load } from '../scenarios/load.ts'
import type { MirrorLink } from '../scenarios/mirror-link.ts'

const skip = skipWithout('java')
const NODE_ID = 1001
const TOPIC = 'orders'
const PARTITIONS = 2
/** Only with it do the controllers know a `metadata.version` that is newer than what the node understands. */
const unstable = { 'unstable.feature.versions.enable': 'true' }
const UNKNOWN_LEVEL = 31

interface ToolAnswer {
  readonly status: number
  readonly out: string
  readonly err: string
}

let world: JoinedWorld
let node: LockstepNode
let link: MirrorLink
let load: Load

before(async () => {
  if (skip !== false) return
  const properties = { 'default.replication.factor': '2', ...unstable }
  world = await startJoinedWorld({ controllers: 3, quorum: 'dynamic', format: ['-r', '4.3-IV0'], properties })
  node = await world.join({ nodeId: NODE_ID })
  await world.there.createTopic(TOPIC, { partitions: PARTITIONS })
  link = await eventually(() => world.link(node, { 'metadata.max.age.ms': '1000' }))
  await link.mirror(TOPIC)
  const seed = chosenSeed()
  load = new Load(world.there, { topics: [TOPIC], partitions: PARTITIONS, random: seededRandom(seed) })
})
after(async () => {
  await load?.stop()
  await world?.close()
})

const leaderships = async (broker = 1) =>
  (await partitionsAt(world.cluster.node(broker).address, TOPIC)).map(({ leader, leaderEpoch }) => ({
    leader,
    leaderEpoch,
  }))

/** Everybody has everything, and the node leads. */
async function isWhole(): Promise<void> {
  for (const { leader, isr } of await partitionsAt(world.cluster.node(1).address, TOPIC))
    deepStrictEqual({ leader, isr: isr.toSorted((a, b) => a - b) }, { leader: NODE_ID, isr: [1, 2, NODE_ID] })
}

/** More is mirrored, and committed: brokers follow. */
async function goesOn(): Promise<void> {
  const ends = async () =>
    (await world.here.describe(TOPIC)).partitions.reduce((sum, { highWatermark }) => sum + highWatermark, 0)
  const before = await ends()
  await eventually(async () => ok((await ends()) > before))
}

const activeController = (): Promise<number> => eventually(() => activeControllerAt(world.cluster.node(1).address))

/** Of the three, while one of them is out of order. */
async function otherThan(lost: number): Promise<number> {
  return await eventually(async () => {
    const active = await activeControllerAt(world.cluster.node(1).address)
    notStrictEqual(active, lost)
    return active
  })
}

test('an active controller that is killed, and one that hangs, cost no leadership', { skip }, async () => {
  await eventually(isWhole)
  const before = await leaderships()
  const killed = await activeController()
  await world.cluster.node(killed).kill()
  await otherThan(killed)
  await goesOn()
  // The new one knows the node: it registers nothing that a broker in its place would not.
  await world.there.createTopic('created-meanwhile')
  await link.mirror('created-meanwhile')
  await world.cluster.node(killed).start()

  const hung = await activeController()
  world.cluster.node(hung).freeze()
  await otherThan(hung)
  await goesOn()
  await link.ask('pause', ['created-meanwhile'])
  world.cluster.node(hung).thaw()
  await link.waitForStatus('created-meanwhile', 'PAUSED')
  deepStrictEqual(await leaderships(), before)
})

test('brokers and controllers are restarted one by one under load, and every replica equals the source', {
  skip,
}, async () => {
  const { cluster, there, copies, replica } = world
  for (const { id, isBroker, dataDirectory } of cluster.nodes) {
    await cluster.node(id).stop()
    // Written only after a controlled shutdown, which waits for all brokers to follow the metadata.
    if (isBroker) ok(existsSync(join(dataDirectory, '.kafka_cleanshutdown')), `${id} was shut down in peace`)
    await goesOn()
    await cluster.node(id).start()
    await eventually(isWhole)
  }
  await load.stop()
  for (const { leader } of await leaderships()) strictEqual(leader, NODE_ID)
  await assertEqualTopics({ source: there, mirror: copies(node), replicas: [replica(1), replica(2)] }, TOPIC)
})

test('an active controller that is taken out of the quorum costs no leadership, and the node joins without it', {
  skip,
}, async () => {
  const { cluster, there } = world
  const before = await leaderships()
  const removed = await activeController()
  const properties = await readFile(join(cluster.node(removed).dataDirectory, 'meta.properties'), 'utf8')
  const [, directory = ''] = /^directory\.id=(.*)$/m.exec(properties) ?? []
  const ids = ['--controller-id', String(removed), '--controller-directory-id', directory]
  const args = ['--bootstrap-server', cluster.bootstrap, 'remove-controller', ...ids]
  const tool = 'org.apache.kafka.tools.MetadataQuorumCommand'
  const { status, out, err } = await there.driver.call<ToolAnswer>('run-tool', { tool, args })
  strictEqual(status, 0, `${out}${err}`)
  await otherThan(removed)
  await there.createTopic('created-after')
  await link.mirror('created-after')
  deepStrictEqual(await leaderships(), before)
  await cluster.node(removed).kill()
  await node.crash()
  await eventually(isWhole)
  deepStrictEqual(await leaderships(), before)
})

test('a `metadata.version` that the node does not know is refused in its name', {
  skip,
}, async (t: TestContext) => {
  const { cluster, there } = world
  const upgrade = async () => {
    const args = ['--bootstrap-server', cluster.bootstrap, 'upgrade', '--feature', `metadata.version=${UNKNOWN_LEVEL}`]
    const answer = await there.driver.call<ToolAnswer>('run-tool', {
      tool: 'org.apache.kafka.tools.FeatureCommand',
      args,
    })
    t.diagnostic(`${answer.out}${answer.err}`)
    return answer
  }
  const refused = await upgrade()
  strictEqual(refused.status, 1)
  match(`${refused.out}${refused.err}`, new RegExp(`Broker ${NODE_ID} only supports versions`))
  await eventually(isWhole)
})
