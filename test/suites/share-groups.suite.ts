// A share group under kill -9 of the node and of its members: every record is accepted, none twice, counts are kept, locks run out.
import { deepStrictEqual, notDeepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, type TestContext, test } from 'node:test'
import { type Random, seededRandom } from '../../src/core/random.ts'
import { eventually } from '../eventually.ts'
import { JavaDriver } from '../java/driver.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'
import { chosenRounds, chosenSeed, integerBelow } from '../scenarios/chance.ts'
import { accountOf, checkAccount, missingFrom, ShareConsumers, type ShareLoadPlace } from '../scenarios/share-load.ts'

const opened = new Opened()
after(() => opened.close())

const COUNT_MAX = 10
const TOPIC = 'shared'
const GROUP = 'sharers'
const patient = { timeoutMs: 240_000, intervalMs: 200 }

const properties = {
  'offsets.topic.num.partitions': '2',
  'share.coordinator.state.topic.num.partitions': '2',
  // Snapshots among the updates.
  'share.coordinator.snapshot.update.records.per.snapshot': '20',
  'group.share.delivery.count.limit': String(COUNT_MAX),
  'group.share.min.record.lock.duration.ms': '1000',
  'group.share.record.lock.duration.ms': '5000',
}

interface Scene {
  readonly node: LockstepNode
  readonly driver: JavaDriver
  readonly place: ShareLoadPlace
  readonly random: Random
  readonly written: string[]
  readonly consumers: ShareConsumers[]
}

async function setScene(t: TestContext): Promise<Scene> {
  const seed = chosenSeed()
  t.diagnostic(`LOCKSTEP_SEED=${seed}`)
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-shares-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const [node, driver] = await opened.all<[LockstepNode, JavaDriver]>([
    LockstepNode.start({ properties, patienceMs: 240_000 }),
    JavaDriver.start({ version: '4.3.1', heapMb: 256 }),
  ])
  const { bootstrap } = node
  await driver.call('create-topics', { bootstrap, topics: [{ name: TOPIC, partitions: 2, replicationFactor: 1 }] })
  const set = { 'share.auto.offset.reset': 'earliest' }
  await driver.call('alter-configs', { bootstrap, type: 'group', name: GROUP, set })
  const place = { bootstrap, topic: TOPIC, group: GROUP, folder }
  return { node, driver, place, random: seededRandom(seed), written: [], consumers: [] }
}

async function addConsumers(scene: Scene): Promise<ShareConsumers> {
  const { consumers, place, random } = scene
  const added = ShareConsumers.start(place, { name: `ledger-${consumers.length}`, seed: integerBelow(1e6, random) })
  consumers.push(await opened.add(added))
  return added
}

/** Resolves when all are acknowledged; the producer goes on while the node is away. */
async function write({ driver, place, written }: Scene, count: number): Promise<void> {
  const { bootstrap, topic } = place
  const values = Array.from({ length: count }, (_, index) => `v${written.length + index}`)
  const records = values.map(value => ({ key: value, value }))
  const properties = { 'delivery.timeout.ms': '400000', 'max.block.ms': '400000' }
  await driver.call('produce', { bootstrap, topic, records, batch: 10, properties })
  written.push(...values)
}

/** Waits until the group is done with at least so many of the records. */
const isDone = (scene: Scene, missingMax: number): Promise<void> =>
  eventually(async () => {
    const account = await accountOf(scene.consumers)
    const missing = missingFrom(account, scene.written, COUNT_MAX)
    const said = `${missing.length} of ${scene.written.length} are missing: ${missing.slice(0, 10)}`
    ok(missing.length <= missingMax, `${said}\n${account.exceptions.slice(-5).join('\n')}\n${scene.node.output}`)
  }, patient)

/** The members stand still while the node starts: on a busy machine their attempts to connect would take its time. */
async function crash({ node, consumers }: Scene): Promise<void> {
  await node.kill()
  for (const one of consumers) one.freeze()
  await node.start()
  for (const one of consumers) one.thaw()
}

test('a share group loses no record and accepts none twice while its node and its members are killed', {
  skip: skipWithout('java'),
}, async (t: TestContext) => {
  const scene = await setScene(t)
  const { random } = scene
  const steady = await addConsumers(scene)
  let doomed = await addConsumers(scene)
  await write(scene, 50)
  await isDone(scene, 0)
  for (let round = 0; round < chosenRounds(2); round++) {
    const writing = write(scene, 100)
    await isDone(scene, integerBelow(80, random))
    await crash(scene)
    await writing
    const more = write(scene, 60)
    await isDone(scene, integerBelow(50, random))
    await doomed.close()
    doomed = await addConsumers(scene)
    await more
  }
  await isDone(scene, 0)
  t.diagnostic('locks of members that stand still run out')
  doomed.freeze()
  await write(scene, 100)
  await isDone(scene, 0)
  doomed.thaw()
  deepStrictEqual([...(await steady.stop()), ...(await doomed.stop())], [])
  const account = await accountOf(scene.consumers)
  checkAccount(account, scene.written, COUNT_MAX)
  const deliveries = [...account.delivered.values()].reduce((sum, counts) => sum + counts.length, 0)
  t.diagnostic(`${scene.written.length} records, ${deliveries} deliveries, ${account.rejected.size} rejected`)
  await checkRecords(scene)
})

/** Kafka's decoder reads what the share coordinator wrote. */
async function checkRecords({ node, driver }: Scene): Promise<void> {
  await node.stop()
  const files: string[] = []
  for (const partition of [0, 1]) {
    const folder = join(node.dataDirectory, `__share_group_state-${partition}`)
    ok(existsSync(folder))
    files.push(...(await readdir(folder)).filter(name => name.endsWith('.log')).map(name => join(folder, name)))
  }
  const args = ['--share-group-state-decoder', '--print-data-log']
  const { output, problems } = await driver.call<{ output: string[]; problems: string }>('dump-log', { files, args })
  strictEqual(problems, '')
  const kinds = new Map<string, number>()
  for (const line of output) {
    const kind = /key: \{"type":"?(\w+)/.exec(line)?.[1]
    if (kind) kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  }
  notDeepStrictEqual([...kinds], [], output.slice(0, 20).join('\n'))
  ok(
    output.some(line => line.includes('"deliveryCompleteCount"')),
    output.slice(0, 20).join('\n'),
  )
}
