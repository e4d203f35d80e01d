/** What the source does while it is mirrored: troubles that come and go, answers to what was asked before. */
import { equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { batchAt, EngineWorld, linkRequest, mirrorRequest } from './fakes/engine-world.ts'

async function mirroring(configs: Record<string, string> = {}) {
  const world = new EngineWorld()
  await world.start()
  const source = world.source.addTopic('orders', 1).partitions[0]
  await world.engine.createLink(linkRequest('west', configs), { validateOnly: false, validateLink: true })
  await world.engine.createMirror('west', mirrorRequest('orders'))
  const log = world.cluster.topicNamed('orders')?.logs[0]
  ok(source && log)
  source.append(batchAt(0, 5), batchAt(5, 5))
  await world.mirrorAll()
  return { world, source, log }
}

const status = ({ engine }: EngineWorld) => engine.describeMirror('west', 'orders').status

test('an answer in between ends a trouble: only what lasts without one fails a mirror', async () => {
  const { world } = await mirroring({ 'cluster.link.retry.timeout.ms': '60000' })
  const trouble = { kind: 'authorization', message: 'no access' } as const
  await world.source.trouble(trouble)
  await world.clock.advance(50_000)
  await world.mirrorAll()
  for (const waitMs of [0, 50_000]) {
    await world.clock.advance(waitMs)
    await world.source.trouble(trouble)
    await world.settle()
    equal(status(world), 'ACTIVE')
  }
  await world.clock.advance(11_000)
  await world.source.trouble(trouble)
  await world.settle()
  equal(status(world), 'FAILED')
  await world.engine.stop()
})

test('an answer to a question from another offset than the log end is left alone', async () => {
  const { world, source, log } = await mirroring()
  source.append(batchAt(10, 5), batchAt(15, 5))
  for (const offset of [15, 5]) {
    world.source.askedOffset = offset
    await world.mirrorAll(1)
    equal(log.logEndOffset, 10)
    equal(status(world), 'ACTIVE')
  }
  world.source.askedOffset = undefined
  await world.mirrorAll()
  equal(log.logEndOffset, 20)
  await world.engine.stop()
})
