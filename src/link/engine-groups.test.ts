/** Group offsets follow the source: clamped to what is there, never over somebody else's, through crashes and promotes. */
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { batchAt, mirrorRequest } from './fakes/engine-world.ts'
import { commitAtSource, here, mirroring, round, rows, syncing } from './fakes/groups-world.ts'

test('committed offsets arrive, also when they go back, clamped to what the mirror has', async () => {
  const world = await mirroring()
  commitAtSource(world, 'billing', { 'orders/0': 7, 'orders/1': 9, 'other/0': 1 })
  commitAtSource(world, 'secret-audit', { 'orders/0': 7 })
  await round(world)
  deepEqual(here(world, 'billing'), { 'orders/0': 7, 'orders/1': 4 })
  deepEqual(here(world, 'secret-audit'), {})
  deepEqual(rows(world), [
    ['billing', 0, 'SYNCED', false],
    ['billing', 1, 'SYNCED', true],
  ])
  const offsets = world.cluster.groups.get('billing')?.offsets
  deepEqual([offsets?.get('orders/0')?.metadata, offsets?.get('orders/1')?.metadata], ['of billing', ''])
  commitAtSource(world, 'billing', { 'orders/0': 2, 'orders/1': 9 })
  world.source.topics.get('orders')?.partitions[1]?.append(batchAt(4, 20))
  await world.mirrorAll()
  await round(world)
  deepEqual(here(world, 'billing'), { 'orders/0': 2, 'orders/1': 9 })
  await world.engine.stop()
})

test('offsets that a link wrote are not beyond the end of a mirror that lost data before its failover', async () => {
  const world = await mirroring()
  commitAtSource(world, 'billing', { 'orders/0': 7, 'orders/1': 4 })
  await round(world)
  world.cluster.commit('own', [{ topic: 'orders', partition: 0, offset: 9, metadata: '' }])
  const [first, second] = world.cluster.topicNamed('orders')?.logs ?? []
  ok(first && second)
  Object.assign(first, { flushedOffset: 0 })
  Object.assign(second, { flushedOffset: 4 })
  world.source.failure = { failure: 'tcp', message: 'connection refused' }
  await world.start()
  const selection = { names: ['orders'] }
  // The coordinator of the group loads for a moment.
  world.process.failNext('commit group offsets', new Error('it loads'))
  const answer = world.engine.alterMirrors('west', 'failover', { selection, validateOnly: false })
  await world.settle()
  world.process.failNext('commit group offsets', undefined)
  await world.clock.advance(1000)
  const [row] = await answer
  equal(row?.errorMessage, null)
  deepEqual([first.logEndOffset, second.logEndOffset], [0, 4])
  deepEqual(here(world, 'billing'), { 'orders/0': 0, 'orders/1': 4 })
  deepEqual(here(world, 'own'), { 'orders/0': 9 })
  await world.engine.stop()
})

// One log that could not be opened used to fail the round of all topics.
test('a mirror whose log cannot be reached now is left for the next round, and no other waits for it', async () => {
  const world = await mirroring()
  world.source.addTopic('other', 1).partitions[0]?.append(batchAt(0, 5))
  await world.engine.createMirror('west', mirrorRequest('other'))
  await world.mirrorAll()
  commitAtSource(world, 'billing', { 'orders/0': 7, 'other/0': 1 })
  await round(world)
  world.cluster.unreachable.add('orders')
  commitAtSource(world, 'billing', { 'orders/0': 8, 'other/0': 2 })
  await round(world)
  deepEqual(here(world, 'billing'), { 'orders/0': 7, 'other/0': 2 })
  deepEqual(
    world.engine.listGroupOffsets('west').map(({ topic, state }) => [topic, state]),
    [
      ['orders', 'SYNCED'],
      ['other', 'SYNCED'],
    ],
  )
  const [task] = world.engine.describeLink('west').tasks.filter(({ name }) => name === 'ConsumerOffsetSync')
  match(task?.errors[0]?.message ?? '', /^topic orders: the node that leads orders-\d does not answer/)
  world.cluster.unreachable.clear()
  await round(world)
  deepEqual(here(world, 'billing'), { 'orders/0': 8, 'other/0': 2 })
  await world.engine.stop()
})

