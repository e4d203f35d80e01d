/** Bidirectional links and truncate-and-restore: a former source becomes the mirror of the cluster that took over. */
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { batchAt, mirrorRequest } from './fakes/engine-world.ts'
import { type PeerCluster, PeerWorld } from './fakes/peer-clusters.ts'

const restore = (
  side: PeerCluster,
  names: string[],
  more: { validateOnly?: boolean; paused?: boolean; exportDivergent?: boolean } = {},
) => side.engine.alterMirrors('twin', 'truncate-and-restore', { selection: { names }, validateOnly: false, ...more })

const failOver = (side: PeerCluster, ...names: string[]) =>
  side.engine.alterMirrors('twin', 'failover', { selection: { names }, validateOnly: false })

/** East has records, west mirrors them and is failed over; then each goes its own way. */
async function forked(tail = { east: 4, west: 7 }): Promise<PeerWorld> {
  const world = new PeerWorld()
  await world.start()
  world.east.cluster.addTopic('orders', 1)
  world.east.write('orders', batchAt(0, 3))
  world.east.write('orders', batchAt(3, 5))
  await world.west.engine.createMirror('twin', mirrorRequest('orders'))
  await world.pass(1000)
  equal(world.west.end('orders'), 8)
  await failOver(world.west, 'orders')
  await world.pass(500)
  if (tail.east > 0) world.east.write('orders', batchAt(8, tail.east, { producerId: 1n }))
  if (tail.west > 0) world.west.write('orders', batchAt(8, tail.west, { producerId: 2n }))
  return world
}

test('both sides of a bidirectional link have one id, and each finds the other', async () => {
  const world = new PeerWorld()
  await world.start()
  const [east, west] = [world.east, world.west].map(({ engine }) => engine.describeLink('twin'))
  equal(east?.linkId, west?.linkId)
  equal(east?.remoteClusterId, 'cluster-west')
  await world.pass(6000)
  for (const side of [world.east, world.west]) {
    const task = side.engine.describeLink('twin').tasks.find(({ name }) => name === 'PeerCheck')
    deepEqual([task?.state, task?.errors], ['ACTIVE', []])
  }
  await world.stop()
})

test('a restored topic is cut to what both have, and follows', async () => {
  const world = await forked()
  const [dry] = await restore(world.east, ['orders'], { validateOnly: true })
  const [row] = await restore(world.east, ['orders'])
  deepEqual([row?.errorCode, row?.errorMessage], [null, null])
  deepEqual(
    [row?.messagesTruncated, row?.truncation],
    [4, [{ partition: 0, offsetTruncatedTo: 8, messagesTruncated: 4 }]],
  )
  deepEqual([dry?.messagesTruncated, dry?.truncation], [row?.messagesTruncated, row?.truncation])
  equal(world.east.isWritable('orders'), false)
  await world.pass(2000)
  equal(world.east.status('orders'), 'ACTIVE')
  deepEqual(world.east.contents('orders'), world.west.contents('orders'))
  world.west.write('orders', batchAt(15, 2))
  await world.pass(2000)
  equal(world.east.end('orders'), 17)
  await world.stop()
})

test('a pattern also finds former sources of which nothing is recorded here', async () => {
  const world = await forked()
  await world.pass(6000)
  const selection = { pattern: 'ord.*' }
  const rows = await world.east.engine.alterMirrors('twin', 'truncate-and-restore', { selection, validateOnly: true })
  deepEqual(
    rows.map(({ mirrorTopicName, messagesTruncated }) => [mirrorTopicName, messagesTruncated]),
    [['orders', 4]],
  )
  await world.stop()
})

test('what is cut off is exported first where that is asked for, and the mirror may begin as PAUSED', async () => {
  const world = await forked()
  const tail = world.east.cluster.topicNamed('orders')?.logs[0]?.batches.at(-1)?.bytes
  const [row] = await restore(world.east, ['orders'], { exportDivergent: true, paused: true })
  equal(row?.errorCode, null)
  await world.pass(2000)
  equal(world.east.status('orders'), 'PAUSED')
  equal(world.east.end('orders'), 8)
  deepEqual([...world.east.exported], [['orders/0/8', tail]])
  const [newest] = world.east.engine.describeHistory('twin', 'orders')
  equal(newest?.reason, 'restored, cut: 0 to 8 (4); exported to orders/0/8')
  equal(world.east.engine.incidentCounts().get('fork'), 1)
  await world.stop()
})

