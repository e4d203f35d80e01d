/** Reverses that are given up from either side, with the other one and without it. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { batchAt, mirrorRequest } from './fakes/engine-world.ts'
import { answered, ask, mirroredPeers, openTransaction, states, writable } from './fakes/reversed-peers.ts'

const cut = { failure: 'tcp', message: 'connection refused' } as const

test('a reverse that is withdrawn at the source leaves it writable, and the mirror follows again', async () => {
  const world = await mirroredPeers()
  openTransaction(world)
  await ask(world.west, 'reverse-and-start-mirror')
  await world.pass(4000)
  deepEqual(states(world), ['PENDING_SYNCHRONIZE', 'PENDING_MIRROR'])
  const row = await answered(world, ask(world.east, 'failover'))
  deepEqual(
    [row?.errorMessage, row?.warnings],
    [null, ['This copy is writable again, and the mirror does not take over.']],
  )
  await world.pass(2000)
  deepEqual(states(world), ['ACTIVE', undefined])
  deepEqual(writable(world), [false, true])
  // It can be asked for again.
  world.east.cluster.topicNamed('orders')?.logs[0]?.append(batchAt(4, 1))
  await world.stop()
})

test('a failover of the mirror in the middle of a reverse leaves the source closed until it is restored', async () => {
  const world = await mirroredPeers()
  const { east, west } = world
  west.process.failNext('append', new Error('a slow disk'))
  east.write('orders', batchAt(3, 4))
  await ask(west, 'reverse-and-start-mirror')
  await world.pass(4000)
  deepEqual(states(world), ['PENDING_SYNCHRONIZE', 'PENDING_MIRROR'])
  const taken = await answered(world, ask(west, 'failover'))
  match(taken?.warnings?.[0] ?? '', /^This copy ends writable; that of the other cluster stays read-only/)
  await world.pass(4000)
  deepEqual(states(world), ['STOPPED', 'PENDING_MIRROR'])
  deepEqual(writable(world), [true, false])
  const refused = await answered(world, ask(east, 'failover'))
  match(refused?.errorMessage ?? '', /the other cluster has taken over/)
  const [row] = await ask(east, 'truncate-and-restore')
  deepEqual([row?.errorMessage, row?.messagesTruncated], [null, 4])
  await world.pass(4000)
  equal(east.status('orders'), 'ACTIVE')
  deepEqual(east.contents('orders'), west.contents('orders'))
  await world.stop()
})

test('a failover of the mirror waits until the source has closed, where that answers', async () => {
  const world = await mirroredPeers()
  const { west } = world
  await ask(west, 'reverse-and-start-mirror')
  const row = await answered(world, ask(west, 'failover'))
  match(row?.warnings?.[0] ?? '', /stays read-only/)
  await world.pass(4000)
  // It had everything, so that nothing has to be restored.
  deepEqual(states(world), ['STOPPED', 'ACTIVE'])
  await world.stop()
})

test('a failover without the other side says that both may be writable, keeps where they part, and they become one again', async () => {
  const world = await mirroredPeers()
  const { east, west } = world
  openTransaction(world)
  await ask(west, 'reverse-and-start-mirror')
  await world.pass(4000)
  west.asSource.failure = cut
  const row = await answered(world, ask(east, 'failover'))
  match(row?.warnings?.[0] ?? '', /That of the other cluster may be writable, too/)
  equal(east.status('orders'), 'STOPPED')
  deepEqual(
    east.engine.describeMirror('twin', 'orders').stopPoints.map(({ stopOffset }) => stopOffset),
    [4],
  )
  equal(east.engine.incidentCounts().get('fork'), 1)
  east.write('orders', batchAt(4, 2))
  west.asSource.failure = undefined
  await world.pass(6000)
  // The mirror had not taken over: it learns that it is to stay one.
  deepEqual(states(world), ['ACTIVE', 'STOPPED'])
  deepEqual(east.contents('orders'), west.contents('orders'))
  // Another reverse is another one.
  east.cluster.topicNamed('orders')?.logs[0]?.append(batchAt(6, 1))
  await ask(west, 'reverse-and-start-mirror')
  await world.pass(80_000, 1000)
  deepEqual(states(world), ['STOPPED', 'ACTIVE'])
  await world.stop()
})

test('a mirror that is failed over without its source is a fork, which a restore ends', async () => {
  const world = await mirroredPeers()
  const { east, west } = world
  openTransaction(world)
  await ask(west, 'reverse-and-start-mirror')
  await world.pass(4000)
  east.asSource.failure = cut
  const row = await answered(world, ask(west, 'failover'))
  match(row?.warnings?.[0] ?? '', /may be writable, too/)
  ok(west.engine.describeHistory('twin', 'orders').some(({ event }) => event === 'fork'))
  equal(west.engine.incidentCounts().get('fork'), 1)
  east.asSource.failure = undefined
  await world.pass(4000)
  deepEqual(writable(world), [true, false])
  await world.stop()
})

test('a mirror that is deleted in the middle of a reverse gives its source back', async () => {
  const world = await mirroredPeers()
  openTransaction(world)
  await ask(world.west, 'reverse-and-start-mirror')
  await world.pass(4000)
  world.west.cluster.deleteTopic('orders')
  await world.pass(4000)
  deepEqual(states(world), [undefined, undefined])
  equal(world.east.isWritable('orders'), true)
  await world.stop()
})

test('a link that is deleted in the middle of a reverse leaves its topic writable', async () => {
  const world = await mirroredPeers()
  openTransaction(world)
  await ask(world.west, 'reverse-and-start-mirror')
  await world.pass(4000)
  await world.east.engine.deleteLink('twin', { force: true, validateOnly: false })
  equal(world.east.isWritable('orders'), true)
  equal(world.east.engine.listLinks().length, 0)
  await world.stop()
})

test('of a fork whose mirror had nothing when it stopped either side can be restored: all of it is its own', async () => {
  for (const restored of ['east', 'west'] as const) {
    const world = await mirroredPeers()
    const { east, west } = world
    east.cluster.addTopic('news', 1)
    east.write('news', batchAt(0, 3))
    west.process.failNext('append', new Error('a full disk'))
    await west.engine.createMirror('twin', mirrorRequest('news'))
    await ask(west, 'reverse-and-start-mirror', { selection: { names: ['news'] } })
    await world.pass(4000)
    for (const side of [east, west]) side.asSource.failure = cut
    for (const side of [east, west]) await answered(world, ask(side, 'failover', { selection: { names: ['news'] } }))
    west.process.failNext('append', undefined)
    deepEqual(writable(world, 'news'), [true, true])
    east.write('news', batchAt(3, 4))
    west.write('news', batchAt(0, 2, { producerId: 8n }))
    for (const side of [east, west]) side.asSource.failure = undefined
    await world.pass(6000)
    const options = { selection: { names: ['news'] }, exportDivergent: true }
    const row = await answered(world, ask(world[restored], 'truncate-and-restore', options))
    deepEqual([row?.errorMessage, row?.messagesTruncated], [null, restored === 'east' ? 7 : 2])
    await world.pass(4000)
    deepEqual(east.contents('news'), west.contents('news'))
    deepEqual(writable(world, 'news'), restored === 'east' ? [true, false] : [false, true])
    equal(world[restored].exported.size, 1)
    await world.stop()
  }
})

// The source was given back as if the mirror had been deleted, and both copies were writable without a word.
test('a link that is deleted at the mirror, and created again, leaves the source closed: that of the other cluster is written', async () => {
  for (const isAsked of [true, false]) {
    const world = await mirroredPeers()
    const { east, west } = world
    openTransaction(world)
    await ask(west, 'reverse-and-start-mirror')
    await world.pass(4000)
    await west.engine.deleteLink('twin', { force: true, validateOnly: false })
    await west.link('twin')
    await world.pass(8000)
    deepEqual(writable(world), [true, false])
    match(east.engine.describeMirror('twin', 'orders').reason ?? '', /ordinary topic of the other cluster/)
    west.write('orders', batchAt(west.end('orders') ?? 0, 2))
    const options = { validateOnly: isAsked }
    const [told] = await ask(east, 'failover', options)
    match(told?.warnings?.[0] ?? '', /may be writable, too \(what was its mirror is an ordinary topic/)
    if (!isAsked) {
      deepEqual(writable(world), [true, true])
      equal(east.engine.incidentCounts().get('fork'), 1)
      const [row] = await ask(east, 'truncate-and-restore')
      equal(row?.errorMessage, null)
      await world.pass(4000)
      deepEqual([writable(world), east.status('orders')], [[true, false], 'ACTIVE'])
      deepEqual(east.contents('orders'), west.contents('orders'))
    }
    await world.stop()
  }
})

/** The next batch of the source is not what it says it is. */
function damage({ east }: Awaited<ReturnType<typeof mirroredPeers>>): void {
  const log = east.cluster.topicNamed('orders')?.logs[0]
  const batch = batchAt(log?.logEndOffset ?? 0, 1)
  batch.writeUInt8(batch.readUInt8(batch.length - 1) ^ 1, batch.length - 1)
  log?.append(batch)
}

