/** Pause and resume of mirrors and links, and the way back from FAILED. */
import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { MirrorVerb } from './engine-api.ts'
import { batchAt, EngineWorld, linkRequest, mirrorRequest } from './fakes/engine-world.ts'

async function mirroring(configs: Record<string, string> = {}) {
  const world = new EngineWorld()
  await world.start()
  const partitions = world.source.addTopic('orders', 2).partitions
  const [first, second] = partitions
  ok(first && second)
  await world.engine.createLink(linkRequest('west', configs), { validateOnly: false, validateLink: true })
  await world.engine.createMirror('west', mirrorRequest('orders'))
  first.append(batchAt(0, 10))
  second.append(batchAt(0, 5))
  await world.mirrorAll()
  const ask = async (verb: MirrorVerb, validateOnly = false) => {
    const [row] = await world.engine.alterMirrors('west', verb, { selection: { pattern: 'orders' }, validateOnly })
    ok(row)
    return row
  }
  const ends = () => world.cluster.topicNamed('orders')?.logs.map(log => log.logEndOffset)
  return { world, first, second, ask, ends, view: () => world.engine.describeMirror('west', 'orders') }
}

const alter = (world: EngineWorld, name: string, value: string) =>
  world.engine.alterLinkConfigs('west', [{ name, operation: 'SET', value }], { validateOnly: false })

test('a paused mirror fetches nothing until it is resumed, over restarts', async () => {
  const { world, first, ask, ends, view } = await mirroring()
  const effects = world.process.effects.length
  const dry = await ask('pause', true)
  equal(world.process.effects.length, effects)
  equal(view().status, 'ACTIVE')
  const row = await ask('pause')
  equal(row.errorCode, null)
  deepEqual(
    row.partitions.map(({ partition, endOffset, lastKnownLag }) => [partition, endOffset, lastKnownLag]),
    [
      [0, 10, 0],
      [1, 5, 0],
    ],
  )
  deepEqual(dry.partitions, row.partitions)
  equal(view().status, 'PAUSED')
  deepEqual(view().allowedActions, ['promote', 'failover', 'pause', 'resume', 'delete'])
  deepEqual(world.source.fetched, [])
  equal((await ask('pause')).errorCode, null, 'asking twice is no error')
  first.append(batchAt(10, 10))
  await world.mirrorAll()
  await world.clock.advance(5000)
  equal(view().lagMs, 5000, 'nobody knows how equal a paused mirror is')
  for (const log of world.cluster.topicNamed('orders')?.logs ?? []) log.flushedOffset = log.logEndOffset
  await world.start()
  await world.mirrorAll()
  deepEqual(ends(), [10, 5])
  equal((await ask('resume', true)).errorCode, null)
  equal(view().status, 'PAUSED')
  equal((await ask('resume')).errorCode, null)
  await world.mirrorAll()
  deepEqual(ends(), [20, 5])
  equal(view().lagMs, 0)
  match((await ask('resume')).errorMessage ?? '', /is ACTIVE, where resume is not possible/)
  deepEqual(
    world.engine.describeHistory('west', 'orders').map(({ event }) => event),
    ['resume', 'pause', 'create'],
  )
  await world.engine.stop()
})

test('a resume tells what the source has deleted meanwhile, if the source answers', async () => {
  const { world, first, ask } = await mirroring()
  const deleted = (row: Awaited<ReturnType<typeof ask>>) => row.partitions.map(part => part.deletedAtSource)
  await ask('pause')
  first.append(batchAt(10, 10))
  first.logStartOffset = 15
  deepEqual(deleted(await ask('resume', true)), [15, 0])
  world.source.failure = { failure: 'tcp', message: 'connection refused' }
  deepEqual(deleted(await ask('resume', true)), [undefined, undefined])
  world.source.failure = undefined
  deepEqual(deleted(await ask('resume')), [15, 0])
})

