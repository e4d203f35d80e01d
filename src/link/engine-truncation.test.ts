/** A source that lost data: what is cut under the policy `truncate`, what is reported, and when nothing is cut. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { batchAt, EngineWorld, linkRequest, mirrorRequest } from './fakes/engine-world.ts'

async function mirroring(policy: 'fail' | 'truncate' = 'truncate', more: Record<string, string> = {}) {
  const world = new EngineWorld()
  await world.start()
  const source = world.source.addTopic('orders', 1).partitions[0]
  ok(source)
  const configs = { 'mirror.unclean.truncation.policy': policy, ...more }
  await world.engine.createLink(linkRequest('west', configs), { validateOnly: false, validateLink: true })
  await world.engine.createMirror('west', mirrorRequest('orders'))
  const topicId = world.cluster.topicNamed('orders')?.topicId
  ok(topicId)
  const log = world.cluster.topics.get(topicId)?.logs[0]
  ok(log)
  return { world, source, log, view: () => world.engine.describeMirror('west', 'orders') }
}

const alter = (world: EngineWorld, name: string, value: string) =>
  world.engine.alterLinkConfigs('west', [{ name, operation: 'SET', value }], { validateOnly: false })

const bytes = (batches: readonly { bytes: Buffer }[]) => Buffer.concat(batches.map(batch => batch.bytes))

test('a truncated tail is cut to the common point, reported, and what the source has instead is mirrored', async () => {
  const { world, source, log, view } = await mirroring()
  source.append(batchAt(0, 10), batchAt(10, 10), batchAt(20, 10))
  await world.mirrorAll()
  source.truncateTo(20)
  source.append(batchAt(20, 3, { epoch: 1 }), batchAt(23, 40, { epoch: 1 }))
  await world.mirrorAll()
  equal(log.logEndOffset, 63)
  deepEqual(bytes(log.batches), Buffer.concat(source.batches))
  equal(view().status, 'ACTIVE')
  equal(world.engine.incidentCounts().get('truncation'), 1)
  await world.engine.stop()
})

// Another broker led for so short that nobody stopped mirroring: the next batch came behind its marker, one offset too far.
test('what others appended while they led for a moment is cut before anything more is mirrored', async () => {
  const { world, source, log, view } = await mirroring('fail')
  source.append(batchAt(0, 10))
  await world.mirrorAll()
  log.append(batchAt(10, 1))
  log.foreignFrom = 10
  source.append(batchAt(10, 5), batchAt(15, 5))
  await world.mirrorAll(3)
  deepEqual(bytes(log.batches), Buffer.concat(source.batches))
  equal(view().status, 'ACTIVE')
  await world.engine.stop()
})

test('a mirror that was compacted with what is cut off is mirrored anew, since older records of its keys are missing', async () => {
  const { world, source, log } = await mirroring()
  source.append(batchAt(0, 10), batchAt(10, 10), batchAt(20, 10))
  await world.mirrorAll()
  // What the source has at 20 took the place of the first batch.
  log.batches = log.batches.slice(1)
  log.cleanedOffset = 25
  source.truncateTo(20)
  source.append(batchAt(20, 3, { epoch: 1 }))
  await world.mirrorAll(4)
  deepEqual(bytes(log.batches), Buffer.concat(source.batches))
  equal(world.engine.incidentCounts().get('truncation'), 1)
  await world.engine.stop()
})

// The mirror went on where it had once been sent by a log start inside a batch, and passed over what the new leader had below.
test('after a cut everything that the source has behind it is asked for', async () => {
  const { world, source, log } = await mirroring('truncate', { 'topic.config.sync.include': 'delete.retention.ms' })
  const first = batchAt(0, 10)
  source.append(first)
  await world.mirrorAll()
  source.batches = []
  source.append(batchAt(100, 10))
  source.logStartOffset = 105
  await world.mirrorAll(4)
  equal(log.logEndOffset, 110)
  // The replica that leads now never learned of the deletion.
  source.batches = [first]
  source.logStartOffset = 0
  source.leaderEpoch = 1
  source.append(batchAt(50, 10, { epoch: 1 }), batchAt(60, 60, { epoch: 1 }))
  await world.mirrorAll(4)
  deepEqual(bytes(log.batches), Buffer.concat(source.batches))
  await world.engine.stop()
})

test('the end of the source inside a batch of the mirror takes the whole batch', async () => {
  const { world, source, log } = await mirroring()
  source.append(batchAt(0, 10), batchAt(10, 10))
  await world.mirrorAll()
  source.truncateTo(10)
  source.append(batchAt(10, 4))
  source.append(batchAt(14, 4, { epoch: 1 }))
  await world.mirrorAll()
  deepEqual(bytes(log.batches), Buffer.concat(source.batches))
  await world.engine.stop()
})

test('where the epochs do not tell, CRCs find the common point', async () => {
  const { world, source, log } = await mirroring()
  source.append(batchAt(0, 10), batchAt(10, 10), batchAt(20, 10), batchAt(30, 10))
  await world.mirrorAll()
  // Restored from a copy: the same epoch, other data from offset 20 on, and fewer of it.
  source.truncateTo(20)
  source.append(batchAt(20, 10, { producerId: 5n }))
  await world.mirrorAll()
  deepEqual(bytes(log.batches), Buffer.concat(source.batches))
  await world.engine.stop()
})

// What the restored source had from 10 to 21 was cleaned away: that nothing there differs from the mirror's proves nothing.
test('a batch of the mirror in a hole of the source is no common point', async () => {
  const { world, source, log, view } = await mirroring()
  source.append(batchAt(0, 10), batchAt(10, 10), batchAt(20, 10))
  await world.mirrorAll()
  source.truncateTo(10)
  source.append(batchAt(22, 5, { producerId: 5n }))
  await world.mirrorAll(4)
  deepEqual(bytes(log.batches), Buffer.concat(source.batches))
  equal(view().status, 'ACTIVE')
  await world.engine.stop()
})

// They were forgotten first. A node that was killed before the cut left a tail without epochs behind, for which no check of the
// history was made any more: data of two histories got into one mirror. Found by simulation.
test('the epochs of what is cut off are forgotten after the cut is on disk', async () => {
  const { world, source, log } = await mirroring()
  source.append(batchAt(0, 10))
  source.leaderEpoch = 4
  source.append(batchAt(10, 10, { epoch: 4 }))
  await world.mirrorAll()
  world.process.effects.length = 0
  source.truncateTo(10)
  source.append(batchAt(10, 2, { epoch: 5 }))
  await world.mirrorAll()
  // Report, cut, ranges, range of the new epoch, append.
  deepEqual(world.process.effects, ['append state', 'truncate', 'flush', 'append state', 'append state', 'append'])
  equal(log.logEndOffset, 12)
  await world.engine.stop()
})

// The source's first epoch began where its log started, inside a batch. The mirror was cut to that offset, in a hole of its own,
// and the batch, which begins below, did not fit any more. Found by simulation.
test('a cut never ends in a hole, where the next batch may begin below', async () => {
  const { world, source, log, view } = await mirroring()
  source.append(batchAt(0, 10), batchAt(23, 5), batchAt(28, 5))
  await world.mirrorAll()
  await alter(world, 'topic.config.sync.include', 'delete.retention.ms')
  source.truncateTo(13)
  source.append(batchAt(13, 4, { epoch: 1 }), batchAt(17, 3, { epoch: 1 }))
  source.logStartOffset = 14
  source.epochEnd = { epoch: 0, endOffset: 14 }
  await world.mirrorAll(4)
  equal(view().status, 'ACTIVE')
  deepEqual(
    log.batches.map(batch => batch.header.baseOffset),
    [0, 13, 17],
  )
  await world.engine.stop()
})

test('everything may be cut, and a source that ends below the log start fails the partition', async () => {
  const { world, source, log, view } = await mirroring()
  source.append(batchAt(0, 10), batchAt(10, 10))
  source.logStartOffset = 10
  await world.mirrorAll()
  equal(log.logStartOffset, 10)
  source.truncateTo(10)
  await world.mirrorAll()
  deepEqual([log.logStartOffset, log.logEndOffset], [10, 10])
  equal(view().status, 'ACTIVE')
  source.append(batchAt(10, 5, { epoch: 1 }))
  await world.mirrorAll()
  equal(log.logEndOffset, 15)
  source.logStartOffset = 0
  source.truncateTo(4)
  await world.mirrorAll()
  deepEqual([log.logStartOffset, log.logEndOffset], [10, 15])
  equal(view().error, 'UNEXPECTED_TRUNCATION')
  match(view().reason ?? '', /nothing was cut, since the source ends at offset 4, below the mirror's log start 10/)
  await world.engine.stop()
})

test('while the source cannot be asked nothing is cut and nothing appended', async () => {
  const { world, source, log } = await mirroring()
  source.append(batchAt(0, 10), batchAt(10, 10))
  await world.mirrorAll()
  source.truncateTo(10)
  source.append(batchAt(10, 30, { epoch: 1 }))
  world.source.questionFailure = { failure: 'timeout', message: 'no answer' }
  await world.mirrorAll()
  await world.clock.advance(1000)
  await world.mirrorAll()
  equal(log.logEndOffset, 20)
  world.source.questionFailure = undefined
  await world.clock.advance(10_000)
  await world.mirrorAll()
  deepEqual(bytes(log.batches), Buffer.concat(source.batches))
  await world.engine.stop()
})

test('a cut that is killed at any of its effects is done by the next node', async () => {
  for (const side of ['before', 'after'] as const)
    for (let at = 0; at < 4; at++) {
      const { world, source, log } = await mirroring()
      source.append(batchAt(0, 10), batchAt(10, 10))
      await world.mirrorAll()
      log.flushedOffset = 20
      source.truncateTo(10)
      source.append(batchAt(10, 3, { epoch: 1 }))
      world.process.planCrash({ at, side })
      await world.mirrorAll()
      equal(world.process.killed, true)
      await world.start()
      await world.mirrorAll()
      const now = world.cluster.topicNamed('orders')?.logs[0]
      ok(now)
      deepEqual(bytes(now.batches), Buffer.concat(source.batches), `${side} ${at}`)
      ok(world.engine.describeHistory('west', 'orders').some(({ event }) => event === 'truncation'))
      await world.engine.stop()
    }
})
