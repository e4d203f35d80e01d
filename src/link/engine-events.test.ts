/** Events of a whole engine: what records tell at once, what is seen between them, and lags. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import type { LinkEngineEvent } from './event-api.ts'
import { batchAt, EngineWorld, linkRequest, mirrorRequest } from './fakes/engine-world.ts'

async function listening() {
  const world = new EngineWorld()
  await world.start()
  const events: LinkEngineEvent[] = []
  world.engine.events.subscribe(({ event }) => events.push(event))
  await world.engine.createLink(linkRequest('west', { 'availability.check.ms': '1000' }), {
    ...{ validateOnly: false, validateLink: true },
  })
  world.source.addTopic('orders', 1).partitions[0]?.append(batchAt(0, 3))
  await world.engine.createMirror('west', mirrorRequest('orders'))
  await world.mirrorAll()
  return { world, events }
}

const states = (events: readonly LinkEngineEvent[]) =>
  events.flatMap(event => (event.type === 'state' ? [[event.previousStatus, event.status, event.event]] : []))

async function pass(world: EngineWorld, ms: number): Promise<void> {
  await world.clock.advance(ms)
  await world.settle()
}

test('every change of a state is told with its cause, in the order of the records', async () => {
  const { world, events } = await listening()
  const alter = (verb: 'pause' | 'resume' | 'failover') =>
    world.engine.alterMirrors('west', verb, { selection: { names: ['orders'] }, validateOnly: false })
  await alter('pause')
  await alter('resume')
  await alter('failover')
  await world.engine.deleteLink('west', { force: false, validateOnly: false })
  deepEqual(states(events), [
    [null, 'ACTIVE', 'create'],
    ['ACTIVE', 'PAUSED', 'pause'],
    ['PAUSED', 'ACTIVE', 'resume'],
    ['ACTIVE', 'STOPPED', 'failover'],
    ['STOPPED', null, 'delete'],
  ])
  await world.engine.stop()
})

test('what is shown instead of ACTIVE is told once when it comes and once when it goes', async () => {
  const { world, events } = await listening()
  await pass(world, 2000)
  events.length = 0
  const pauseLink = (value: string) =>
    world.engine.alterLinkConfigs('west', [{ name: 'cluster.link.paused', operation: 'SET', value }], {
      validateOnly: false,
    })
  await pauseLink('true')
  await pass(world, 3000)
  await pauseLink('false')
  await pass(world, 3000)
  deepEqual(states(events), [
    ['ACTIVE', 'LINK_PAUSED', null],
    ['LINK_PAUSED', 'ACTIVE', null],
  ])
  const links = events.flatMap(event => (event.type === 'link' ? [event.state] : []))
  deepEqual(links, ['PAUSED', 'ACTIVE'])
  await world.engine.stop()
})

test('the error of a link and of its tasks is told when it appears', async () => {
  const { world, events } = await listening()
  await pass(world, 2000)
  events.length = 0
  world.source.questionFailure = { failure: 'login', message: 'wrong password' }
  await pass(world, 40_000)
  ok(events.some(event => event.type === 'link' && event.state === 'FAILED' && event.error === 'AUTHENTICATION_ERROR'))
  ok(events.some(event => event.type === 'task' && event.task.errors.length > 0))
  await world.engine.stop()
})

test('lags are sampled while somebody listens', async () => {
  const { world, events } = await listening()
  world.source.topics.get('orders')?.partitions[0]?.append(batchAt(3, 2))
  await pass(world, 10_000)
  const lag = events.findLast(event => event.type === 'lag')
  deepEqual(lag?.topics, [{ mirrorTopicName: 'orders', lagMax: 0, lagTotal: 0, lagMs: 0 }])
  equal(lag?.lagMax, 0)
  await world.engine.stop()
})
