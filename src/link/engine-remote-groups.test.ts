/** Offsets that groups commit in the peer's mirrors come back to the source's groups (REMOTE_MIRROR), in the face of syncs in the other direction. */
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { batchAt, mirrorRequest } from './fakes/engine-world.ts'
import { type PeerCluster, PeerWorld } from './fakes/peer-clusters.ts'

type TopicTypes = readonly ('LOCAL_MIRROR' | 'REMOTE_MIRROR')[]

/** Properties that sync these groups; absent types: as the filter's default says. */
const syncing = (topicTypes: TopicTypes | undefined, name = '*', more: readonly object[] = []) => ({
  'consumer.offset.sync.enable': 'true',
  'consumer.offset.group.filters': JSON.stringify({
    groupFilters: [{ name, patternType: 'LITERAL', filterType: 'INCLUDE', ...(topicTypes && { topicTypes }) }, ...more],
  }),
})

const alter = (side: PeerCluster, configs: Record<string, string>) =>
  side.engine.alterLinkConfigs(
    'twin',
    Object.entries(configs).map(([name, value]) => ({ name, operation: 'SET' as const, value })),
    { validateOnly: false },
  )

/** East has ten orders, which west mirrors; each half syncs as given. */
async function mirrored(east: Record<string, string>, west: Record<string, string> = {}): Promise<PeerWorld> {
  const world = new PeerWorld()
  await world.start()
  world.east.cluster.addTopic('orders', 1)
  world.east.write('orders', batchAt(0, 10))
  await world.west.engine.createMirror('twin', mirrorRequest('orders'))
  await world.pass(1000)
  await alter(world.east, east)
  await alter(world.west, west)
  await world.pass(1000)
  return world
}

/** With an epoch as new clients commit it, or without as old ones. */
interface Committed {
  readonly offset: number
  readonly leaderEpoch?: number
}

const commit = ({ cluster }: PeerCluster, group: string, { offset, leaderEpoch = 3 }: Committed) =>
  cluster.commit(group, [{ topic: 'orders', partition: 0, offset, metadata: 'm', leaderEpoch }])

const committed = ({ cluster }: PeerCluster, group: string): number | undefined =>
  cluster.groups.get(group)?.offsets.get('orders/0')?.offset

const rows = ({ engine }: PeerCluster) =>
  engine.listGroupOffsets('twin').map(({ group, topicType, state, clamped }) => [group, topicType, state, clamped])

const both: TopicTypes = ['LOCAL_MIRROR', 'REMOTE_MIRROR']
const periodMs = 31_000

test('what a group commits at the mirror comes back to its source, with its metadata and without an epoch', async () => {
  const world = await mirrored(syncing(['REMOTE_MIRROR']))
  commit(world.west, 'billing', { offset: 7 })
  await world.pass(periodMs)
  const { offset, metadata, leaderEpoch } = world.east.cluster.groups.get('billing')?.offsets.get('orders/0') ?? {}
  deepEqual([offset, metadata, leaderEpoch], [7, 'of billing', undefined])
  deepEqual(rows(world.east), [['billing', 'REMOTE_MIRROR', 'SYNCED', false]])
  commit(world.west, 'billing', { offset: 2 })
  await world.pass(periodMs)
  equal(committed(world.east, 'billing'), 2)
  await world.stop()
})

test('it is held within what the source has, and is not written over what its own clients committed', async () => {
  const world = await mirrored(syncing(['REMOTE_MIRROR']))
  const log = world.east.cluster.topicNamed('orders')?.logs[0]
  if (log) log.logStartOffset = 4
  commit(world.west, 'slow', { offset: 1 })
  commit(world.west, 'shared', { offset: 8 })
  commit(world.east, 'shared', { offset: 5 })
  await world.pass(periodMs)
  deepEqual([committed(world.east, 'slow'), committed(world.east, 'shared')], [4, 5])
  deepEqual(rows(world.east), [
    ['shared', 'REMOTE_MIRROR', 'CONFLICT', false],
    ['slow', 'REMOTE_MIRROR', 'SYNCED', true],
  ])
  await world.east.engine.adoptGroup('twin', 'shared')
  await world.pass(periodMs)
  equal(committed(world.east, 'shared'), 8)
  await world.stop()
})

test('a filter without topicTypes is about mirrors here, one that excludes is about both', async () => {
  const exclude = { name: 'secret', patternType: 'LITERAL', filterType: 'EXCLUDE' }
  const world = await mirrored(syncing(undefined))
  for (const group of ['billing', 'secret']) commit(world.west, group, { offset: 7 })
  await world.pass(periodMs)
  equal(committed(world.east, 'billing'), undefined)
  await alter(world.east, syncing(both, '*', [exclude]))
  await world.pass(periodMs)
  deepEqual([committed(world.east, 'billing'), committed(world.east, 'secret')], [7, undefined])
  await world.stop()
})

