/** The whole way there and back under load: mirrored, lost, failed over, restored and reversed, with clients of Java, librdkafka and KafkaJS. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, type TestContext, test } from 'node:test'
import { eventually } from '../eventually.ts'
import { JavaDriver } from '../java/driver.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'
import { lockstep } from '../scenarios/command-line.ts'
import { assertEqualTopics, waitUntilInStep } from '../scenarios/equality.ts'
import { FailbackLoad } from '../scenarios/failback-load.ts'
import {
  batchesOnDisk,
  type Peer,
  type PeersWorld,
  startPeersWorld,
  valuesOf,
  visibleIn,
} from '../scenarios/peers-world.ts'
import { WritersOfBoth } from '../scenarios/writers-of-both.ts'

const skip = skipWithout('java', 'python')
const topic = 'orders'
const partitions = [0, 1]
const opened = new Opened()
const writing: WritersOfBoth[] = []
let world: PeersWorld
let load: FailbackLoad

before(async () => {
  if (skip !== false) return
  const all = { groupFilters: [{ name: '*', patternType: 'LITERAL', filterType: 'INCLUDE' }] }
  const link = {
    'metadata.max.age.ms': '1000',
    'consumer.offset.sync.enable': 'true',
    'consumer.offset.sync.ms': '1000',
    'consumer.offset.group.filters': JSON.stringify(all),
  }
  const properties = { 'group.initial.rebalance.delay.ms': '0' }
  const [driver, peers] = await opened.all<[JavaDriver, PeersWorld]>([
    JavaDriver.start({ version: '4.3.1', heapMb: 384 }),
    startPeersWorld(link, properties),
  ])
  world = peers
  load = new FailbackLoad(driver, topic)
})
after(async () => {
  await Promise.all(writing.map(writers => writers.stop()))
  await opened.close()
})

const sides = () => ({ source: load.side(world.east), mirror: load.side(world.west) })

function writersOfBoth(name: string): WritersOfBoth {
  const places = [world.east, world.west].map(({ node: { bootstrap } }, index) => ({
    name: `${name} ${index}`,
    bootstrap,
  }))
  const writers = new WritersOfBoth(places, topic)
  writing.push(writers)
  return writers
}

const logsOf = (peer: Peer) => Promise.all(partitions.map(partition => batchesOnDisk(peer, topic, partition)))

/** Mirrored, read by groups, which both sides know of. */
async function mirrored(): Promise<void> {
  const { east, west } = world
  // The records are old, and none may go.
  await load.side(east).createTopic(topic, { partitions: partitions.length, configs: { 'retention.ms': '-1' } })
  await load.write(east, 'before')
  await west.link.mirror(topic)
  await waitUntilInStep(sides(), topic)
  await load.read(east, 12)
  await load.groupsInStep([east, west])
}

/** East dies with records that west never gets, west goes on; resolves to the writers, who go on too. */
async function lost(): Promise<WritersOfBoth> {
  const { east, west } = world
  // What the mirror never gets, and what comes while the source dies.
  const first = writersOfBoth('first')
  await eventually(() => ok(first.acknowledged.length > 10))
  await west.link.must('pause', [topic])
  await west.link.waitForStatus(topic, 'PAUSED')
  await load.write(east, 'tail')
  await east.node.kill()
  await west.link.failOver([topic])
  await eventually(() => ok(first.acknowledged.some(({ at }) => at === 'first 1')))
  await load.write(west, 'without')
  await load.read(west, 12)
  return first
}

/** East comes back, and is cut to what west has; resolves to the values that were cut off. */
async function restored(first: WritersOfBoth): Promise<string[]> {
  const { east, west } = world
  const exported: string[] = []
  // Its old producers come back to it before anybody restores it.
  const early = first.acknowledged.length
  await east.node.start()
  await eventually(() => ok(first.acknowledged.slice(early).some(({ at }) => at === 'first 0')))
  await first.stop()
  const common = (await west.link.describe(topic)) as unknown as { stop_points: { stop_offset: number }[] }
  const cutOff = (await logsOf(east)).map((batches, partition) =>
    batches
      .filter(({ baseOffset }) => baseOffset >= (common.stop_points[partition]?.stop_offset ?? 0))
      .reduce((sum, { records }) => sum + records, 0),
  )
  const row = await eventually(async () => {
    const answer = await east.link.restore(topic, { export_divergent: true })
    strictEqual(answer?.error_code, null, answer?.error_message ?? '')
    return answer
  })
  deepStrictEqual(
    row?.partition_level_truncation_data?.map(({ messages_truncated: count }) => count),
    cutOff,
  )
  await east.link.waitForStatus(topic, 'ACTIVE')
  await load.write(west, 'restored')
  await waitUntilInStep(sides(), topic)
  const [, listed = ''] = (await east.link.history(topic)).flatMap(
    ({ reason }) => /exported to (.*)$/.exec(reason) ?? [],
  )
  for (const path of listed.split(', ')) exported.push(...visibleIn([await readFile(path)]).map(({ value }) => value))
  return exported
}

/** East takes over again, under load; resolves to the writers, who have ended. */
async function reversed(t: TestContext): Promise<WritersOfBoth> {
  const { east, west } = world
  await load.groupsInStep([west, east])
  const second = writersOfBoth('second')
  await eventually(() => ok(second.acknowledged.length > 10))
  const args = ['mirror', 'reverse-and-start', topic, '--link', 'twin', '--force', '--wait=120s']
  const { status, stderr } = await lockstep(east.node, args)
  strictEqual(status, 0, stderr)
  const [window] = /Nobody could write for .*/.exec(stderr) ?? []
  t.diagnostic(window ?? '')
  match(stderr, /Nobody could write for \d+ ms/)
  await eventually(() => ok(second.acknowledged.some(({ at }) => at === 'second 0')))
  await second.stop()
  await load.write(east, 'back')
  return second
}

test('a source is lost under load, its mirror goes on, and it comes back without a record or an offset lost', {
  skip,
}, async (t: TestContext) => {
  const { east } = world
  await mirrored()
  const first = await lost()
  const exported = await restored(first)
  const second = await reversed(t)
  await assertEqualTopics(sides(), topic)
  const kept = new Set([...(await valuesOf(east, topic)), ...exported])
  const acknowledged = [
    ...load.acknowledged,
    ...[...first.acknowledged, ...second.acknowledged].map(({ value }) => value),
  ]
  deepStrictEqual(
    acknowledged.filter(value => !kept.has(value)),
    [],
    'acknowledged records are neither there nor exported',
  )
  deepStrictEqual(
    load.aborted.filter(value => kept.has(value)),
    [],
    'records of aborted transactions can be read',
  )
  await load.readAll(east)
  t.diagnostic(`${acknowledged.length} acknowledged, ${exported.length} of them in the exported tail`)
})