test('nothing is cut where the other cluster still mirrors, where there is no counterpart, or where nothing is in common', async () => {
  const world = new PeerWorld()
  await world.start()
  world.east.cluster.addTopic('orders', 1)
  world.east.write('orders', batchAt(0, 3))
  const refusal = async () => (await restore(world.east, ['orders']))[0]?.errorMessage ?? ''
  match(await refusal(), /^Topic 'orders' does not exist on the remote cluster/)
  await world.west.engine.createMirror('twin', mirrorRequest('orders'))
  await world.pass(1000)
  match(await refusal(), /the other cluster mirrors it \(ACTIVE\): promote it or fail it over there first/)
  await failOver(world.west, 'orders')
  await world.pass(500)
  world.west.cluster.deleteTopic('orders')
  world.west.cluster.addTopic('orders', 1)
  await world.pass(500)
  match(await refusal(), /nothing tells what partition 0 has in common/)
  equal(world.east.isWritable('orders'), true)
  equal(world.east.end('orders'), 3)
  await world.stop()
})

test('logs of which no batch is the same share nothing, whatever was recorded', async () => {
  const world = await forked()
  const log = world.east.cluster.topicNamed('orders')?.logs[0]
  if (log) log.batches = []
  if (log) log.logEndOffset = 0
  world.east.write('orders', batchAt(0, 2, { producerId: 8n }))
  world.east.write('orders', batchAt(2, 9, { producerId: 8n }))
  const [row] = await restore(world.east, ['orders'])
  match(row?.errorMessage ?? '', /no batch below offset 8 is the same at both clusters/)
  equal(world.east.isWritable('orders'), true)
  equal(world.east.status('orders'), undefined)
  await world.stop()
})

test('a former source that lost records, and has others in their place, is cut to where they begin', async () => {
  const world = await forked({ east: 0, west: 7 })
  const log = world.east.cluster.topicNamed('orders')?.logs[0]
  log?.batches.pop()
  if (log) log.logEndOffset = 3
  for (let offset = 3; offset < 40; offset += 2) world.east.write('orders', batchAt(offset, 2, { producerId: 8n }))
  const [row] = await restore(world.east, ['orders'])
  deepEqual(row?.truncation, [{ partition: 0, offsetTruncatedTo: 3, messagesTruncated: 38 }])
  await world.pass(2000)
  deepEqual(world.east.contents('orders'), world.west.contents('orders'))
  await world.stop()
})

test('partitions that both sides added for themselves since the mirror stopped are cut off as a whole', async () => {
  const world = await forked()
  for (const [producerId, { cluster }] of [world.east, world.west].entries()) {
    const topicId = cluster.topicNamed('orders')?.topicId
    if (topicId) cluster.growTopic(topicId, 2)
    const side = producerId === 0 ? world.east : world.west
    side.write('orders', batchAt(0, 2 + producerId, { producerId: BigInt(producerId) }), 1)
  }
  const [row] = await restore(world.east, ['orders'])
  deepEqual(row?.truncation, [
    { partition: 0, offsetTruncatedTo: 8, messagesTruncated: 4 },
    { partition: 1, offsetTruncatedTo: 0, messagesTruncated: 2 },
  ])
  await world.pass(2000)
  for (const partition of [0, 1])
    deepEqual(world.east.contents('orders', partition), world.west.contents('orders', partition))
  await world.stop()
})

test('a restore that is given up before anything was cut leaves a writable topic', async () => {
  const world = await forked()
  world.east.process.failNext('enclose', new Error('not now'))
  const [row] = await restore(world.east, ['orders'])
  match(row?.errorMessage ?? '', /was accepted and is not finished/)
  equal(world.east.status('orders'), 'PENDING_SETUP_FOR_RESTORE')
  equal(world.east.isWritable('orders'), false)
  // A transaction that was open goes on to its end: the topic may be given back.
  const topicId = world.east.cluster.topicNamed('orders')?.topicId ?? ''
  const fence = world.east.engine.writeStatus(topicId, 'orders')
  equal(fence.kind === 'mirror' && fence.takesMarkers, true)
  await failOver(world.east, 'orders')
  equal(world.east.isWritable('orders'), true)
  equal(world.east.status('orders'), undefined)
  equal(world.east.end('orders'), 12)
  await world.stop()
})

test('a restore that loses sight of the other cluster goes on when it is back, and gives nothing up', async () => {
  const world = await forked()
  world.east.process.failNext('enclose', new Error('not now'))
  await restore(world.east, ['orders'])
  world.east.process.failNext('enclose', undefined)
  world.west.asSource.questionFailure = { failure: 'tcp', message: 'unplugged' }
  await world.pass(30_000, 2000)
  equal(world.east.status('orders'), 'PENDING_SETUP_FOR_RESTORE')
  world.west.asSource.questionFailure = undefined
  await world.pass(30_000, 2000)
  equal(world.east.status('orders'), 'ACTIVE')
  deepEqual(world.east.contents('orders'), world.west.contents('orders'))
  await world.stop()
})

