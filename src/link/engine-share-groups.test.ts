/** Start offsets of share groups follow the source beside the offsets of consumers: clamped, and only where nobody here is in the way. */
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import type { EngineWorld } from './fakes/engine-world.ts'
import { commitAtSource, here, mirroring, round, rows } from './fakes/groups-world.ts'

const shareStartsHere = (world: EngineWorld, group: string) =>
  Object.fromEntries(
    [...(world.cluster.shareGroups.get(group)?.offsets ?? [])].map(([place, { offset }]) => [place, offset]),
  )

const shareTask = (world: EngineWorld) => {
  const task = world.engine.describeLink('west').tasks.find(({ name }) => name === 'ShareGroupOffsetSync')
  return [task?.state, task?.reason]
}

test('start offsets of share groups arrive, clamped to what the mirror has, beside those of consumers', async () => {
  const world = await mirroring()
  world.source.shareGroups?.set(
    'workers',
    new Map([
      ['orders/0', 7],
      ['orders/1', 9],
      ['other/0', 1],
    ]),
  )
  world.source.shareGroups?.set('secret-workers', new Map([['orders/0', 7]]))
  commitAtSource(world, 'billing', { 'orders/0': 3 })
  await round(world)
  deepEqual(shareStartsHere(world, 'workers'), { 'orders/0': 7, 'orders/1': 4 })
  deepEqual(shareStartsHere(world, 'secret-workers'), {})
  deepEqual([here(world, 'billing'), here(world, 'workers')], [{ 'orders/0': 3 }, {}])
  deepEqual(rows(world), [
    ['billing', 0, 'SYNCED', false],
    ['workers', 0, 'SYNCED', false],
    ['workers', 1, 'SYNCED', true],
  ])
  world.source.shareGroups?.set('workers', new Map([['orders/0', 2]]))
  await round(world)
  deepEqual(shareStartsHere(world, 'workers'), { 'orders/0': 2, 'orders/1': 4 })
  deepEqual(shareTask(world), ['ACTIVE', undefined])
  await world.engine.stop()
})

test('a share group that has members here, or was moved by somebody else, is listed and left alone', async () => {
  const world = await mirroring()
  world.source.shareGroups?.set('busy', new Map([['orders/0', 7]]))
  world.source.shareGroups?.set('moved', new Map([['orders/0', 7]]))
  world.cluster.shareGroups.set('busy', { offsets: new Map(), hasMembers: true })
  const moved = { topic: 'orders', partition: 0, offset: 3, metadata: '' }
  world.cluster.shareGroups.set('moved', { offsets: new Map([['orders/0', moved]]), hasMembers: false })
  await round(world)
  deepEqual(rows(world), [
    ['busy', 0, 'IN_USE', false],
    ['moved', 0, 'CONFLICT', false],
  ])
  equal(await world.engine.adoptGroup('west', 'moved'), 1)
  await world.settle()
  deepEqual(shareStartsHere(world, 'moved'), { 'orders/0': 7 })
  await world.engine.stop()
})

test('a source without share groups is no error, and noticed when it gets them', async () => {
  const world = await mirroring()
  world.source.shareGroups = undefined
  await round(world)
  const [state, reason] = shareTask(world)
  equal(state, 'NOT_CONFIGURED')
  match(reason ?? '', /source has no share groups/)
  world.source.shareGroups = new Map([['workers', new Map([['orders/0', 7]])]])
  await round(world)
  deepEqual([shareTask(world)[0], shareStartsHere(world, 'workers')], ['ACTIVE', { 'orders/0': 7 }])
  await world.engine.stop()
})

test('a promote brings share groups in step first, and names those that it could not', async () => {
  const world = await mirroring()
  await round(world)
  world.source.shareGroups?.set('workers', new Map([['orders/0', 5]]))
  const selection = { names: ['orders'] }
  const [dry] = await world.engine.alterMirrors('west', 'promote', { selection, validateOnly: true })
  deepEqual([dry?.groupsBehind, dry?.groupsInUse], [['workers'], []])
  await world.engine.alterMirrors('west', 'promote', { selection, validateOnly: false })
  await world.clock.advance(2000)
  await world.settle()
  equal(world.engine.describeMirror('west', 'orders').status, 'STOPPED')
  deepEqual(shareStartsHere(world, 'workers'), { 'orders/0': 5 })
  await world.engine.stop()
})