// Each side would take the other's older value for news, and hand it back, for ever.
test('a group that both halves sync in both directions follows whoever consumes, and never swings', async () => {
  const world = await mirrored(syncing(both), syncing(both))
  const { east, west } = world
  commit(east, 'billing', { offset: 3 })
  await world.pass(periodMs)
  equal(committed(west, 'billing'), 3)
  // The consumer moves to the mirror; what it commits there is its own, and comes back once the link may write here.
  commit(west, 'billing', { offset: 6 })
  await world.pass(periodMs)
  deepEqual(rows(east), [['billing', 'REMOTE_MIRROR', 'CONFLICT', false]])
  await east.engine.adoptGroup('twin', 'billing')
  await world.pass(periodMs)
  deepEqual([committed(east, 'billing'), committed(west, 'billing')], [6, 6])
  commit(west, 'billing', { offset: 9 })
  await world.pass(periodMs)
  deepEqual([committed(east, 'billing'), committed(west, 'billing')], [9, 9])
  // And back to the source, where it goes on from there and then rewinds.
  commit(east, 'billing', { offset: 10 })
  await west.engine.adoptGroup('twin', 'billing')
  const seen = new Set<string>()
  for (let round = 0; round < 8; round++) {
    await world.pass(10_000)
    seen.add(`${committed(east, 'billing')} ${committed(west, 'billing')}`)
  }
  deepEqual([...seen].at(-1), '10 10')
  commit(east, 'billing', { offset: 6 })
  await world.pass(2 * periodMs)
  deepEqual([committed(east, 'billing'), committed(west, 'billing')], [6, 6])
  await world.stop()
})

test('what the other half may have written itself is listed, and left alone', async () => {
  const world = await mirrored(syncing(both), syncing(both))
  commit(world.west, 'old-client', { offset: 7, leaderEpoch: -1 })
  await world.pass(periodMs)
  equal(committed(world.east, 'old-client'), undefined)
  const [row] = world.east.engine.listGroupOffsets('twin')
  deepEqual([row?.group, row?.state], ['old-client', 'SYNCED_BY_PEER'])
  match(row?.reason ?? '', /exclude the group there/)
  // Distinct groups on each side: nothing is doubtful any more.
  await alter(world.west, syncing(['LOCAL_MIRROR'], 'another'))
  await world.pass(periodMs)
  equal(committed(world.east, 'old-client'), 7)
  await world.stop()
})

test('filters that change at a failover hold at once: nothing is written for a group that they leave out', async () => {
  const world = await mirrored(syncing(['REMOTE_MIRROR']), syncing(['LOCAL_MIRROR'], 'another'))
  const { east, west } = world
  commit(west, 'billing', { offset: 4 })
  await world.pass(periodMs)
  equal(committed(east, 'billing'), 4)
  await west.engine.alterMirrors('twin', 'failover', { selection: { names: ['orders'] }, validateOnly: false })
  await alter(east, syncing(['LOCAL_MIRROR']))
  commit(west, 'billing', { offset: 9 })
  await world.pass(periodMs)
  // The topic is nobody's mirror now, and the rows of the other direction are gone.
  deepEqual([committed(east, 'billing'), rows(east)], [4, []])
  const restored = await east.engine.alterMirrors('twin', 'truncate-and-restore', {
    selection: { names: ['orders'] },
    validateOnly: false,
  })
  equal(restored[0]?.errorMessage, null)
  await world.pass(periodMs)
  deepEqual([committed(east, 'billing'), rows(east)], [9, [['billing', 'LOCAL_MIRROR', 'SYNCED', false]]])
  await world.stop()
})

test('an offset that was read while the mirror was failed over is not taken: it may be in records that only the mirror has', async () => {
  const world = await mirrored(syncing(['REMOTE_MIRROR']))
  const { east, west } = world
  commit(west, 'billing', { offset: 9 })
  const { asSource } = west
  const published = Promise.withResolvers<void>()
  const read = asSource.groups.get.bind(asSource.groups)
  asSource.groups.get = group => {
    // From here on east is not told what west publishes until the mirror has stopped.
    asSource.silence = published.promise
    return read(group)
  }
  await world.pass(periodMs)
  asSource.groups.get = read
  await west.engine.alterMirrors('twin', 'failover', { selection: { names: ['orders'] }, validateOnly: false })
  await world.pass(1000)
  asSource.silence = undefined
  published.resolve()
  await world.pass(periodMs)
  equal(committed(east, 'billing'), undefined)
  await world.stop()
})

test('start offsets of share groups come back in the same way', async () => {
  const world = await mirrored(syncing(['REMOTE_MIRROR']))
  const { east, west } = world
  const at = (offset: number) => [{ topic: 'orders', partition: 0, offset, metadata: '' }]
  west.cluster.shareGroups.set('workers', { offsets: new Map(), hasMembers: true })
  for (const offset of at(5)) west.cluster.shareGroups.get('workers')?.offsets.set('orders/0', offset)
  await world.pass(periodMs)
  equal(east.cluster.shareGroups.get('workers')?.offsets.get('orders/0')?.offset, 5)
  const workers = east.cluster.shareGroups.get('workers')
  if (workers) workers.hasMembers = true
  for (const offset of at(8)) west.cluster.shareGroups.get('workers')?.offsets.set('orders/0', offset)
  await world.pass(periodMs)
  deepEqual(rows(east), [['workers', 'REMOTE_MIRROR', 'IN_USE', false]])
  await world.stop()
})

test('without the other half of the link the task says what is missing', async () => {
  const world = await mirrored(syncing(['REMOTE_MIRROR']))
  await world.west.engine.alterMirrors('twin', 'failover', { selection: { names: ['orders'] }, validateOnly: false })
  await world.west.engine.deleteLink('twin', { force: false, validateOnly: false })
  await world.pass(periodMs)
  const task = world.east.engine.describeLink('twin').tasks.find(({ name }) => name === 'ConsumerOffsetSync')
  deepEqual([task?.state, task?.errors.map(({ code }) => code)], ['IN_ERROR', ['REMOTE_LINK_NOT_FOUND_ERROR']])
  await world.stop()
})
