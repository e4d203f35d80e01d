/** The search for the active controller: hints, old hints, controllers that are dead or hang, addresses by id. */
import { match, rejects, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { OperationalError } from '../../core/errors.ts'
import { startRaw } from '../../network/fakes/raw-server.ts'
import type { QuorumLeader } from './active-controller.ts'
import { bootstrapOf, clientOf, startQuorum } from './fakes/observe-quorum.ts'

test('any controller leads to the active one', async t => {
  const quorum = await startQuorum(t, { controllers: 3 })
  quorum.elect(3002)
  for (const id of [3000, 3001, 3002]) {
    const active = clientOf(t, { bootstrap: [quorum.placeOf(id)], voters: new Map() })
    const leader = await active.leader()
    strictEqual(leader.place.port, quorum.placeOf(3002).port)
    strictEqual(leader.epoch, 2)
    strictEqual(await active.leader(), leader)
  }
})

test('controllers that answer without addresses are understood by the voters of the configuration', async t => {
  const quorum = await startQuorum(t, { controllers: 2, fetchVersion: 12 })
  quorum.elect(3001)
  const voters = new Map([3000, 3001].map(id => [id, quorum.placeOf(id)]))
  const active = clientOf(t, { bootstrap: [quorum.placeOf(3000)], voters })
  strictEqual((await active.leader()).place.port, quorum.placeOf(3001).port)
})

test('while nobody leads, and while a dead one is still named, the search ends, and succeeds later', async t => {
  const quorum = await startQuorum(t, { controllers: 3 })
  const active = clientOf(t, bootstrapOf(quorum))
  active.lost(await active.leader())
  await quorum.stopController(3000)
  await rejects(active.leader(), error => {
    match(String(error), /is not the active controller/)
    return error instanceof OperationalError && error.code === 'CONTROLLER_UNREACHABLE' && error.retriable
  })
  quorum.elect(-1)
  await rejects(active.leader(), /no active controller/)
  quorum.elect(3001)
  strictEqual((await active.leader()).epoch, 3)
})

test('a controller that hangs is given up after the time for one answer', async t => {
  const quorum = await startQuorum(t, { controllers: 2 })
  quorum.elect(3001)
  const port = await startRaw(t, () => {})
  const bootstrap = [{ host: '127.0.0.1', port }, quorum.placeOf(3001)]
  const active = clientOf(t, { bootstrap, voters: new Map() }, { timeoutMs: 150 })
  // On a busy machine the one that works may be too slow at first, too.
  const find = (): Promise<QuorumLeader> => active.leader().catch(find)
  strictEqual((await find()).place.port, quorum.placeOf(3001).port)
})

test('who asks at the same time shares one search, and closing ends it', async t => {
  const quorum = await startQuorum(t)
  const active = clientOf(t, bootstrapOf(quorum))
  const [first, second] = await Promise.all([active.leader(), active.leader()])
  strictEqual(first, second)
  active.close()
  await rejects(active.leader(), /shutting down/)
  strictEqual(first.connection.isOpen, false)
})
