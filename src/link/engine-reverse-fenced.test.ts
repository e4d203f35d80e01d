/** Reverses whose source is led by others, who let clients write: a copy is made first, then they are kept out, and whatever happens the source is taken over or given back as it was. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { buildEndMarker } from '../protocol/batches/control-batch.ts'
import { batchAt } from './fakes/engine-world.ts'
import type { PeerCluster, PeerWorld } from './fakes/peer-clusters.ts'
import { answered, ask, mirroredPeers, openTransaction, states, writable } from './fakes/reversed-peers.ts'

const parked = new Map([
  ['max.message.bytes', '78'],
  ['retention.ms', '-1'],
])
const cut = { failure: 'tcp', message: 'connection refused' } as const
const reversed = 'reverse-and-start-mirror'

/** East is a joined cluster, whose topic has a retention of its own. */
async function fencedPeers(copying?: string): Promise<PeerWorld> {
  const world = await mirroredPeers()
  const { cluster } = world.east
  cluster.fence.park(parked)
  cluster.fence.copying = copying
  const topic = cluster.topicNamed('orders')
  if (topic) topic.configs = new Map([['retention.ms', '5000']])
  return world
}

const configsOf = ({ cluster }: PeerCluster) => [...(cluster.topicNamed('orders')?.configs ?? [])].sort()
const isFenced = (side: PeerCluster) =>
  configsOf(side).some(([key, value]) => key === 'max.message.bytes' && value === '78')

function assertGivenBack({ east }: PeerWorld, about?: string): void {
  deepEqual(configsOf(east), [['retention.ms', '5000']], about)
  equal(east.cluster.fence.taken.size, 0, about)
  equal(east.isWritable('orders'), true, about)
}

test('clients write until the copy is made, then nobody does, and the topic follows', async () => {
  const world = await fencedPeers('partition 0 is being copied')
  const { east, west } = world
  await ask(west, reversed)
  await world.pass(8000)
  deepEqual(states(world), ['PENDING_SYNCHRONIZE', 'PENDING_MIRROR'])
  equal(isFenced(east), false)
  east.write('orders', batchAt(3, 2))
  match(west.engine.describeMirror('twin', 'orders').reason ?? '', /writable meanwhile: partition 0 is being copied/)
  deepEqual(east.engine.writeStatus(east.cluster.topicNamed('orders')?.topicId ?? '', 'orders'), {
    ...{ kind: 'writable', isStaged: true },
  })
  east.cluster.fence.copying = undefined
  await world.pass(8000)
  deepEqual(
    [states(world), writable(world)],
    [
      ['STOPPED', 'ACTIVE'],
      [true, false],
    ],
  )
  deepEqual(configsOf(east), [...parked])
  // The time of the copy does not count.
  const [, ms = ''] =
    /nobody could write for (\d+) ms/.exec(east.engine.describeHistory('twin', 'orders')[0]?.reason ?? '') ?? []
  ok(Number(ms) < 8000, ms)
  west.write('orders', batchAt(5, 1))
  await world.pass(2000)
  deepEqual(east.contents('orders'), west.contents('orders'))
  const { topicId = '' } = east.cluster.topicNamed('orders') ?? {}
  equal(east.engine.fences.trueConfigs(topicId as never)?.get('retention.ms'), '5000')
  await world.stop()
})

test('it is given back while it is copied, and when it is closed', async () => {
  for (const copying of ['a copy is being made', undefined]) {
    const world = await fencedPeers(copying)
    const { east, west } = world
    openTransaction(world)
    await ask(west, reversed)
    await world.pass(4000)
    equal(isFenced(east), copying === undefined)
    const row = await answered(world, ask(east, 'failover'))
    deepEqual(
      [row?.errorMessage, row?.warnings],
      [null, ['This copy is writable again, and the mirror does not take over.']],
    )
    await world.pass(2000)
    deepEqual(states(world), ['ACTIVE', undefined])
    assertGivenBack(world)
    await world.stop()
  }
})

test('a mirror that is failed over has the source closed at once, however long a copy would take', async () => {
  const world = await fencedPeers('a copy is being made')
  const { east, west } = world
  await ask(west, reversed)
  await world.pass(4000)
  const answer = ask(west, 'failover')
  for (let round = 0; round < 40; round++) {
    await world.pass(100, 100)
    ok(!west.isWritable('orders') || isFenced(east))
  }
  match((await answered(world, answer))?.warnings?.[0] ?? '', /stays read-only/)
  deepEqual(states(world), ['STOPPED', 'PENDING_MIRROR'])
  east.cluster.fence.copying = undefined
  await world.pass(4000)
  deepEqual(states(world), ['STOPPED', 'ACTIVE'])
  await world.stop()
})

test('without the other side it is given back as a fork, while it is copied and when it is closed', async () => {
  for (const copying of ['a copy is being made', undefined]) {
    const world = await fencedPeers(copying)
    const { east, west } = world
    openTransaction(world)
    await ask(west, reversed)
    await world.pass(4000)
    west.asSource.failure = cut
    const row = await answered(world, ask(east, 'failover'))
    match(row?.warnings?.[0] ?? '', /That of the other cluster may be writable, too/)
    equal(east.status('orders'), 'STOPPED')
    assertGivenBack(world)
    east.write('orders', batchAt(4, 2))
    west.asSource.failure = undefined
    await world.pass(6000)
    deepEqual(states(world), ['ACTIVE', 'STOPPED'])
    deepEqual(east.contents('orders'), west.contents('orders'))
    await world.stop()
  }
})

