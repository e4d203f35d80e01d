/** What a restore counts and forgets: records on their way when it began, markers, and the ends of an earlier time. */
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { buildEndMarker } from '../protocol/batches/control-batch.ts'
import { batchAt } from './fakes/engine-world.ts'
import { answered, ask, mirroredPeers } from './fakes/reversed-peers.ts'

test('what was let in right before nobody could write any more is counted and cut, markers are cut and not counted', async () => {
  const world = await mirroredPeers()
  const { east, west } = world
  await answered(world, ask(west, 'failover'))
  east.write('orders', batchAt(3, 2, { producerId: 7n, transactional: true }))
  const log = east.cluster.topicNamed('orders')?.logs[0]
  const of = { producerId: 7n, producerEpoch: 0, coordinatorEpoch: 0, timestamp: 0n, leaderEpoch: 0 }
  log?.append(buildEndMarker({ type: 'commit', ...of, offset: 5 }))
  await world.pass(500)
  // Changes of a log run one after the other, so the first one of the restore comes behind what was on its way.
  east.process.onEffect = name => {
    if (name !== 'raise log start' || east.status('orders') !== 'PENDING_SETUP_FOR_RESTORE') return
    east.process.onEffect = undefined
    log?.append(batchAt(6, 3, { producerId: 8n }))
  }
  const row = await answered(world, ask(east, 'truncate-and-restore', { exportDivergent: true }))
  deepEqual(row?.truncation, [{ partition: 0, offsetTruncatedTo: 3, messagesTruncated: 5 }])
  await world.pass(2000)
  deepEqual(east.contents('orders'), west.contents('orders'))
  equal(east.engine.incidentCounts().get('fork'), 1)
  await world.stop()
})

test('a mirror again, a topic has no stop points any more: they would tell where an earlier time ended', async () => {
  const world = await mirroredPeers()
  const { east, west } = world
  await answered(world, ask(west, 'failover'))
  await answered(world, ask(east, 'truncate-and-restore'))
  await world.pass(2000)
  await answered(world, ask(east, 'failover'))
  deepEqual(
    [east, west].map(({ engine }) => engine.describeMirror('twin', 'orders').stopPoints.length),
    [1, 1],
  )
  await answered(world, ask(west, 'truncate-and-restore'))
  await world.pass(2000)
  equal(west.status('orders'), 'ACTIVE')
  deepEqual(west.engine.describeMirror('twin', 'orders').stopPoints, [])
  await world.stop()
})
