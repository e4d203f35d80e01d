/** What a cluster publishes of its mirrors: always what the state says, through kills, and what others make of it. */
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { ZERO_UUID } from '../core/uuid.ts'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { batchAt, EngineWorld, linkRequest, mirrorRequest } from './fakes/engine-world.ts'
import type { StateRecord } from './ports.ts'
import { encodeStateKey, type StateKey } from './state-records/state-key.ts'
import { decodeStatusRecord } from './status/status-codec.ts'
import { StatusContents } from './status/status-contents.ts'
import { statusTopicName } from './status/status-key.ts'

const all = { validateOnly: false, validateLink: true }

/** What a reader of everything published would know. */
function published(world: EngineWorld): StatusContents {
  const contents = new StatusContents()
  for (const record of world.cluster.statusRecords) contents.apply(decodeStatusRecord(record))
  return contents
}

async function mirroring(): Promise<EngineWorld> {
  const world = new EngineWorld()
  await world.start()
  world.source.addTopic('orders', 2)
  await world.engine.createLink(linkRequest('west'), all)
  await world.engine.createMirror('west', mirrorRequest('orders'))
  await publishes(world)
  return world
}

/** Long enough for a publication, and for what follows from it. */
async function publishes(world: EngineWorld): Promise<void> {
  await world.clock.advance(200)
  await world.settle()
}

const orders = (world: EngineWorld) => {
  const [record, ...others] = published(world).mirrorsNamed('orders')
  ok(record && others.length === 0)
  return record
}

test('a node publishes its cluster, its links and its mirrors with their chain and true configs', async () => {
  const world = await mirroring()
  const contents = published(world)
  equal(contents.clusterId, 'destination-cluster')
  deepEqual(
    contents.links().map(({ name, mode, remoteClusterId }) => ({ name, mode, remoteClusterId })),
    [{ name: 'west', mode: 'DESTINATION', remoteClusterId: 'source-cluster' }],
  )
  const { state, chain, chainEnd, configs, partitions, topicId } = orders(world)
  deepEqual({ state, chainEnd, partitions }, { state: 'ACTIVE', chainEnd: 'unchecked', partitions: 2 })
  equal(topicId, world.cluster.topicNamed('orders')?.topicId)
  const sourceTopicId = world.source.topics.get('orders')?.topicId
  deepEqual(chain, [{ clusterId: 'source-cluster', topic: 'orders', topicId: sourceTopicId }])
  const retention = configs.find(({ name }) => name === 'retention.ms')
  deepEqual(retention, { name: 'retention.ms', value: '604800000', overridden: false })
  await world.engine.stop()
})

test('configs that change are published, and nothing is written when nothing changes', async () => {
  const world = await mirroring()
  world.source.topics.get('orders')?.configs.set('retention.ms', { value: '1000', overridden: true })
  for (let second = 0; second < 20; second++) {
    await world.clock.advance(1000)
    await world.settle()
  }
  equal(orders(world).configs.find(({ name }) => name === 'retention.ms')?.value, '1000')
  const count = world.cluster.statusRecords.length
  await world.clock.advance(60_000)
  await world.settle()
  equal(world.cluster.statusRecords.length, count)
  await world.engine.stop()
})

test('a stopped mirror is published with its stop points and source epochs, and goes with its link', async () => {
  const world = await mirroring()
  world.source.topics.get('orders')?.partitions[0]?.append(batchAt(0, 3, { epoch: 0 }), batchAt(3, 2, { epoch: 4 }))
  await world.mirrorAll()
  await world.engine.alterMirrors('west', 'failover', { selection: { names: ['orders'] }, validateOnly: false })
  await publishes(world)
  const { state, topicId, configs } = orders(world)
  deepEqual({ state, configs }, { state: 'STOPPED', configs: [] })
  deepEqual(
    published(world)
      .stopPoints(topicId)
      .map(({ partition, stopOffset, lastSourceEpoch, sourceEpochs }) => ({
        partition,
        stopOffset,
        lastSourceEpoch,
        sourceEpochs,
      })),
    [
      {
        partition: 0,
        stopOffset: 5,
        lastSourceEpoch: 4,
        sourceEpochs: [
          { epoch: 0, firstOffset: 0 },
          { epoch: 4, firstOffset: 3 },
        ],
      },
      { partition: 1, stopOffset: 0, lastSourceEpoch: undefined, sourceEpochs: [] },
    ],
  )
  await world.engine.deleteLink('west', { force: false, validateOnly: false })
  await publishes(world)
  deepEqual([published(world).links(), published(world).mirrorsNamed('orders')], [[], []])
  deepEqual(published(world).stopPoints(topicId), [])
  await world.engine.stop()
})