test('a group with members here, and offsets that somebody else committed, are left alone and listed', async () => {
  const world = await mirroring()
  world.cluster.groups.set('live', { offsets: new Map(), hasMembers: true })
  world.cluster.commit('foreign', [{ topic: 'orders', partition: 0, offset: 3, metadata: '' }])
  commitAtSource(world, 'live', { 'orders/0': 5 })
  commitAtSource(world, 'foreign', { 'orders/0': 5, 'orders/1': 1 })
  await round(world)
  deepEqual(here(world, 'live'), {})
  deepEqual(here(world, 'foreign'), { 'orders/0': 3, 'orders/1': 1 })
  deepEqual(rows(world), [
    ['foreign', 0, 'CONFLICT', false],
    ['foreign', 1, 'SYNCED', false],
    ['live', 0, 'IN_USE', false],
  ])
  await rejects(world.engine.adoptGroup('west', 'nobody'), /has no offsets in topics that are synced/)
  equal(await world.engine.adoptGroup('west', 'foreign'), 2)
  await world.settle()
  deepEqual(here(world, 'foreign'), { 'orders/0': 5, 'orders/1': 1 })
  await world.engine.stop()
})

test('what was written before a restart is still ours, and what a client commits then is not', async () => {
  const world = await mirroring()
  commitAtSource(world, 'billing', { 'orders/0': 5 })
  await round(world)
  for (const log of world.cluster.topicNamed('orders')?.logs ?? []) log.flushedOffset = log.logEndOffset
  await world.start()
  commitAtSource(world, 'billing', { 'orders/0': 6 })
  await round(world)
  deepEqual(here(world, 'billing'), { 'orders/0': 6 })
  world.cluster.commit('billing', [{ topic: 'orders', partition: 0, offset: 1, metadata: '' }])
  commitAtSource(world, 'billing', { 'orders/0': 7 })
  await round(world)
  deepEqual(here(world, 'billing'), { 'orders/0': 1 })
  deepEqual(rows(world), [['billing', 0, 'CONFLICT', false]])
  await world.engine.stop()
})

// It counted as the link's own for as long as no other was written, since a crash could have left it.
test('what somebody sets back to the value before the last is left alone', async () => {
  const world = await mirroring()
  for (const offset of [5, 6]) {
    commitAtSource(world, 'billing', { 'orders/0': offset })
    await round(world)
  }
  world.cluster.commit('billing', [{ topic: 'orders', partition: 0, offset: 5, metadata: '' }])
  commitAtSource(world, 'billing', { 'orders/0': 7 })
  await round(world)
  deepEqual(here(world, 'billing'), { 'orders/0': 5 })
  deepEqual(rows(world), [['billing', 0, 'CONFLICT', false]])
  await world.engine.stop()
})

test('a kill between the record and the commit leaves a group that is still followed', async () => {
  for (const side of ['before', 'after'] as const)
    for (let at = 0; at < 2; at++) {
      const world = await mirroring()
      for (const log of world.cluster.topicNamed('orders')?.logs ?? []) log.flushedOffset = log.logEndOffset
      commitAtSource(world, 'billing', { 'orders/0': 2 })
      await round(world)
      commitAtSource(world, 'billing', { 'orders/0': 5 })
      world.process.planCrash({ at, side })
      await round(world)
      equal(world.process.killed, true)
      await world.start()
      commitAtSource(world, 'billing', { 'orders/0': 8 })
      await round(world)
      deepEqual(here(world, 'billing'), { 'orders/0': 8 }, `${side} ${at}: ${world.process.effects}`)
      await world.engine.stop()
    }
})

test('an unchanged offset is written again before it would expire, and one that expired comes back', async () => {
  const world = await mirroring()
  commitAtSource(world, 'quiet', { 'orders/0': 5 })
  await round(world)
  const commits = () => world.process.effects.filter(effect => effect === 'commit group offsets').length
  const before = commits()
  await round(world)
  equal(commits(), before)
  await world.clock.advance(6 * 60_000)
  await world.settle()
  ok(commits() > before)
  world.cluster.groups.delete('quiet')
  await round(world)
  deepEqual(here(world, 'quiet'), { 'orders/0': 5 })
  await world.engine.stop()
})

