/** Reverse: a mirror and its source change roles. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { batchAt } from './fakes/engine-world.ts'
import type { PeerCluster } from './fakes/peer-clusters.ts'
import { answered, ask, mirroredPeers, openTransaction, states, writable } from './fakes/reversed-peers.ts'
import { decodeStateRecord } from './state-records/record-codec.ts'

const cut = { failure: 'tcp', message: 'connection refused' } as const

test('a mirror that is reversed becomes writable, and its source follows it without a loss', async () => {
  const world = await mirroredPeers()
  const { east, west } = world
  east.write('orders', batchAt(3, 2))
  const [row] = await ask(west, 'reverse-and-start-mirror')
  equal(row?.errorMessage, null)
  await world.pass(8000)
  deepEqual(states(world), ['STOPPED', 'ACTIVE'])
  deepEqual(writable(world), [true, false])
  west.write('orders', batchAt(5, 4))
  await world.pass(2000)
  deepEqual(east.contents('orders'), west.contents('orders'))
  match(east.engine.describeHistory('twin', 'orders')[0]?.reason ?? '', /^reversed; nobody could write for \d+ ms; 0/)
  const [followed] = west.engine.describeHistory('twin', 'orders')
  match(
    `${followed?.event}: ${followed?.reason}`,
    /^reversed: the other cluster follows; nobody could write for \d+ ms$/,
  )
  // And back.
  await ask(east, 'reverse-and-pause-mirror')
  await world.pass(8000)
  deepEqual(states(world), ['PAUSED', 'STOPPED'])
  await world.stop()
})

test('the old source begins as a mirror: without stop points, with the epochs of its new source, its groups given to the link', async () => {
  const world = await mirroredPeers()
  const { east, west } = world
  const groupFilters = [{ name: '*', patternType: 'LITERAL', filterType: 'INCLUDE' }]
  const configs = {
    'consumer.offset.sync.enable': 'true',
    'consumer.offset.group.filters': JSON.stringify({ groupFilters }),
  }
  const changes = Object.entries(configs).map(([name, value]) => ({ name, operation: 'SET' as const, value }))
  for (const side of [east, west]) await side.engine.alterLinkConfigs('twin', changes, { validateOnly: false })
  const commit = ({ cluster }: PeerCluster, offset: number) =>
    cluster.commit('billing', [{ topic: 'orders', partition: 0, offset, metadata: '', leaderEpoch: 0 }])
  commit(east, 2)
  await ask(west, 'reverse-and-start-mirror')
  await world.pass(8000)
  deepEqual(states(world), ['STOPPED', 'ACTIVE'])
  deepEqual(east.engine.describeMirror('twin', 'orders').stopPoints, [])
  const epochs = east.cluster.stateRecords.map(decodeStateRecord).findLast(({ kind }) => kind === 'source-epochs')
  deepEqual(epochs?.kind === 'source-epochs' && epochs.record.ranges, [{ epoch: 0, firstOffset: 0 }])
  commit(west, 3)
  await world.pass(31_000, 1000)
  deepEqual(
    east.engine.listGroupOffsets('twin').map(({ state, syncedOffset }) => [state, syncedOffset]),
    [['SYNCED', 3]],
  )
  // And back: where the roles have changed twice, the ends of the first time count for nobody.
  await ask(east, 'reverse-and-start-mirror')
  await world.pass(8000)
  deepEqual(states(world), ['ACTIVE', 'STOPPED'])
  deepEqual(west.engine.describeMirror('twin', 'orders').stopPoints, [])
  await world.stop()
})

test('from the moment at which the source looks for the last time, not even markers are written to it', async () => {
  const world = await mirroredPeers()
  const { east, west } = world
  const topicId = east.cluster.topicNamed('orders')?.topicId
  const takesMarkers = () => {
    const status = topicId && east.engine.writeStatus(topicId, 'orders')
    return (
      typeof status === 'object' && (status.kind === 'writable' || (status.kind === 'mirror' && status.takesMarkers))
    )
  }
  // What was let in before the topic was refused is written when it looks for open transactions ...
  const log = east.cluster.topicNamed('orders')?.logs[0]
  const seen: boolean[] = []
  east.process.onEffect = name => {
    if (name !== 'raise log start' || east.status('orders') !== 'PENDING_MIRROR') return
    seen.push(takesMarkers())
    if (seen.length === 1) log?.append(batchAt(3, 1, { producerId: 7n, transactional: true }))
  }
  await ask(west, 'reverse-and-start-mirror')
  await world.pass(4000)
  // ... so it waits for its end, and with markers refused it looks once more.
  equal(east.engine.describeMirror('twin', 'orders').reversal?.peerStatus, 'PENDING_SYNCHRONIZE')
  deepEqual([seen[0], log?.openTransactions().length], [true, 1])
  await world.pass(70_000, 2000)
  deepEqual(states(world), ['STOPPED', 'ACTIVE'])
  deepEqual(seen.slice(-2), [false, false])
  deepEqual(east.contents('orders'), west.contents('orders'))
  await world.stop()
})

test('a dry run of a reverse says what is missing and which transactions are open, and changes nothing', async () => {
  const world = await mirroredPeers()
  openTransaction(world)
  const [row] = await ask(world.west, 'reverse-and-start-mirror', { validateOnly: true })
  match(row?.partitions[0]?.waitingFor ?? '', /1 offsets behind the source/)
  await world.pass(4000)
  deepEqual(states(world), ['ACTIVE', undefined])
  await world.stop()
})

test('a reverse is refused where it could not be finished', async () => {
  const world = await mirroredPeers()
  const { east, west } = world
  const refusal = async () => (await ask(west, 'reverse-and-start-mirror'))[0]?.errorMessage ?? ''
  const set = (side: PeerCluster, name: string, value: string) =>
    side.engine.alterLinkConfigs('twin', [{ name, operation: 'SET', value }], { validateOnly: false })
  await set(west, 'cluster.link.paused', 'true')
  match(await refusal(), /is paused/)
  await set(west, 'cluster.link.paused', 'false')
  await set(east, 'cluster.link.paused', 'true')
  await world.pass(500)
  match(await refusal(), /is paused at the other cluster/)
  await set(east, 'cluster.link.paused', 'false')
  await world.pass(500)
  east.cluster.defaultConfigs.set('unclean.leader.election.enable', 'true')
  match(await refusal(), /unclean.leader.election.enable is on at the other cluster/)
  east.cluster.defaultConfigs.set('unclean.leader.election.enable', 'false')
  east.asSource.failure = cut
  match(await refusal(), /cannot be read|could not be asked/)
  east.asSource.failure = undefined
  await world.pass(500)
  equal(await refusal(), '')
  await world.stop()
})

// Both sides waited without a word: the mirror for a source that had not heard of it, and the source stayed writable.
test('a reverse says on both sides that the source cannot read of it, and goes on when it can', async () => {
  const world = await mirroredPeers()
  const { east, west } = world
  const reversal = ({ engine }: PeerCluster) =>
    engine
      .describeLink('twin')
      .tasks.find(({ name }) => name === 'Reversal')
      ?.errors.map(({ message }) => message)
  const peerCheck = ({ engine }: PeerCluster) =>
    engine
      .describeLink('twin')
      .tasks.find(({ name }) => name === 'PeerCheck')
      ?.errors.map(({ code }) => code)
  const reason = () => west.engine.describeMirror('twin', 'orders').reason ?? ''
  // East, the source, may not read what west publishes.
  west.asSource.failure = { failure: 'authorization', message: 'no DESCRIBE' }
  await world.pass(6000)
  deepEqual(peerCheck(east), ['AUTHORIZATION_ERROR'])
  await world.pass(20_000, 1000)
  for (const validateOnly of [true, false]) {
    const [row] = await ask(west, 'reverse-and-start-mirror', { validateOnly })
    match(row?.warnings?.join() ?? '', /^It cannot begin as long as the other half .* may not read __lockstep_status/)
  }
  await world.pass(20_000)
  deepEqual(states(world), ['PENDING_SYNCHRONIZE', undefined])
  deepEqual(writable(world), [false, true])
  match(
    reason(),
    /close its copy, which its side of the link cannot do: the link may not read __lockstep_status: no DES/,
  )
  match(reversal(west)?.join() ?? '', /^orders: at the other cluster: the link may not read __lockstep_status/)
  west.asSource.failure = undefined
  await world.pass(40_000)
  deepEqual(states(world), ['STOPPED', 'ACTIVE'])
  deepEqual([reversal(west), reversal(east)], [[], []])
  await world.stop()
})

test('a reverse under way says that the other side cannot be asked any more', async () => {
  const world = await mirroredPeers()
  const { east, west } = world
  openTransaction(world)
  await ask(west, 'reverse-and-start-mirror')
  await world.pass(4000)
  deepEqual(states(world), ['PENDING_SYNCHRONIZE', 'PENDING_MIRROR'])
  for (const side of [east, west]) side.asSource.failure = cut
  await world.pass(4000)
  for (const { engine } of [east, west]) {
    const told = /cannot be read: connection refused/
    match(engine.describeMirror('twin', 'orders').reason ?? '', told)
    const task = engine.describeLink('twin').tasks.find(({ name }) => name === 'Reversal')
    match(task?.errors[0]?.message ?? '', told)
  }
  await west.start()
  // What it has not read in this life it does not take for an ordinary topic.
  equal(west.engine.describeMirror('twin', 'orders').reversal?.peerStatus, 'UNKNOWN')
  for (const side of [east, west]) side.asSource.failure = undefined
  await world.pass(90_000)
  deepEqual(states(world), ['STOPPED', 'ACTIVE'])
  await world.stop()
})

// It was an error of ChainCheck, with the advice to fail one of both over.
test('a reverse is no loop of mirrors, however long it takes', async () => {
  const world = await mirroredPeers()
  const { east, west } = world
  const errors = () =>
    [east, west].flatMap(({ engine }) => engine.describeLink('twin').tasks.flatMap(({ errors: found }) => found))
  openTransaction(world)
  await world.pass(20_000, 1000)
  await ask(west, 'reverse-and-start-mirror')
  await world.pass(30_000, 1000)
  deepEqual([states(world), errors()], [['PENDING_SYNCHRONIZE', 'PENDING_MIRROR'], []])
  await world.pass(60_000, 1000)
  deepEqual([states(world), errors()], [['STOPPED', 'ACTIVE'], []])
  equal(east.engine.describeMirror('twin', 'orders').reason, null)
  await world.stop()
})

test('transactions that do not end are aborted after a while, and never are both writable', async () => {
  const world = await mirroredPeers()
  openTransaction(world)
  await ask(world.west, 'reverse-and-start-mirror')
  for (let round = 0; round < 90; round++) {
    await world.pass(1000)
    deepEqual(writable(world).filter(Boolean).length <= 1, true)
  }
  deepEqual(states(world), ['STOPPED', 'ACTIVE'])
  deepEqual(world.east.contents('orders'), world.west.contents('orders'))
  match(world.west.engine.describeHistory('twin', 'orders')[0]?.reason ?? '', /; 1 transaction\(s\) were aborted$/)
  await world.stop()
})

test('topics that are reversed together take over together, and stay together what they are', async () => {
  const names = ['orders', 'payments']
  const world = await mirroredPeers(names)
  const { east, west } = world
  openTransaction(world)
  await ask(west, 'reverse-and-start-mirror', { selection: { names }, together: true })
  for (let round = 0; round < 20; round++) await world.pass(1000)
  deepEqual(states(world, 'payments'), ['PENDING_STOPPED', 'PENDING_MIRROR'])
  const row = await answered(world, ask(east, 'failover'))
  equal(row?.errorMessage, null)
  await world.pass(4000)
  for (const name of names) deepEqual(states(world, name), ['ACTIVE', undefined], name)
  await ask(west, 'reverse-and-start-mirror', { selection: { names }, together: true })
  for (let round = 0; round < 80; round++) {
    await world.pass(1000)
    const open = names.filter(name => west.isWritable(name))
    ok(open.length === 0 || names.every(name => west.status(name) !== 'PENDING_SYNCHRONIZE'), `${open}`)
  }
  for (const name of names) deepEqual(states(world, name), ['STOPPED', 'ACTIVE'], name)
  await world.stop()
})

// One was accepted, its source closed, and nobody could write it while it waited for the other, which had been refused.
test('of topics that are reversed together none begins where the other cluster stands in the way of one', async () => {
  const names = ['orders', 'payments']
  const world = await mirroredPeers(names)
  const { east, west } = world
  const payments = east.cluster.topicNamed('payments')
  if (payments) payments.configs = new Map([['unclean.leader.election.enable', 'true']])
  for (const validateOnly of [true, false]) {
    const options = { selection: { names }, together: true, validateOnly }
    for (const row of await ask(west, 'reverse-and-start-mirror', options))
      match(row.errorMessage ?? '', /^Mirror topic 'payments' cannot be reversed: unclean/, row.mirrorTopicName)
  }
  await world.pass(4000)
  for (const name of names)
    deepEqual(
      [states(world, name), writable(world, name)],
      [
        ['ACTIVE', undefined],
        [false, true],
      ],
    )
  if (payments) payments.configs = new Map([['unclean.leader.election.enable', 'false']])
  await ask(west, 'reverse-and-start-mirror', { selection: { names }, together: true })
  await world.pass(8000)
  for (const name of names) deepEqual(states(world, name), ['STOPPED', 'ACTIVE'], name)
  await world.stop()
})
