// One link, both ways: what Java consumers and share consumers commit in a mirror comes back to its source, and nothing swings; filters change at a failover, and roles with them.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../eventually.ts'
import { JavaDriver } from '../java/driver.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'
import { agree, GroupEnd } from '../scenarios/group-ends.ts'
import { createTopic, type PeersWorld, startPeersWorld } from '../scenarios/peers-world.ts'

const skip = skipWithout('java')
const opened = new Opened()
after(() => opened.close())

interface Ends {
  readonly east: GroupEnd
  readonly west: GroupEnd
}
let ends: Ends | undefined

function both(): Ends {
  if (ends === undefined) throw new Error('the nodes did not start')
  return ends
}

const filter = (name: string, topicType: 'LOCAL_MIRROR' | 'REMOTE_MIRROR') => {
  return { name, patternType: 'PREFIXED', filterType: 'INCLUDE', topicTypes: [topicType] }
}
/** Wherever these groups read. */
const everywhere = (name: string) => [filter(name, 'LOCAL_MIRROR'), filter(name, 'REMOTE_MIRROR')]

before(async () => {
  if (skip !== false) return
  const [world, driver] = await opened.all<[PeersWorld, JavaDriver]>([
    startPeersWorld(),
    JavaDriver.start({ version: '4.3.1' }),
  ])
  const east = new GroupEnd(world.east, driver)
  const west = new GroupEnd(world.west, driver)
  ends = { east, west }
  for (const [source, mirror, topic] of [
    [east, west, 'orders'],
    [west, east, 'payments'],
  ] as const) {
    await createTopic(source.peer, topic, 2)
    for (const partition of [0, 1]) await source.side.write(topic, 30, { partition })
    await mirror.peer.link.mirror(topic)
    await inStep(source, mirror, topic)
  }
})

/** Every partition of the mirror ends where its source does. */
async function inStep(source: GroupEnd, mirror: GroupEnd, topic: string): Promise<void> {
  const endsOf = (end: GroupEnd) =>
    end.side
      .java<Record<string, { end: number }>>('consume', { topic })
      .then(read => Object.entries(read).map(([partition, found]) => [partition, found.end]))
  await eventually(async () => deepStrictEqual(await endsOf(mirror), await endsOf(source)))
}

/** Neither end writes anything while both look again. */
async function quiet({ east, west }: Ends): Promise<void> {
  await eventually(async () => {
    const before = [await east.written(), await west.written()]
    await Promise.all([east.rounds(), west.rounds()])
    deepStrictEqual([await east.written(), await west.written()], before)
  })
}

const range = (partition: string, from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `${partition}@${from + index}`)

test('what groups commit in mirrors comes back to the sources, both ways on one link, and nothing swings', {
  skip,
}, async () => {
  const { east, west } = both()
  const pair = [east, west] as const
  // Groups are called by the end at which they read: the other one takes over what they commit.
  await east.setFilters(everywhere('west-'))
  await west.setFilters(everywhere('east-'))
  const commit = { 'orders-0': 10, 'orders-1': 20 }
  await west.read('a', { group: 'west-app', topic: 'orders', count: 60, commit })
  await east.read('b', { group: 'east-app', topic: 'payments', count: 60, commit: { 'payments-0': 7 } })
  await west.read('i', { group: 'west-own', topic: 'payments', count: 60, commit: { 'payments-1': 8 } })
  await east.read('j', { group: 'east-own', topic: 'orders', count: 60, commit: { 'orders-1': 9 } })
  deepStrictEqual(await agree(pair, 'committed', 'west-app'), commit)
  deepStrictEqual(await agree(pair, 'committed', 'east-app'), { 'payments-0': 7 })
  deepStrictEqual(await agree(pair, 'committed', 'west-own'), { 'payments-1': 8 })
  deepStrictEqual(await agree(pair, 'committed', 'east-own'), { 'orders-1': 9 })
  await west.share('s', { group: 'west-jobs', topic: 'orders', count: 10 })
  await east.share('t', { group: 'east-jobs', topic: 'payments', count: 60 })
  await agree(pair, 'starts', 'west-jobs')
  await agree(pair, 'starts', 'east-jobs')
  await quiet(both())
  // Also where they go back.
  await west.read('c', { group: 'west-app', topic: 'orders', count: 30, commit: { 'orders-0': 4, 'orders-1': 20 } })
  deepStrictEqual(await agree(pair, 'committed', 'west-app'), { 'orders-0': 4, 'orders-1': 20 })
  // The group moves to the source: it goes on there where it was at the mirror.
  deepStrictEqual(await east.read('d', { group: 'west-app', topic: 'orders', count: 36 }), [
    ...range('orders-0', 4, 30),
    ...range('orders-1', 20, 30),
  ])
  await quiet(both())
})