test('a failover of a mirror that failed in the middle of a reverse says which copy ends writable, too', async () => {
  for (const isKept of [false, true]) {
    const world = await mirroredPeers()
    const { east, west } = world
    openTransaction(world)
    await ask(west, 'reverse-and-start-mirror')
    await world.pass(4000)
    damage(world)
    await world.pass(4000)
    deepEqual(states(world), ['FAILED', 'PENDING_MIRROR'])
    match(east.engine.describeMirror('twin', 'orders').reason ?? '', /^the mirror has failed, .* resume it/)
    if (isKept) await answered(world, ask(east, 'failover'))
    for (const validateOnly of [true, false]) {
      const [row] = await ask(west, 'failover', { validateOnly })
      match(row?.warnings?.[0] ?? '', isKept ? /may be writable, too \(it was failed over\)/ : /stays read-only/)
    }
    deepEqual(writable(world), [true, isKept])
    await world.stop()
  }
})

test('a dry run of a failover in a reverse that has just begun says what comes of it', async () => {
  const world = await mirroredPeers()
  const { west } = world
  openTransaction(world)
  // Each side says now and then what it thinks of the other one.
  await world.pass(20_000, 1000)
  await ask(west, 'reverse-and-start-mirror')
  const [dry] = await ask(west, 'failover', { validateOnly: true })
  const real = await answered(world, ask(west, 'failover'))
  equal(dry?.warnings?.[0], real?.warnings?.[0])
  match(real?.warnings?.[0] ?? '', /stays read-only/)
  await world.stop()
})

test('a source whose half of the link is paused is waited for with that reason, and a failover is a fork', async () => {
  const world = await mirroredPeers()
  const { east, west } = world
  const pause = (value: string) =>
    east.engine.alterLinkConfigs('twin', [{ name: 'cluster.link.paused', operation: 'SET', value }], {
      validateOnly: false,
    })
  await world.pass(20_000, 1000)
  await ask(west, 'reverse-and-start-mirror')
  await pause('true')
  await world.pass(2000)
  deepEqual(states(world), ['PENDING_SYNCHRONIZE', undefined])
  match(west.engine.describeMirror('twin', 'orders').reason ?? '', /cannot do: it is paused there$/)
  for (const validateOnly of [true, false]) {
    const row = await answered(world, ask(west, 'failover', { validateOnly }))
    match(row?.warnings?.[0] ?? '', /may be writable, too \(it is paused there\)/)
  }
  deepEqual(writable(world), [true, true])
  await world.stop()
})
