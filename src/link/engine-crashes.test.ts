/**
 * Every operation is killed before and after each of its side effects, what was not flushed is lost, and a new node takes over:
 * nothing may ever be writable before its time, and what was accepted must come to its end.
 */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { isControl } from '../protocol/batches/batch-header.ts'
import { batchAt, EngineWorld, linkRequest, mirrorRequest } from './fakes/engine-world.ts'

/** More effects than any operation has. */
const effectsMax = 60

async function linkedWorld(): Promise<EngineWorld> {
  const world = new EngineWorld()
  await world.start()
  world.source.addTopic('orders', 2)
  await world.engine.createLink(linkRequest('west'), { validateOnly: false, validateLink: true })
  await world.settle()
  return world
}

async function mirroringWorld(): Promise<EngineWorld> {
  const world = await linkedWorld()
  await world.engine.createMirror('west', mirrorRequest('orders'))
  const [first, second] = world.source.topics.get('orders')?.partitions ?? []
  first?.append(batchAt(0, 3), batchAt(3, 2, { producerId: 77n, transactional: true }))
  second?.append(batchAt(0, 4, { producerId: 12n }))
  await world.mirrorAll()
  return world
}

const writable = (world: EngineWorld): boolean => {
  const topic = world.cluster.topicNamed('orders')
  return topic !== undefined && world.engine.writeStatus(topic.topicId, 'orders').kind === 'writable'
}

/** Runs `operation` in fresh worlds, killed at each effect in turn, until one world gets through unharmed. */
async function killedAtEachEffect(walk: {
  world: () => Promise<EngineWorld>
  operation: (world: EngineWorld) => Promise<unknown>
  /** After the restart; `killedAt` names the effect. */
  check: (world: EngineWorld, killedAt: string) => Promise<void>
}): Promise<string[]> {
  const reached: string[] = []
  for (const side of ['before', 'after'] as const)
    for (let at = 0; at < effectsMax; at++) {
      const world = await walk.world()
      world.process.planCrash({ at, side })
      await walk.operation(world).catch(() => {})
      await world.settle()
      const { killed, effects } = world.process
      const killedAt = `${side} ${at}: ${effects.at(-1)}`
      await world.start()
      await walk.check(world, killedAt)
      await world.engine.stop()
      if (!killed) break
      reached.push(killedAt)
    }
  return reached
}

test('a mirror creation that is killed anywhere leaves a mirror or nothing, never a writable topic', async () => {
  const reached = await killedAtEachEffect({
    world: linkedWorld,
    operation: world => world.engine.createMirror('west', mirrorRequest('orders')),
    check: async (world, killedAt) => {
      equal(writable(world), false, killedAt)
      await world.settle()
      const mirrors = world.engine.listMirrors({ link: 'west', status: undefined })
      const topic = world.cluster.topicNamed('orders')
      equal(mirrors.length, topic === undefined ? 0 : 1, killedAt)
      equal(writable(world), false, killedAt)
      if (!topic) await world.engine.createMirror('west', mirrorRequest('orders'))
      await world.mirrorAll()
      equal(world.engine.describeMirror('west', 'orders').status, 'ACTIVE', killedAt)
      deepEqual(world.source.fetched, ['orders-0', 'orders-1'], killedAt)
    },
  })
  deepEqual(
    reached.map(text => text.replace(/ \d+/, '')),
    [
      'before: append state',
      'before: create topic',
      'before: append state',
      'after: append state',
      'after: create topic',
      'after: append state',
    ],
  )
})