test('killed between the record of the state and that of the status, the next start publishes what holds', async () => {
  const outcomes = new Set<string>()
  for (const side of ['before', 'after'] as const)
    for (let at = 0; at < 12; at++) {
      const world = await mirroring()
      world.process.planCrash({ at, side })
      const selection = { names: ['orders'] }
      await world.engine.alterMirrors('west', 'pause', { selection, validateOnly: false }).catch(() => {})
      await publishes(world)
      outcomes.add(`${world.process.effects.at(-1)}, published ${orders(world).state}`)
      const wasKilled = world.process.killed
      await world.start()
      await publishes(world)
      equal(orders(world).state, world.engine.describeMirror('west', 'orders').status)
      await world.engine.stop()
      if (!wasKilled) break
    }
  ok(
    outcomes.has('append status, published ACTIVE') && outcomes.has('append status, published PAUSED'),
    [...outcomes].join(),
  )
})

test('a status topic that cannot be written holds up nothing and is written later', async () => {
  const world = await mirroring()
  world.process.failNext('append status', new Error('the disk is full'))
  await world.engine.alterMirrors('west', 'pause', { selection: { names: ['orders'] }, validateOnly: false })
  await publishes(world)
  equal(orders(world).state, 'ACTIVE')
  equal(world.engine.describeMirror('west', 'orders').status, 'PAUSED')
  world.process.failNext('append status', undefined)
  await world.clock.advance(11_000)
  await world.settle()
  equal(orders(world).state, 'PAUSED')
  await world.engine.stop()
})

test('what another version publishes stays, and what is about unreadable state is not taken back', async () => {
  const world = await mirroring()
  const keyOfOther: StateKey = { kind: 40, scope: orders(world).linkId, name: 'later', partition: -1 }
  world.cluster.statusRecords.push({ key: encodeStateKey(keyOfOther), value: Buffer.from('of a later version') })
  // The state of the mirror is written anew by a later version, which this one cannot read at its start.
  const isMirror = ({ key, value }: StateRecord) => value !== null && key.readInt16BE(0) === 2
  for (const [index, record] of world.cluster.stateRecords.entries()) {
    if (!isMirror(record)) continue
    const newer = Buffer.from(record.value ?? [])
    newer.writeInt16BE(99)
    world.cluster.stateRecords[index] = { key: record.key, value: newer }
  }
  await world.start()
  await publishes(world)
  equal(orders(world).state, 'ACTIVE')
  equal(
    world.cluster.statusRecords.some(({ key, value }) => value === null && key.readInt16BE(0) === 40),
    false,
  )
  await world.engine.stop()
})

/** Lets the source of `world` publish what `remote` does, under the source's cluster id. */
function showStatus(world: EngineWorld, remote: EngineWorld): void {
  const [partition] = world.source.addTopic(statusTopicName, 1).partitions
  const records = remote.cluster.statusRecords.map(({ key, value }, offsetDelta) => ({
    offsetDelta,
    timestamp: 1n,
    key,
    value,
  }))
  partition?.append(buildBatch({ records }))
}

