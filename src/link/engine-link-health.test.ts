/** Link state and error: at the first trouble, told apart, healed by themselves; what a live change of settings does to them. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { batchAt, EngineWorld, linkRequest, mirrorRequest } from './fakes/engine-world.ts'
import type { SourceFailure } from './ports.ts'

async function mirroring(configs: Record<string, string> = {}) {
  const world = new EngineWorld()
  await world.start()
  const source = world.source.addTopic('orders', 1).partitions[0]
  ok(source)
  await world.engine.createLink(linkRequest('west', configs), { validateOnly: false, validateLink: true })
  await world.engine.createMirror('west', mirrorRequest('orders'))
  source.append(batchAt(0, 10))
  await world.mirrorAll()
  const link = () => world.engine.describeLink('west')
  const status = () => world.engine.describeMirror('west', 'orders').status
  return { world, source, link, status }
}

test('a connection that breaks asks for a probe at once, and its error is shown at the first that fails', async () => {
  const kinds: readonly (readonly [SourceFailure, string, string])[] = [
    ['dns', 'UNRESOLVABLE_BOOTSTRAP_ERROR', 'ACTIVE'],
    ['tcp', 'BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR', 'ACTIVE'],
    ['timeout', 'TIMEOUT_ERROR', 'ACTIVE'],
    ['tls', 'TLS_ERROR', 'ACTIVE'],
    ['advertised-listener', 'INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR', 'ACTIVE'],
    ['login', 'AUTHENTICATION_ERROR', 'FAILED'],
    ['secret', 'AUTHENTICATION_ERROR', 'FAILED'],
    ['authorization', 'AUTHORIZATION_ERROR', 'FAILED'],
    ['cluster-id', 'CLUSTER_ID_MISMATCH', 'FAILED'],
  ]
  for (const [failure, error, state] of kinds) {
    const { world, link } = await mirroring()
    await world.clock.advance(2000)
    world.source.failure = { failure, message: `it is ${failure}` }
    await world.clock.advance(500)
    equal(link().error, 'NO_ERROR', 'nobody has noticed')
    world.source.onTrouble()
    await world.clock.advance(1)
    await world.settle()
    deepEqual([link().error, link().errorMessage, link().state], [error, `it is ${failure}`, state])
    ok(link().errorSinceMs)
    world.source.failure = undefined
    await world.clock.advance(10_000)
    await world.settle()
    deepEqual([link().error, link().errorMessage, link().state], ['NO_ERROR', null, 'ACTIVE'], failure)
    await world.engine.stop()
  }
})

test('troubles that come thick and fast cause one probe a second', async () => {
  const { world, link } = await mirroring()
  await world.clock.advance(2000)
  for (let trouble = 0; trouble < 50; trouble++) {
    world.source.onTrouble()
    await world.clock.advance(20)
  }
  equal(link().error, 'NO_ERROR')
  world.source.failure = { failure: 'tcp', message: 'refused' }
  world.source.onTrouble()
  await world.clock.advance(1000)
  await world.settle()
  equal(link().error, 'BOOTSTRAP_TCP_CONNECTION_FAILED_ERROR')
  await world.engine.stop()
})

test('a source of which some brokers cannot be reached says so, and stays ACTIVE however long it lasts', async () => {
  const { world, link, status } = await mirroring({ 'availability.check.consecutive.failure.threshold': '1' })
  world.source.unreachable = { failure: 'advertised-listener', message: 'broker 2 is at internal:9092' }
  world.source.onTrouble()
  for (let minute = 0; minute < 5; minute++) {
    await world.clock.advance(60_000)
    await world.mirrorAll()
  }
  deepEqual(
    [link().state, link().error, link().errorMessage],
    ['ACTIVE', 'INVALID_BOOTSTRAP_INTERNAL_ENDPOINT_ERROR', 'broker 2 is at internal:9092'],
  )
  equal(status(), 'ACTIVE')
  world.source.unreachable = undefined
  await world.clock.advance(61_000)
  await world.settle()
  equal(link().error, 'NO_ERROR')
  await world.engine.stop()
})

test('a link that may describe none of its topics any more has an authorisation error, until it may again', async () => {
  const { world, source, link, status } = await mirroring()
  world.source.unreadable.add('orders')
  await world.clock.advance(61_000)
  await world.settle()
  deepEqual([link().state, link().error], ['FAILED', 'AUTHORIZATION_ERROR'])
  equal(status(), 'LINK_FAILED')
  world.source.unreadable.clear()
  await world.clock.advance(61_000)
  source.append(batchAt(10, 5))
  await world.mirrorAll()
  deepEqual([link().state, link().error, status()], ['ACTIVE', 'NO_ERROR', 'ACTIVE'])
  equal(world.cluster.topicNamed('orders')?.logs[0]?.logEndOffset, 15)
  await world.engine.stop()
})

test('credentials that are revoked and given again, and a source that has moved, heal by a change of the settings', async () => {
  const { world, source, link } = await mirroring()
  world.source.failure = { failure: 'login', message: 'invalid credentials' }
  world.source.onTrouble()
  await world.clock.advance(1000)
  await world.settle()
  equal(link().state, 'FAILED')
  source.append(batchAt(10, 5))
  world.source.failure = undefined
  const moved = { name: 'bootstrap.servers', operation: 'SET', value: 'elsewhere:9092' } as const
  await world.engine.alterLinkConfigs('west', [moved], { validateOnly: false })
  await world.mirrorAll()
  deepEqual([link().state, link().error], ['ACTIVE', 'NO_ERROR'])
  deepEqual(world.source.opened.at(-1)?.bootstrapServers, ['elsewhere:9092'])
  equal(world.cluster.topicNamed('orders')?.logs[0]?.logEndOffset, 15)
  equal(world.source.openConnections, 1)
  await world.engine.stop()
})

test('the throttle of a link is changed without a new connection, and lasts over new ones', async () => {
  const { world, link } = await mirroring({ 'mirror.max.bytes.per.second': '5000' })
  equal(world.source.rateLimit, 5000)
  const opened = world.source.opened.length
  const alter = (value: string | null, name = 'mirror.max.bytes.per.second') => {
    const change =
      value === null ? ({ name, operation: 'DELETE', value } as const) : ({ name, operation: 'SET', value } as const)
    return world.engine.alterLinkConfigs('west', [change], { validateOnly: false })
  }
  await alter('9000')
  equal(world.source.rateLimit, 9000)
  equal(world.source.opened.length, opened)
  await alter('200', 'replica.fetch.wait.max.ms')
  equal(world.source.opened.length, opened + 1)
  equal(world.source.rateLimit, 9000)
  await alter(null)
  equal(world.source.rateLimit, undefined)
  equal(link().heldBackMs, 0)
  await world.engine.stop()
})
