/** Log starts: following the source's, and what happens when retention at the source overtakes the mirror. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { batchAt, EngineWorld, linkRequest, mirrorRequest } from './fakes/engine-world.ts'

async function worldWithMirror(configs: Record<string, string> = {}) {
  const world = new EngineWorld()
  await world.start()
  world.source.addTopic('orders', 1)
  await world.engine.createLink(linkRequest('west', configs), { validateOnly: false, validateLink: true })
  await world.engine.createMirror('west', mirrorRequest('orders'))
  return world
}

const partition = (world: EngineWorld, index: number) => {
  const log = world.cluster.topicNamed('orders')?.logs[index]
  ok(log)
  return log
}

test('the log start follows the source, unless retention is left out of the sync', async () => {
  for (const [configs, expected] of [
    [{}, 4],
    [{ 'topic.config.sync.include': 'delete.retention.ms' }, 0],
  ] as const) {
    const world = await worldWithMirror(configs)
    const source = world.source.topics.get('orders')?.partitions[0]
    ok(source)
    source.append(batchAt(0, 4), batchAt(4, 4))
    await world.mirrorAll()
    source.logStartOffset = 4
    await world.mirrorAll()
    equal(partition(world, 0).logStartOffset, expected)
    await world.engine.stop()
  }
})

test('retention that overtakes the mirror leaves a hole and a report, and mirroring goes on', async () => {
  const world = await worldWithMirror({ 'topic.config.sync.include': 'delete.retention.ms' })
  const source = world.source.topics.get('orders')?.partitions[0]
  ok(source)
  source.append(batchAt(0, 10))
  await world.mirrorAll()
  source.batches = []
  source.append(batchAt(100, 5))
  source.logStartOffset = 100
  await world.mirrorAll(4)
  const mirrored = partition(world, 0)
  equal(mirrored.logStartOffset, 0)
  equal(mirrored.logEndOffset, 105)
  equal(world.engine.incidentCounts().get('out_of_range'), 1)
  match(world.engine.describeHistory('west', 'orders')[0]?.reason ?? '', /partition 0: .*offsets 10 to 99 \(90\)/)
  await world.engine.stop()
})

// The mirror asked for the offset where its log ended, which the source refused, or had a hole up to the middle of a batch,
// which then did not fit: with retention of its own the partition failed for good.
test('a source whose log starts inside a batch goes on behind older data with the whole batch', async () => {
  for (const next of [10, 100]) {
    const world = await worldWithMirror({ 'topic.config.sync.include': 'delete.retention.ms' })
    const source = world.source.topics.get('orders')?.partitions[0]
    ok(source)
    source.append(batchAt(0, 10))
    await world.mirrorAll()
    const log = partition(world, 0)
    log.flushedOffset = log.logEndOffset
    source.batches = []
    source.append(batchAt(next, 8))
    source.logStartOffset = next + 5
    await world.mirrorAll(2)
    await world.start()
    await world.mirrorAll(4)
    deepEqual(
      partition(world, 0).batches.map(batch => batch.header.baseOffset),
      [0, next],
    )
    equal(world.engine.describeMirror('west', 'orders').status, 'ACTIVE')
    await world.engine.stop()
  }
})

// The mirror's log had nothing to read, but was not empty on disk: the batch was verified, the log refused it, and the
// partition tried for ever instead of failing.
test('batches that the source cut anew do not fit behind data that is only deleted, not gone', async () => {
  const world = await worldWithMirror()
  const source = world.source.topics.get('orders')?.partitions[0]
  ok(source)
  source.append(batchAt(0, 10))
  await world.mirrorAll()
  source.logStartOffset = 10
  await world.mirrorAll()
  source.batches = []
  source.append(batchAt(8, 4))
  await world.mirrorAll(2)
  const view = world.engine.describeMirror('west', 'orders')
  deepEqual([view.status, view.error], ['FAILED', 'UNALIGNED_BATCH'])
  match(view.reason ?? '', /offsets 8 to 11 where 10 was wanted/)
  equal(partition(world, 0).logEndOffset, 10)
  await world.engine.stop()
})

// A transaction was open in the mirror, its end was among the offsets that the source had deleted: the mirror's last stable
// offset stayed where it began, and read_committed readers waited for ever.
test('a transaction that may have ended in what was lost is forgotten with the data that the source deleted', async () => {
  const world = await worldWithMirror()
  const source = world.source.topics.get('orders')?.partitions[0]
  ok(source)
  source.append(batchAt(0, 5, { producerId: 7n, transactional: true }))
  await world.mirrorAll()
  equal(partition(world, 0).openTransactions().length, 1)
  source.batches = []
  source.append(batchAt(50, 10))
  source.logStartOffset = 55
  await world.mirrorAll(4)
  const { logStartOffset, logEndOffset } = partition(world, 0)
  deepEqual([logStartOffset, logEndOffset], [55, 60])
  deepEqual(partition(world, 0).openTransactions(), [])
  match(world.engine.describeHistory('west', 'orders')[0]?.reason ?? '', /offsets 5 to 49 \(45\)/)
  await world.engine.stop()
})

// Right after an election the source showed no data where its log starts, in the middle of a batch. The mirror left a hole up to
// there, and the whole batch, which came later, did not fit. Found by simulation.
test('a source that shows nothing is believed only when that lasts', async () => {
  for (const isElection of [true, false]) {
    const world = await worldWithMirror({ 'topic.config.sync.include': 'delete.retention.ms' })
    const source = world.source.topics.get('orders')?.partitions[0]
    ok(source)
    source.append(batchAt(0, 10))
    await world.mirrorAll()
    Object.assign(source, { batches: [], logStartOffset: 12, highWatermark: 12 })
    await world.mirrorAll()
    equal(partition(world, 0).logEndOffset, 10)
    if (isElection) source.append(batchAt(10, 8))
    await world.clock.advance(6000)
    await world.mirrorAll(2)
    if (!isElection) {
      equal(partition(world, 0).logEndOffset, 12)
      source.append(batchAt(12, 8))
    }
    await world.mirrorAll()
    deepEqual(
      partition(world, 0).batches.map(batch => batch.header.baseOffset),
      [0, isElection ? 10 : 12],
    )
    await world.engine.stop()
  }
})