test('an automatic creation that is killed anywhere is finished or begun anew by the next node, never writable', async () => {
  const reached = await killedAtEachEffect({
    world: linkedWorld,
    operation: async world => {
      const topicFilters = [{ name: '*', patternType: 'LITERAL', filterType: 'INCLUDE' }]
      const changes = [
        { name: 'auto.create.mirror.topics.enable', operation: 'SET' as const, value: 'true' },
        {
          name: 'auto.create.mirror.topics.filters',
          operation: 'SET' as const,
          value: JSON.stringify({ topicFilters }),
        },
      ]
      await world.engine.alterLinkConfigs('west', changes, { validateOnly: false })
      await world.settle()
    },
    check: async (world, killedAt) => {
      equal(writable(world), false, killedAt)
      await world.mirrorAll()
      equal(writable(world), false, killedAt)
      const enabled = world.engine
        .describeLinkConfigs('west')
        .some(({ name, value }) => name === 'auto.create.mirror.topics.enable' && value === 'true')
      const mirrors = world.engine.listMirrors({ link: 'west', status: undefined })
      deepEqual(
        mirrors.map(({ status }) => status),
        enabled ? ['ACTIVE'] : [],
        killedAt,
      )
      deepEqual(world.source.fetched, enabled ? ['orders-0', 'orders-1'] : [], killedAt)
    },
  })
  ok(reached.some(text => text.endsWith('create topic')))
})

test('between the intent and the topic the name is fenced', async () => {
  const world = await linkedWorld()
  world.process.planCrash({ at: 1, side: 'after' })
  await world.engine.createMirror('west', mirrorRequest('orders')).catch(() => {})
  const topic = world.cluster.topicNamed('orders')
  ok(topic, 'the topic exists, its record does not')
  equal(world.engine.writeStatus(topic.topicId, 'orders').kind, 'mirror')
  await world.start()
  await world.engine.stop()
})

test('a topic that somebody else wrote is never taken over by an unfinished creation', async () => {
  const world = await linkedWorld()
  world.process.planCrash({ at: 0, side: 'after' })
  await world.engine.createMirror('west', mirrorRequest('orders')).catch(() => {})
  const foreign = world.cluster.addTopic('orders', 2)
  foreign.logs[0]?.append(batchAt(0, 1))
  for (const log of foreign.logs) log.flushedOffset = log.logEndOffset
  await world.start()
  deepEqual(world.engine.listMirrors({ link: 'west', status: undefined }), [])
  equal(writable(world), true)
  await world.engine.stop()
})

test('a failover that is killed anywhere ends STOPPED after it was accepted, and mirrors on if it was not', async () => {
  const reached = await killedAtEachEffect({
    world: mirroringWorld,
    operation: world => {
      const selection = { names: ['orders'] }
      return world.engine.alterMirrors('west', 'failover', { selection, validateOnly: false })
    },
    check: checkFailedOverOrMirroring,
  })
  const names = new Set(reached.map(text => text.replace(/.*: /, '')))
  deepEqual([...names], ['append state', 'flush', 'append abort marker', 'raise producer ids', 'release'])
})

test('a promote that is killed anywhere ends STOPPED with everything after it was accepted, and mirrors on if it was not', async () => {
  const selection = { names: ['orders', 'payments'] }
  const promote = async (world: EngineWorld) => {
    await world.engine.alterMirrors('west', 'promote', { selection, validateOnly: false, together: true })
    for (let round = 0; round < 4; round++) {
      await world.settle()
      await world.clock.advance(600)
    }
  }
  const reached = await killedAtEachEffect({
    world: async () => {
      const world = await linkedWorld()
      world.source.addTopic('payments', 1).partitions[0]?.append(batchAt(0, 6, { producerId: 40n }))
      world.source.topics.get('orders')?.partitions[1]?.append(batchAt(0, 4, { producerId: 12n }))
      for (const topic of selection.names) await world.engine.createMirror('west', mirrorRequest(topic))
      await world.mirrorAll()
      return world
    },
    operation: promote,
    check: async (world, killedAt) => {
      await world.mirrorAll()
      const states = () => selection.names.map(topic => world.engine.describeMirror('west', topic).status)
      // Accepted one by one; from the decision on, both or none.
      for (let round = 0; round < 6; round++) {
        await world.clock.advance(600)
        await world.settle()
      }
      const ends = selection.names.flatMap(topic => world.cluster.topicNamed(topic)?.logs.map(log => log.logEndOffset))
      deepEqual(ends, [0, 4, 6], killedAt)
      if (states().includes('ACTIVE')) {
        equal(states().includes('STOPPED'), false, killedAt)
        await promote(world)
        await world.settle()
      }
      deepEqual(states(), ['STOPPED', 'STOPPED'], killedAt)
      equal(writable(world), true, killedAt)
      equal(world.cluster.producerIdFloor, 40n, killedAt)
      const points = world.engine.describeMirror('west', 'orders').stopPoints
      deepEqual(
        points.map(point => point.stopOffset),
        [0, 4],
        killedAt,
      )
    },
  })
  const names = new Set(reached.map(text => text.replace(/.*: /, '')))
  names.delete('append status')
  deepEqual([...names], ['append state', 'flush', 'raise producer ids', 'release'])
})