test('when both sides want to be the mirror at the same time, one of them stays writable', async () => {
  const world = await forked()
  const both = Promise.all([restore(world.east, ['orders']), restore(world.west, ['orders'])])
  await world.pass(5000)
  await both
  const writable = [world.east, world.west].filter(side => side.isWritable('orders'))
  equal(writable.length >= 1, true)
  await world.stop()
})

test('roles change again and again, and nothing that was acknowledged since the last cut is lost', async () => {
  const world = await forked()
  await restore(world.east, ['orders'])
  await world.pass(2000)
  await failOver(world.east, 'orders')
  await world.pass(500)
  world.east.write('orders', batchAt(15, 3, { producerId: 1n }))
  world.west.write('orders', batchAt(15, 2, { producerId: 2n }))
  const [row] = await restore(world.west, ['orders'])
  deepEqual(row?.truncation, [{ partition: 0, offsetTruncatedTo: 15, messagesTruncated: 2 }])
  await world.pass(2000)
  deepEqual(world.west.contents('orders'), world.east.contents('orders'))
  world.east.write('orders', batchAt(18, 1))
  await world.pass(1000)
  await failOver(world.west, 'orders')
  await world.pass(500)
  const [again] = await restore(world.west, ['orders'])
  equal(again?.messagesTruncated, 0)
  await world.pass(2000)
  equal(world.west.status('orders'), 'ACTIVE')
  equal(world.west.end('orders'), 19)
  await world.stop()
})

test('offsets of groups beyond the cut are clamped, and the link may overwrite them from then on', async () => {
  const world = await forked()
  const at = (offset: number) => [{ topic: 'orders', partition: 0, offset, metadata: 'm' }]
  world.east.cluster.commit('beyond', at(12))
  world.east.cluster.commit('below', at(5))
  await world.east.engine.alterLinkConfigs(
    'twin',
    [
      { name: 'consumer.offset.sync.enable', operation: 'SET', value: 'true' },
      {
        name: 'consumer.offset.group.filters',
        operation: 'SET',
        value: JSON.stringify({ groupFilters: [{ name: '*', patternType: 'LITERAL', filterType: 'INCLUDE' }] }),
      },
    ],
    { validateOnly: false },
  )
  world.west.asSource.groups.set('beyond', new Map([['orders/0', 10]]))
  await restore(world.east, ['orders'], { paused: true })
  await world.pass(1000)
  const offsetOf = (group: string) => world.east.cluster.groups.get(group)?.offsets.get('orders/0')
  deepEqual(
    [offsetOf('beyond'), offsetOf('below')].map(offset => Number(offset?.offset ?? offset)),
    [8, 5],
  )
  await world.east.engine.alterMirrors('twin', 'resume', { selection: { names: ['orders'] }, validateOnly: false })
  await world.pass(40_000)
  equal(Number(offsetOf('beyond')?.offset ?? offsetOf('beyond')), 10)
  await world.stop()
})

test('a coordinator of groups that fails for a moment is asked again', async () => {
  const world = await forked()
  const { east } = world
  east.cluster.commit('billing', [{ topic: 'orders', partition: 0, offset: 12, metadata: 'm' }])
  east.process.failNext('commit group offsets', new Error('it loads'))
  const [row] = await restore(east, ['orders'])
  equal(row?.errorMessage, null)
  await world.pass(1000)
  equal(east.status('orders'), 'PENDING_RESTORE')
  east.process.failNext('commit group offsets', undefined)
  await world.pass(3000)
  equal(east.status('orders'), 'ACTIVE')
  equal(east.cluster.groups.get('billing')?.offsets.get('orders/0')?.offset, 8)
  await world.stop()
})

test('start offsets of share groups beyond the cut are clamped, too', async () => {
  const world = await forked()
  const { shareGroups } = world.east.cluster
  const at = (offset: number) => new Map([['orders/0', { topic: 'orders', partition: 0, offset, metadata: '' }]])
  shareGroups.set('beyond', { offsets: at(12), hasMembers: false })
  shareGroups.set('below', { offsets: at(5), hasMembers: false })
  shareGroups.set('working', { offsets: at(12), hasMembers: true })
  await restore(world.east, ['orders'], { paused: true })
  await world.pass(1000)
  equal(world.east.status('orders'), 'PAUSED')
  const starts = ['beyond', 'below', 'working'].map(group => shareGroups.get(group)?.offsets.get('orders/0')?.offset)
  deepEqual(starts, [8, 5, 12])
  // Whoever has members cannot be set: that is told.
  const [{ reason } = { reason: '' }] = world.east.engine.describeHistory('twin', 'orders')
  match(reason, /^restored, cut: .*; offsets of 1 group\(s\) may lie beyond the end: working \(.+\)$/)
  equal(world.east.engine.incidentCounts().get('group_beyond_end'), 1)
  await world.stop()
})