test('a mirror that is deleted, and a link that is, give the source back', async () => {
  for (const copying of ['a copy is being made', undefined])
    for (const what of ['mirror', 'link'] as const) {
      const world = await fencedPeers(copying)
      openTransaction(world)
      await ask(world.west, reversed)
      await world.pass(4000)
      if (what === 'mirror') world.west.cluster.deleteTopic('orders')
      else await world.east.engine.deleteLink('twin', { force: true, validateOnly: false })
      await world.pass(4000)
      assertGivenBack(world, `${what} ${copying}`)
      await world.stop()
    }
})

test('a restore of a source whose mirror took over without all of it keeps what its configs are meant to be', async () => {
  const world = await fencedPeers()
  const { east, west } = world
  west.process.failNext('append', new Error('a slow disk'))
  east.write('orders', batchAt(3, 4))
  await ask(west, reversed)
  await world.pass(4000)
  await answered(world, ask(west, 'failover'))
  await world.pass(4000)
  deepEqual(states(world), ['STOPPED', 'PENDING_MIRROR'])
  const [row] = await ask(east, 'truncate-and-restore')
  deepEqual([row?.errorMessage, row?.messagesTruncated], [null, 4])
  await world.pass(4000)
  equal(east.status('orders'), 'ACTIVE')
  await ask(east, 'failover')
  await world.pass(1000)
  assertGivenBack(world)
  await world.stop()
})

test('killed anywhere, a reverse goes on, and never are both writable', async () => {
  const reached = new Set<string>()
  for (const name of ['east', 'west'] as const)
    for (const side of ['before', 'after'] as const)
      for (let at = 0; at < 60; at++) {
        const world = await fencedPeers()
        const { east, west } = world
        east.write('orders', batchAt(3, 2))
        const { process } = world[name]
        process.planCrash({ at, side })
        const answer = ask(west, reversed).catch(() => [])
        const oneWriter = (about?: string) => ok(!west.isWritable('orders') || isFenced(east), about)
        for (let round = 0; round < 8; round++) {
          await world.pass(1000)
          oneWriter()
        }
        const [row] = await answer
        const { killed, effects } = process
        const killedAt = `${name} ${side} ${at}: ${effects.at(-1)}`
        if (killed) {
          reached.add(`${name} ${side}: ${effects.at(-1)}`)
          await world[name].start()
          for (let round = 0; round < 8; round++) {
            await world.pass(1000)
            oneWriter(killedAt)
          }
        }
        const [, ofEast] = states(world)
        if (row?.errorCode !== null && ofEast === undefined) assertGivenBack(world, killedAt)
        else deepEqual(states(world), ['STOPPED', 'ACTIVE'], killedAt)
        deepEqual(east.contents('orders'), west.contents('orders'), killedAt)
        await world.stop()
        if (!killed) break
      }
  for (const effect of ['stage', 'shut', 'enclose'])
    for (const side of ['before', 'after']) ok(reached.has(`east ${side}: ${effect}`), `${side} ${effect}`)
})

test('killed anywhere while it is given back, the source becomes what it was', async () => {
  for (const copying of ['a copy is being made', undefined])
    for (const side of ['before', 'after'] as const)
      for (let at = 0; at < 20; at++) {
        const world = await fencedPeers(copying)
        const { east, west } = world
        openTransaction(world)
        await ask(west, reversed)
        await world.pass(4000)
        east.process.planCrash({ at, side })
        const answer = ask(east, 'failover').catch(() => [])
        await world.pass(12_000, 1000)
        await answer
        const { killed, effects } = east.process
        const killedAt = `${copying} ${side} ${at}: ${effects.at(-1)}`
        if (killed) {
          await east.start()
          await world.pass(4000)
          if (states(world)[1] === 'PENDING_MIRROR') await answered(world, ask(east, 'failover'))
          await world.pass(8000, 1000)
        }
        assertGivenBack(world, killedAt)
        deepEqual(states(world), ['ACTIVE', undefined], killedAt)
        await world.stop()
        if (!killed) break
      }
})

/** A coordinator ends a transaction that has no records here. */
const marker = (offset: number, leaderEpoch: number) =>
  buildEndMarker({
    ...{ offset, leaderEpoch, type: 'abort', producerId: 99n, producerEpoch: 0, coordinatorEpoch: 0, timestamp: 1n },
  })

test('markers that a broker let in after the source was closed go to the mirror, or go', async () => {
  for (const when of ['before it takes over', 'after it took over']) {
    const world = await fencedPeers()
    const { east, west } = world
    const log = east.cluster.topicNamed('orders')?.logs[0]
    ok(log)
    await ask(west, reversed)
    for (let round = 0; round < 100; round++) {
      const { reason } = east.engine.listMirrors({ link: 'twin', status: undefined })[0] ?? {}
      const isClosed = reason?.startsWith('closed at') ?? false
      const isTime = when.startsWith('before') ? isClosed : west.status('orders') === 'STOPPED'
      if (isTime) break
      await world.pass(50, 50)
    }
    equal(east.status('orders'), 'PENDING_MIRROR')
    log.append(marker(log.logEndOffset, log.leaderEpoch))
    log.flushedOffset = log.logEndOffset
    await world.pass(8000)
    deepEqual(states(world), ['STOPPED', 'ACTIVE'], when)
    deepEqual(east.contents('orders'), west.contents('orders'), when)
    await world.stop()
  }
})