test('a group that both ends sync in both directions comes to rest where its consumer is', { skip }, async () => {
  const { east, west } = both()
  for (const end of [east, west]) await end.setFilters(everywhere('moving'))
  // Its commits have an epoch: that is how they are told from what the other half writes.
  await west.read('m', { group: 'moving', topic: 'orders', count: 60 })
  deepStrictEqual(await agree([east, west], 'committed', 'moving'), { 'orders-0': 30, 'orders-1': 30 })
  for (const partition of [0, 1]) await east.side.write('orders', 5, { partition })
  await west.read('n', { group: 'moving', topic: 'orders', count: 10 })
  await quiet(both())
  deepStrictEqual(await agree([east, west], 'committed', 'moving'), { 'orders-0': 35, 'orders-1': 35 })
})

test('filters that change at a failover hold at once, and groups go on through it and through the return', {
  skip,
}, async () => {
  const { east, west } = both()
  const pair = [east, west] as const
  await east.setFilters([filter('west-', 'REMOTE_MIRROR')])
  await west.setFilters([filter('east-', 'LOCAL_MIRROR')])
  await east.read('e', { group: 'east-shop', topic: 'orders', count: 70, commit: { 'orders-0': 12, 'orders-1': 13 } })
  await west.read('f', { group: 'west-shop', topic: 'orders', count: 70, commit: { 'orders-0': 22, 'orders-1': 23 } })
  await agree(pair, 'committed', 'east-shop')
  await agree(pair, 'committed', 'west-shop')
  await west.peer.link.failOver(['orders'])
  for (const partition of [0, 1]) await west.side.write('orders', 10, { partition })
  // Both applications go on at west; what they commit there is their own.
  await west.setFilters([filter('nobody-', 'LOCAL_MIRROR')])
  deepStrictEqual(await west.read('g', { group: 'east-shop', topic: 'orders', count: 65 }), [
    ...range('orders-0', 12, 45),
    ...range('orders-1', 13, 45),
  ])
  // Who restores wants the groups of the cluster that went on.
  await east.setFilters([filter('west-', 'LOCAL_MIRROR'), filter('east-', 'LOCAL_MIRROR')])
  // The half of the other cluster is looked at now and then; before that there is nothing to restore from.
  await eventually(async () => {
    const cut = await east.peer.link.restore('orders')
    strictEqual(cut?.error_code, null, cut?.error_message ?? '')
  })
  await east.peer.link.waitForStatus('orders', 'ACTIVE')
  await inStep(west, east, 'orders')
  // Roles have changed: east has the mirror now.
  deepStrictEqual(await agree(pair, 'committed', 'east-shop'), { 'orders-0': 45, 'orders-1': 45 })
  deepStrictEqual(await agree(pair, 'committed', 'west-shop'), { 'orders-0': 22, 'orders-1': 23 })
  await west.setFilters([filter('east-', 'REMOTE_MIRROR')])
  await east.setFilters([filter('west-', 'LOCAL_MIRROR')])
  for (const partition of [0, 1]) await west.side.write('orders', 5, { partition })
  deepStrictEqual(await east.read('h', { group: 'east-shop', topic: 'orders', count: 10 }), [
    ...range('orders-0', 45, 50),
    ...range('orders-1', 45, 50),
  ])
  // At west its consumers were the last to commit, until somebody says that they have moved.
  await quiet(both())
  deepStrictEqual(await west.committed('east-shop'), { 'orders-0': 45, 'orders-1': 45 })
  await west.adopt('east-shop')
  deepStrictEqual(await agree(pair, 'committed', 'east-shop'), { 'orders-0': 50, 'orders-1': 50 })
  await quiet(both())
})