test('a paused link stops all fetching; mirrors that are paused themselves stay so', async () => {
  const { world, first, ask, ends, view } = await mirroring()
  world.source.addTopic('payments', 1)
  await world.engine.createMirror('west', mirrorRequest('payments'))
  await ask('pause')
  await alter(world, 'cluster.link.paused', 'true')
  deepEqual(world.source.fetched, [])
  equal(view().status, 'PAUSED')
  equal(world.engine.describeMirror('west', 'payments').status, 'LINK_PAUSED')
  equal(world.engine.describeLink('west').state, 'PAUSED')
  equal(world.engine.describeLink('west').tasks.find(task => task.name === 'PartitionSync')?.state, 'LINK_PAUSED')
  await ask('resume')
  equal(view().status, 'LINK_PAUSED')
  first.append(batchAt(10, 10))
  await world.start()
  deepEqual(world.source.fetched, [])
  await alter(world, 'cluster.link.paused', 'false')
  await world.mirrorAll()
  deepEqual(ends(), [20, 5])
  equal(view().status, 'ACTIVE')
  await world.engine.stop()
})

test('a failed mirror is resumed where its source still has what it ends with', async () => {
  const { world, first, ask, ends, view } = await mirroring()
  await world.source.trouble({ kind: 'corrupt', message: 'a bad disk' })
  await world.settle()
  equal(view().error, 'CORRUPT_BATCH')
  deepEqual(world.source.fetched, [])
  first.append(batchAt(10, 10))
  equal((await ask('resume', true)).errorCode, null)
  equal(view().status, 'FAILED')
  const row = await ask('resume')
  equal(row.errorMessage, null)
  equal(view().status, 'ACTIVE')
  equal(view().error, 'NO_ERROR')
  await world.mirrorAll()
  deepEqual(ends(), [20, 5])
  await world.engine.stop()
})

test('what became of the source is checked before a failed mirror is resumed', async () => {
  const refused = async (
    change: (world: Awaited<ReturnType<typeof mirroring>>) => void,
    expected: RegExp,
    configs: Record<string, string> = {},
  ) => {
    const scene = await mirroring(configs)
    await scene.world.source.trouble({ kind: 'corrupt', message: 'a bad disk' })
    await scene.world.settle()
    change(scene)
    const row = await scene.ask('resume')
    match(row.errorMessage ?? '', expected)
    equal(scene.view().status, 'FAILED')
    await scene.world.engine.stop()
  }
  await refused(
    ({ world }) => world.source.topics.delete('orders'),
    /the source has no topic 'orders'.*Delete the topic/,
  )
  await refused(({ world }) => {
    world.source.topics.delete('orders')
    world.source.addTopic('orders', 2)
  }, /it was deleted and created anew.*Delete the topic and create the mirror again/)
  await refused(({ world }) => world.source.topics.get('orders')?.partitions.pop(), /has 1 partitions, the mirror 2/)
  await refused(({ first }) => first.truncateTo(0), /partition 0: the source does not know epoch 0/)
  await refused(({ first }) => {
    first.batches = [batchAt(0, 10, { producerId: 3n })]
  }, /the batch at offset 0, the mirror's last, is another one/)
  await refused(({ world }) => {
    world.source.failure = { failure: 'tcp', message: 'connection refused' }
  }, /could not be asked .*connection refused/)
})

test('after the policy was changed a truncated mirror is resumed and cut', async () => {
  const { world, first, ask, ends, view } = await mirroring()
  first.append(batchAt(10, 10))
  await world.mirrorAll()
  first.truncateTo(10)
  first.append(batchAt(10, 3, { epoch: 1 }))
  await world.mirrorAll()
  equal(view().error, 'UNEXPECTED_TRUNCATION')
  match((await ask('resume')).errorMessage ?? '', /common are the offsets below 10/)
  await alter(world, 'mirror.unclean.truncation.policy', 'truncate')
  equal((await ask('resume')).errorCode, null)
  await world.mirrorAll()
  deepEqual(ends(), [13, 5])
  equal(view().status, 'ACTIVE')
  await world.engine.stop()
})

// The round that would have stopped the failed partition came only after the resume, and found nothing to do: the fetcher had
// been told to stop, and nobody started it again.
test('a resume right behind a failure starts the partition again', async () => {
  const { world, first, ask, ends } = await mirroring()
  const seen = world.source.trouble({ kind: 'corrupt', message: 'a bad disk' })
  while (world.engine.describeMirror('west', 'orders').status !== 'FAILED') await Promise.resolve()
  const resumed = ask('resume')
  await seen
  await resumed
  await world.settle()
  if (world.engine.describeMirror('west', 'orders').status === 'FAILED') await ask('resume')
  first.append(batchAt(10, 10))
  await world.mirrorAll()
  deepEqual(ends(), [20, 5])
  await world.engine.stop()
})