async function checkFailedOverOrMirroring(world: EngineWorld, killedAt: string): Promise<void> {
  await world.settle()
  await world.mirrorAll()
  const topic = world.cluster.topicNamed('orders')
  ok(topic)
  const view = world.engine.describeMirror('west', 'orders')
  if (view.status === 'ACTIVE') {
    equal(writable(world), false, killedAt)
    deepEqual(
      topic.logs.map(log => log.logEndOffset),
      [5, 4],
      killedAt,
    )
    return
  }
  equal(view.status, 'STOPPED', killedAt)
  equal(writable(world), true, killedAt)
  deepEqual(world.source.fetched, [], killedAt)
  for (const [partition, log] of topic.logs.entries()) {
    const data = log.batches.filter(batch => !isControl(batch.header))
    const endOfData = (data.at(-1)?.header.lastOffset ?? -1) + 1
    equal(
      view.stopPoints[partition]?.stopOffset,
      endOfData,
      `${killedAt}: the stop point is where the source's data ends`,
    )
    deepEqual(log.openTransactions(), [], killedAt)
    equal(log.leaderEpoch > 0, true, killedAt)
    equal(log.flushedOffset, log.logEndOffset, killedAt)
    for (const { header } of log.batches) equal(header.producerId <= world.cluster.producerIdFloor, true, killedAt)
  }
}

test('a forced deletion of a link that is killed anywhere ends with writable topics and no link', async () => {
  await killedAtEachEffect({
    world: mirroringWorld,
    operation: world => world.engine.deleteLink('west', { force: true, validateOnly: false }),
    check: async (world, killedAt) => {
      await world.settle()
      await world.settle()
      const links = world.engine.listLinks()
      if (links.length > 0) {
        equal(world.engine.describeMirror('west', 'orders').status, 'ACTIVE', killedAt)
        equal(writable(world), false, killedAt)
        return
      }
      equal(writable(world), true, killedAt)
      for (const log of world.cluster.topicNamed('orders')?.logs ?? []) equal(log.leaderEpoch > 0, true, killedAt)
      equal(world.source.openConnections, 0, killedAt)
    },
  })
})

test('a step of a failover that fails is named, and repeated until it succeeds', async () => {
  const world = await mirroringWorld()
  world.process.failNext('raise producer ids', new Error('no controller'))
  const selection = { names: ['orders'] }
  const [row] = await world.engine.alterMirrors('west', 'failover', { selection, validateOnly: false })
  equal(row?.errorCode, 50003)
  ok(row?.errorMessage?.includes('not finished (raise producer ids): no controller'), row?.errorMessage ?? '')
  equal(writable(world), false)
  deepEqual(world.engine.describeMirror('west', 'orders').allowedActions, ['failover', 'delete'])
  await world.clock.advance(5000)
  equal(writable(world), false)
  world.process.failNext('raise producer ids', undefined)
  await world.clock.advance(20_000)
  await world.settle()
  equal(world.engine.describeMirror('west', 'orders').status, 'STOPPED')
  equal(writable(world), true)
  await world.engine.stop()
})
