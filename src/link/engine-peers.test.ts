/** Mirrors whose partitions two nodes lead: what the link coordinator decides reaches both, and what both know is told. */
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { batchAt, linkRequest, mirrorRequest } from './fakes/engine-world.ts'
import { TwoNodes } from './fakes/two-nodes.ts'

/** A mirror of two partitions, one on each node, with 3 records each. */
async function mirroring(): Promise<TwoNodes> {
  const nodes = new TwoNodes()
  await nodes.start()
  await nodes.engines[1].createLink(linkRequest('west'), { validateOnly: false, validateLink: true })
  const { partitions } = nodes.source.addTopic('orders', 2)
  for (const partition of partitions) partition.append(batchAt(0, 3))
  await nodes.engines[1].createMirror('west', mirrorRequest('orders'))
  await nodes.mirrorAll()
  return nodes
}

const append = (nodes: TwoNodes, offset: number) => {
  for (const partition of nodes.source.topics.get('orders')?.partitions ?? []) partition.append(batchAt(offset, 2))
}

const ends = (nodes: TwoNodes) => nodes.cluster.topicNamed('orders')?.logs.map(({ logEndOffset }) => logEndOffset)

const alter = (nodes: TwoNodes, verb: 'failover' | 'promote' | 'pause' | 'resume', validateOnly = false) =>
  nodes.engines[1].alterMirrors('west', verb, { selection: { names: ['orders'] }, validateOnly })

const mirrorOf = (nodes: TwoNodes) => ({
  linkId: nodes.engines[1].describeLink('west').linkId,
  mirrorTopic: 'orders',
  topicId: nodes.cluster.topicNamed('orders')?.topicId ?? nodes.engines[1].describeLink('west').linkId,
})

test('the coordinator tells what the other node says of its partitions, for as long as that is fresh', async () => {
  const nodes = await mirroring()
  const lags = (node: 1 | 2 = 1) =>
    nodes.engines[node].describeMirror('west', 'orders').lags.map(({ lag, logEndOffset }) => [lag, logEndOffset])
  await nodes.advance(2000)
  deepEqual(lags(), [
    [0, 3],
    [0, 3],
  ])
  deepEqual(
    nodes.engines[2].describeMirror('west', 'orders').lags.map(({ isLedHere }) => isLedHere),
    [false, true],
  )
  nodes.silent.add(2)
  await nodes.advance(11_000)
  deepEqual(lags(), [
    [0, 3],
    [null, null],
  ])
  equal(nodes.engines[1].describeMirror('west', 'orders').lagMs, null)
  nodes.silent.clear()
  await nodes.advance(2000)
  deepEqual(lags()[1], [0, 3])
  await nodes.stop()
})

// The other node would have gone on for as long as it had not read that the mirror stops, behind the recorded stop point.
test('a failover waits until the other node has heard of it, and records what that has mirrored until then', async () => {
  const nodes = await mirroring()
  nodes.behind.add(2)
  const failedOver = alter(nodes, 'failover')
  await nodes.settle()
  append(nodes, 3)
  await nodes.mirrorAll()
  deepEqual(ends(nodes), [3, 5])
  nodes.catchUp(2)
  const [row] = await failedOver
  equal(row?.errorCode, null)
  append(nodes, 5)
  await nodes.mirrorAll()
  deepEqual(ends(nodes), [3, 5])
  const { status, stopPoints } = nodes.engines[1].describeMirror('west', 'orders')
  deepEqual([status, stopPoints.map(({ stopOffset }) => stopOffset)], ['STOPPED', [3, 5]])
  await nodes.stop()
})

test('a failover that cannot reach the other node says so and goes on when it can', async () => {
  const nodes = await mirroring()
  nodes.silent.add(2)
  const [row] = await alter(nodes, 'failover')
  match(row?.errorMessage ?? '', /stop fetching.*node 2 does not answer/)
  nodes.silent.clear()
  await nodes.advance(1000)
  equal(nodes.engines[1].describeMirror('west', 'orders').status, 'STOPPED')
  await nodes.stop()
})

test('a promote holds the other node while it looks, and lets go where something is missing', async () => {
  const nodes = await mirroring()
  append(nodes, 3)
  await alter(nodes, 'promote')
  await nodes.advance(1000)
  equal(nodes.engines[1].describeMirror('west', 'orders').status, 'PENDING_STOPPED')
  await nodes.mirrorAll()
  nodes.calls.length = 0
  await nodes.advance(1000)
  const { status, stopPoints } = nodes.engines[1].describeMirror('west', 'orders')
  deepEqual([status, stopPoints.map(({ stopOffset }) => stopOffset)], ['STOPPED', [5, 5]])
  deepEqual(
    nodes.calls.filter(call => !call.endsWith('reports')),
    ['2 hold', '2 release', '2 stop'],
  )
  await nodes.stop()
})

test('a hold ends when it is released by its own name, when its time is over, and when another node coordinates', async () => {
  const nodes = await mirroring()
  const service = nodes.engines[2].peerService
  const mirror = mirrorOf(nodes)
  const hold = (id: string) => service.holdFetching(mirror, 0, { id, leaseMs: 60_000 })
  const grows = async (offset: number) => {
    append(nodes, offset)
    await nodes.mirrorAll()
    return ends(nodes)?.[1] === offset + 2
  }
  await hold('a')
  equal(await grows(3), false)
  await service.releaseFetching(mirror, 'b')
  await nodes.mirrorAll()
  equal(ends(nodes)?.[1], 3)
  await service.releaseFetching(mirror, 'a')
  await nodes.mirrorAll()
  equal(ends(nodes)?.[1], 5)
  await hold('c')
  await hold('d')
  await service.releaseFetching(mirror, 'c')
  equal(await grows(5), false)
  await nodes.advance(60_000)
  await nodes.mirrorAll()
  equal(ends(nodes)?.[1], 7)
  await hold('e')
  equal(await grows(7), false)
  nodes.changeCoordinator()
  await nodes.mirrorAll()
  equal(ends(nodes)?.[1], 9)
  await nodes.stop()
})

test('a pause answers when the other node has stopped; a resume lets both go on', async () => {
  const nodes = await mirroring()
  const [paused] = await alter(nodes, 'pause')
  deepEqual(
    paused?.partitions.map(({ endOffset }) => endOffset),
    [3, 3],
  )
  append(nodes, 3)
  await nodes.mirrorAll()
  deepEqual(ends(nodes), [3, 3])
  await alter(nodes, 'resume')
  await nodes.mirrorAll()
  deepEqual(ends(nodes), [5, 5])
  await nodes.stop()
})

test('a node does not say that it stopped what it is to fetch, nor ends a mirror that it does not know to stop', async () => {
  const nodes = await mirroring()
  const service = nodes.engines[2].peerService
  const mirror = mirrorOf(nodes)
  await rejects(service.stopFetching(mirror, 0), /is to be fetched/)
  match(service.endingProblem(mirror.topicId) ?? '', /not heard/)
  nodes.behind.add(2)
  const late = service.stopFetching(mirror, Number.MAX_SAFE_INTEGER)
  await Promise.all([rejects(late, /behind/), nodes.advance(8000)])
  nodes.catchUp(2)
  await alter(nodes, 'failover')
  match(service.endingProblem(mirror.topicId) ?? '', /not heard/)
  await nodes.stop()
})
