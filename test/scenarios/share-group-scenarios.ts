// Share groups of a real Kafka continue on the mirror cluster: their start offsets follow, and when the mirror has stopped a Java share consumer begins there; the suites of share groups run them.
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../eventually.ts'
import { skipWithout } from '../requirements.ts'
import type { DestinationPlan } from './destination.ts'
import { oneByOne } from './directory-content.ts'
import { waitUntilInStep } from './equality.ts'
import { fromEarliest } from './from-earliest.ts'
import { type MirrorWorld, startMirrorWorld } from './mirror-world.ts'
import type { TopicSide } from './topic-side.ts'

const skip = skipWithout('java')
const groupFilters = [
  { name: 'workers', patternType: 'PREFIXED', filterType: 'INCLUDE' },
  { name: 'workers-private', patternType: 'LITERAL', filterType: 'EXCLUDE' },
]
const syncing = {
  'consumer.offset.sync.enable': 'true',
  'consumer.offset.sync.ms': '1000',
  'consumer.offset.group.filters': JSON.stringify({ groupFilters }),
}
const topic = 'jobs'
const patient = { timeoutMs: 120_000 }
let world: MirrorWorld

const produce = (side: TopicSide, from: number, to: number) =>
  side.produce(topic, {
    batch: 1,
    records: Array.from({ length: to - from }, (_, index) => ({ value: `v${from + index}` })),
  })

const consume = (side: TopicSide, group: string, count: number): Promise<readonly string[]> =>
  side.call('share-consume', { group, topic, count, properties: oneByOne })

const earliest = (side: TopicSide, name: string) => fromEarliest(args => side.call('admin-topics', args), name)

const values = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `${from + index} v${from + index}`)

const startsAt = (side: TopicSide, group: string): Promise<Record<string, number>> =>
  side.call('admin-groups', { op: 'share-offsets', group })

/** Waits until the group starts here where it does at the source, which moves the start with the next acknowledgement. */
const inStep = (group: string): Promise<number> =>
  eventually(async () => {
    const { 'jobs-0': there } = await startsAt(world.sides.source, group)
    deepStrictEqual((await startsAt(world.sides.mirror, group))['jobs-0'], there)
    return there ?? -1
  }, patient)

interface GroupRow {
  readonly group_id: string
  readonly synced_offset: number | null
  readonly source_offset: number
  readonly state: string
  readonly reason: string | null
}

async function rowOf(group: string): Promise<GroupRow | undefined> {
  const answer = await world.node.rest.call('GET', `/links/${world.link.name}/groups`)
  return (answer as { data: GroupRow[] }).data.find(row => row.group_id === group)
}

/** It is told when the round ends that has synced it. */
const isTold = (group: string, offset: number): Promise<void> =>
  eventually(async () => {
    const row = await rowOf(group)
    deepStrictEqual([row?.state, row?.synced_offset, row?.source_offset], ['SYNCED', offset, offset])
  }, patient)

/** Which cluster they end up in, and how the mirror is stopped. */
export interface ShareGroupScenarios {
  readonly destination?: DestinationPlan
  readonly stop: 'promote' | 'failover'
}

export function shareGroupScenarios({ destination, stop }: ShareGroupScenarios): void {
  before(async () => {
    if (skip !== false) return
    world = await startMirrorWorld('4.3.1', { link: syncing, destination })
    const { sides, link } = world
    await sides.source.createTopic(topic, { partitions: 1 })
    await produce(sides.source, 0, 10)
    await link.mirror(topic)
    await waitUntilInStep(sides, topic)
  })
  after(() => world?.close())

  test('the start of a share group follows its source; groups that the filters leave out are not made', {
    skip,
  }, async () => {
    const { source, mirror } = world.sides
    for (const group of ['workers', 'workers-private']) {
      await earliest(source, group)
      deepStrictEqual(await consume(source, group, 4), values(0, 4))
    }
    const first = await inStep('workers')
    ok(first > 0, `starts at ${first}`)
    await isTold('workers', first)
    deepStrictEqual(await consume(source, 'workers', 2), values(4, 6))
    ok((await inStep('workers')) > first)
    deepStrictEqual(await startsAt(mirror, 'workers-private'), {})
    const path = `/links/${world.link.name}?include_tasks=true`
    const { tasks } = (await world.node.rest.call('GET', path)) as { tasks: { task_name: string; state: string }[] }
    strictEqual(tasks.find(task => task.task_name === 'ShareGroupOffsetSync')?.state, 'ACTIVE')
  })

  test('a share group that reads the mirror is left alone and listed, and so is a group of another type', {
    skip,
  }, async () => {
    const { source, mirror } = world.sides
    const member = (op: string, args: object = {}) => mirror.call('share-consumer', { id: 'member', op, ...args })
    await earliest(mirror, 'workers-busy')
    await member('open', { properties: { 'group.id': 'workers-busy' } })
    await member('subscribe', { topics: [topic] })
    await member('take', { count: 10 })
    await mirror.call('admin-groups', { op: 'alter-offsets', group: 'workers-typed', offsets: { 'jobs-0': 1 } })
    for (const group of ['workers-busy', 'workers-typed']) {
      await earliest(source, group)
      await consume(source, group, 3)
    }
    await eventually(async () => {
      const busy = await rowOf('workers-busy')
      // In use while its member is there; where that one has come to is its own in any case.
      ok(busy?.state === 'IN_USE' || busy?.state === 'CONFLICT', busy?.state)
      strictEqual((await rowOf('workers-typed'))?.state, 'OTHER_TYPE')
    }, patient)
    await member('close')
  })

  test(`after a ${stop} a share consumer goes on where its group was at the source`, { skip }, async () => {
    const { sides, link, cluster } = world
    await produce(sides.source, 10, 14)
    await waitUntilInStep(sides, topic)
    const start = await inStep('workers')
    if (stop === 'failover') await cluster.node(1).kill()
    await link.must(stop, [topic])
    await link.waitForStatus(topic, 'STOPPED')
    deepStrictEqual(await startsAt(sides.mirror, 'workers'), { 'jobs-0': start })
    await produce(sides.mirror, 14, 16)
    deepStrictEqual(await consume(sides.mirror, 'workers', 16 - start), values(start, 16))
  })
}