test('a chain is told on by who mirrors a mirror, and configs come from what is published', async () => {
  const first = await mirroring()
  const second = new EngineWorld()
  await second.start()
  second.source.clusterId = 'destination-cluster'
  showStatus(second, first)
  const topic = second.source.addTopic('orders', 2)
  topic.topicId = orders(first).topicId
  topic.configs.set('retention.ms', { value: '-1', overridden: true })
  // The second cluster of this test would have the id of its source.
  Object.assign(second.cluster, { clusterId: 'third-cluster' })
  await second.start()
  await second.engine.createLink(linkRequest('chain'), all)
  const { warnings } = await second.engine.createMirror('chain', mirrorRequest('orders'))
  deepEqual(warnings, [
    'Not checked for loops beyond cluster source-cluster: orders of cluster destination-cluster, orders of cluster source-cluster.',
  ])
  await publishes(second)
  deepEqual(
    orders(second).chain.map(({ clusterId }) => clusterId),
    ['destination-cluster', 'source-cluster'],
  )
  deepEqual(Object.fromEntries(second.cluster.topicNamed('orders')?.configs ?? []), {}, 'not the parked -1')
  await first.engine.stop()
  await second.engine.stop()
})

test('a loop that comes to be later is told by the task, and a mirror that would close one is refused', async () => {
  const second = new EngineWorld()
  Object.assign(second.cluster, { clusterId: 'source-cluster' })
  second.source.clusterId = 'destination-cluster'
  await second.start()
  second.source.addTopic('orders', 2).topicId = ZERO_UUID
  await second.engine.createLink(linkRequest('back'), all)
  // Nothing is published yet when it is created.
  const { warnings } = await second.engine.createMirror('back', mirrorRequest('orders'))
  match(warnings.join(), /Not checked for loops: the remote cluster publishes no __lockstep_status/)
  const task = () => second.engine.describeLink('back').tasks.find(({ name }) => name === 'ChainCheck')
  const first = new EngineWorld()
  await first.start()
  first.source.addTopic('orders', 2).topicId = second.cluster.topicNamed('orders')?.topicId ?? ZERO_UUID
  await first.engine.createLink(linkRequest('there'), all)
  await first.engine.createMirror('there', mirrorRequest('orders'))
  await publishes(first)
  showStatus(second, first)
  await second.clock.advance(70_000)
  await second.settle()
  equal(task()?.state, 'IN_ERROR')
  match(task()?.errors[0]?.message ?? '', /orders is in a loop of mirrors, in which nobody can write/)
  const shown = second.engine.describeMirror('back', 'orders')
  equal(shown.status, 'ACTIVE')
  match(shown.reason ?? '', /is in a loop of mirrors/)
  await publishes(second)
  equal(orders(second).chainEnd, 'loop')
  second.cluster.deleteTopic('orders')
  await second.settle()
  await rejects(
    second.engine.createMirror('back', mirrorRequest('orders')),
    /would be a mirror of itself: its source is a mirror of orders of cluster source-cluster/,
  )
  await first.engine.alterMirrors('there', 'failover', { selection: { names: ['orders'] }, validateOnly: false })
  await publishes(first)
  showStatus(second, first)
  deepEqual(
    (await second.engine.createMirror('back', mirrorRequest('orders'))).warnings.filter(text => /loops/.test(text)),
    [],
  )
  await first.engine.stop()
  await second.engine.stop()
})

// Each of two clusters made mirrors of the other's mirrors that were created, and not published, a moment ago.
test('with a prefix what is new at a cluster with links is mirrored once it can be told from a mirror', async () => {
  const first = await mirroring()
  const second = new EngineWorld()
  Object.assign(second.cluster, { clusterId: 'third-cluster' })
  second.source.clusterId = 'destination-cluster'
  await second.start()
  showStatus(second, first)
  second.source.addTopic('young', 1)
  const configs = {
    'cluster.link.prefix': 'p-',
    'auto.create.mirror.topics.enable': 'true',
    'auto.create.mirror.topics.filters':
      '{"topicFilters":[{"name":"*","patternType":"LITERAL","filterType":"INCLUDE"}]}',
  }
  await second.engine.createLink(linkRequest('east', configs), all)
  await second.settle()
  const names = () => second.engine.listMirrors({ link: 'east', status: undefined }).map(view => view.mirrorTopicName)
  deepEqual(names(), [])
  await second.clock.advance(10_000)
  await second.settle()
  deepEqual(names(), [])
  await second.clock.advance(10_000)
  await second.settle()
  deepEqual(names(), ['p-young'])
  await first.engine.stop()
  await second.engine.stop()
})
