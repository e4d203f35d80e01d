/** The listener over time: idle connections, answers that nobody reads, closing, too many connections. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../core/clock.ts'
import { echo, request, start, tick } from './fakes/listener-bench.ts'
import { RawClient } from './fakes/raw-client.ts'
import type { RequestHandler } from './request-handler.ts'

test('an idle connection is closed, one whose request is being handled is not', async t => {
  const clock = new ManualClock()
  const started = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<Buffer[]>()
  const handler: RequestHandler = () => {
    started.resolve()
    return answer.promise
  }
  const { connect, server } = await start(t, handler, { clock, idleTimeoutMs: 1000 })
  const [idle, busy] = [await connect(), await connect()]
  while (server.connectionCount < 2) await tick()
  await busy.write(request(1))
  await started.promise
  await clock.advance(1200)
  await idle.closed
  answer.resolve([])
  assert.equal((await busy.next()).readInt32BE(0), 1)
  await clock.advance(1200)
  await busy.closed
})

test('without an idle timeout nothing is closed', async t => {
  const clock = new ManualClock()
  const { connect, server } = await start(t, echo, { clock, idleTimeoutMs: -1 })
  const client = await connect()
  while (server.connectionCount < 1) await tick()
  await clock.advance(1e9)
  await client.write(request(6))
  assert.equal((await client.next()).readInt32BE(0), 6)
})

test('a client that never reads its answer is closed after the idle timeout', async t => {
  const clock = new ManualClock()
  const { connect, server } = await start(t, async () => [Buffer.alloc(64 << 20)], { clock, idleTimeoutMs: 1000 })
  const client = await connect()
  client.socket.pause()
  await client.write(request(1))
  for (let i = 0; i < 50; i++) await tick()
  await clock.advance(1200)
  while (server.connectionCount > 0) await tick()
})

test('close lets a running request end and refuses new connections', async t => {
  const started = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<Buffer[]>()
  const { connect, server } = await start(t, () => {
    started.resolve()
    return answer.promise
  })
  const [idle, busy] = [await connect(), await connect()]
  await busy.write(request(1))
  await started.promise
  const closing = server.close()
  await idle.closed
  await assert.rejects(RawClient.connect(server.port), { code: 'ECONNREFUSED' })
  answer.resolve([Buffer.from('done')])
  assert.equal((await busy.next()).subarray(4).toString(), 'done')
  await closing
  await busy.closed
})

test('close does not wait longer than its timeout for a request that never ends', async t => {
  const started = Promise.withResolvers<void>()
  const { connect, server } = await start(t, () => {
    started.resolve()
    return new Promise(() => {})
  })
  const client = await connect()
  await client.write(request(1))
  await started.promise
  await server.close(10)
  await client.closed
})

test('more connections than allowed are refused with a line in the log', async t => {
  const { connect, logger } = await start(t, echo, { maxConnections: 1 })
  const first = await connect()
  const second = await connect()
  await second.closed
  assert.match(logger.lines[0] ?? '', /refusing a connection of .*: 1 are open/)
  await first.write(request(4))
  assert.equal((await first.next()).readInt32BE(0), 4)
})
