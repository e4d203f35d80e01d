/** Mirrors that are ACTIVE, but kept from following their source: what is shown of them. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { batchAt, EngineWorld, linkRequest, mirrorRequest } from './fakes/engine-world.ts'

// The topic was gone for minutes, and the page said green, 0 ms behind: the mirror had everything when it was last asked.
test('a mirror whose source topic is gone falls behind in time, and its link counts it before it fails', async () => {
  const world = new EngineWorld()
  await world.start()
  const source = world.source.addTopic('orders', 1).partitions[0]
  ok(source)
  await world.engine.createLink(linkRequest('west', {}), { validateOnly: false, validateLink: true })
  await world.engine.createMirror('west', mirrorRequest('orders'))
  source.append(batchAt(0, 3))
  await world.mirrorAll()
  const seen = () => {
    const { status, lagMs } = world.engine.describeMirror('west', 'orders')
    return [status, lagMs, world.engine.describeLink('west').troubledMirrors]
  }
  deepEqual(seen(), ['ACTIVE', 0, 0])
  const before = world.clock.monotonicMs()
  await world.source.trouble({ kind: 'topic-missing', message: 'no such topic' })
  await world.clock.advance(10_000)
  await world.settle()
  deepEqual(seen(), ['ACTIVE', world.clock.monotonicMs() - before, 1])
  equal(world.clock.monotonicMs() - before, 10_000)
  await world.engine.stop()
})