test('groups of a prefixed link may be prefixed, and are not without being asked for', async () => {
  const prefixed = { ...syncing, 'cluster.link.prefix': 'eu.', 'consumer.group.prefix.enable': 'true' }
  const world = await mirroring(prefixed)
  commitAtSource(world, 'billing', { 'orders/0': 5 })
  await round(world)
  deepEqual(here(world, 'eu.billing'), { 'eu.orders/0': 5 })
  await world.engine.stop()
})

test('without filters the task says that it is misconfigured; without the sync it is not configured', async () => {
  const world = await mirroring({ 'consumer.offset.sync.enable': 'true' })
  await round(world)
  const task = () => world.engine.describeLink('west').tasks.find(({ name }) => name === 'ConsumerOffsetSync')
  deepEqual([task()?.state, task()?.errors[0]?.code], ['IN_ERROR', 'MISCONFIGURATION_ERROR'])
  const off = { name: 'consumer.offset.sync.enable', operation: 'SET', value: 'false' } as const
  await world.engine.alterLinkConfigs('west', [off], { validateOnly: false })
  await world.settle()
  deepEqual([task()?.state, task()?.reason], ['NOT_CONFIGURED', 'consumer.offset.sync.enable is false.'])
  const shares = world.engine.describeLink('west').tasks.find(({ name }) => name === 'ShareGroupOffsetSync')
  equal(shares?.reason, 'consumer.offset.sync.enable is false.')
  await world.engine.stop()
})

test('a promote brings groups in step first, and names those that it could not', async () => {
  const world = await mirroring()
  await round(world)
  commitAtSource(world, 'billing', { 'orders/0': 5 })
  commitAtSource(world, 'live', { 'orders/0': 5 })
  world.cluster.groups.set('live', { offsets: new Map(), hasMembers: true })
  const selection = { names: ['orders'] }
  const [dry] = await world.engine.alterMirrors('west', 'promote', { selection, validateOnly: true })
  deepEqual([dry?.groupsBehind, dry?.groupsInUse], [['billing', 'live'], ['live']])
  await world.engine.alterMirrors('west', 'promote', { selection, validateOnly: false })
  await world.clock.advance(2000)
  await world.settle()
  equal(world.engine.describeMirror('west', 'orders').status, 'STOPPED')
  deepEqual(here(world, 'billing'), { 'orders/0': 5 })
  commitAtSource(world, 'billing', { 'orders/0': 9 })
  await round(world)
  deepEqual(here(world, 'billing'), { 'orders/0': 5 }, 'a stopped topic is never written again')
  await world.engine.stop()
})

test('tasks run when they are asked to', async () => {
  const world = await mirroring()
  await round(world)
  commitAtSource(world, 'billing', { 'orders/0': 5 })
  world.engine.runTask('west', 'ConsumerOffsetSync')
  await world.settle()
  deepEqual(here(world, 'billing'), { 'orders/0': 5 })
  let message = ''
  try {
    world.engine.runTask('west', 'AclSync')
  } catch (error) {
    message = String(error)
  }
  match(
    message,
    /does not run the task 'AclSync'; it runs: ConsumerOffsetSync, ShareGroupOffsetSync, TopicConfigsSync, PartitionSync/,
  )
  await world.engine.stop()
})

// The final sync of one topic once dropped what was known of the group's offsets in all others, which were then committed anew.
test('the final sync of a topic keeps what is known of a group in other topics', async () => {
  const world = await mirroring()
  world.source.addTopic('bills', 1).partitions[0]?.append(batchAt(0, 10))
  await world.engine.createMirror('west', mirrorRequest('bills'))
  await world.mirrorAll()
  commitAtSource(world, 'billing', { 'orders/0': 2, 'bills/0': 2 })
  await round(world)
  const listed = () =>
    world.engine.listGroupOffsets('west').map(({ topic, syncedOffset, state }) => [topic, syncedOffset, state])
  commitAtSource(world, 'billing', { 'orders/0': 5, 'bills/0': 2 })
  const selection = { names: ['orders'] }
  await world.engine.alterMirrors('west', 'promote', { selection, validateOnly: false })
  await world.clock.advance(2000)
  await world.settle()
  equal(world.engine.describeMirror('west', 'orders').status, 'STOPPED')
  deepEqual(listed(), [
    ['bills', 2, 'SYNCED'],
    ['orders', 5, 'SYNCED'],
  ])
  await world.engine.stop()
})
