/** Requests that are accepted before they are answered, and the memory of answers, over real sockets. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ByteBudget } from '../core/byte-budget.ts'
import { ManualClock } from '../core/clock.ts'
import { API_VERSIONS, request, start, tick } from './fakes/listener-bench.ts'
import type { RequestHandler } from './request-handler.ts'

/** Accepts at once and answers when the test says so. */
function acceptingHandler() {
  const begun: number[] = []
  const answers = new Map<number, () => void>()
  const handler: RequestHandler = ({ correlationId, apiKey, progress }) => {
    begun.push(correlationId)
    if (apiKey !== API_VERSIONS) progress.accepted()
    return new Promise(resolve => answers.set(correlationId, () => resolve([Buffer.from([correlationId])])))
  }
  const answer = (id: number) => (answers.get(id) ?? assert.fail(`request ${id} has not begun`))()
  const begunCount = async (count: number) => {
    while (begun.length < count) await tick()
    for (let i = 0; i < 5; i++) await tick()
    assert.equal(begun.length, count)
  }
  return { begun, handler, answer, begunCount }
}

test('accepted requests let the next ones begin, and are answered in their order', async t => {
  const { handler, answer, begunCount } = acceptingHandler()
  const { connect } = await start(t, handler)
  const client = await connect()
  await client.write(Buffer.concat([request(1), request(2), request(3)]))
  await begunCount(3)
  for (const id of [3, 2]) answer(id)
  for (let i = 0; i < 5; i++) await tick()
  assert.equal(client.unread, 0)
  answer(1)
  for (const id of [1, 2, 3]) assert.deepEqual((await client.next()).at(-1), id)
})

test('a request of another API waits for those before it', async t => {
  const { handler, answer, begunCount } = acceptingHandler()
  const { connect } = await start(t, handler)
  const client = await connect()
  await client.write(Buffer.concat([request(1), request(2, { key: API_VERSIONS, version: 0 }), request(3)]))
  await begunCount(1)
  answer(1)
  await begunCount(2)
  answer(2)
  await begunCount(3)
  answer(3)
  for (const id of [1, 2, 3]) assert.equal((await client.next()).at(-1), id)
})

test('so many requests are accepted, and no more', async t => {
  const { handler, answer, begunCount } = acceptingHandler()
  const { connect } = await start(t, handler)
  const client = await connect()
  const ids = Array.from({ length: 100 }, (_, i) => i)
  await client.write(Buffer.concat(ids.map(id => request(id))))
  await begunCount(64)
  answer(0)
  assert.equal((await client.next()).at(-1), 0)
  await begunCount(65)
})

test('an accepted request that fails closes the connection without an answer to those behind it', async t => {
  const { connect, logger } = await start(t, async ({ correlationId, progress }) => {
    progress.accepted()
    await tick()
    if (correlationId === 1) throw new Error('broken')
    return [Buffer.from([correlationId])]
  })
  const client = await connect()
  await client.write(Buffer.concat([request(1), request(2)]))
  await client.closed
  assert.equal(client.unread, 0)
  assert.deepEqual(logger.lines, ['error closing the connection: its request failed (broken)'])
})

test('memory of an answer is given back when it is written, or when the client is gone', async t => {
  let released = 0
  const { connect, server } = await start(t, async ({ correlationId, progress }) => {
    progress.onAnswered(() => released++)
    return [Buffer.alloc(correlationId === 2 ? 32 << 20 : 10)]
  })
  const client = await connect()
  await client.write(request(1))
  await client.next()
  while (released < 1) await tick()
  client.socket.pause()
  await client.write(request(2))
  for (let i = 0; i < 20; i++) await tick()
  assert.equal(released, 1)
  client.socket.destroy()
  while (server.connectionCount > 0 || released < 2) await tick()
})

test('while others wait for memory, a client that takes nothing is closed; large answers count', async t => {
  const clock = new ManualClock()
  const answerBudget = new ByteBudget(1 << 20)
  const { connect, server } = await start(t, async () => [Buffer.alloc(32 << 20)], { clock, answerBudget })
  const client = await connect()
  client.socket.pause()
  await client.write(request(1))
  while (answerBudget.usedBytes === 0) await tick()
  await clock.advance(60_000 - 1)
  assert.equal(server.connectionCount, 1)
  const waiting = answerBudget.acquire(1000)
  await clock.advance(6000)
  const release = await waiting
  release()
  while (server.connectionCount > 0) await tick()
  assert.equal(answerBudget.usedBytes, 0)
})

test('a client gets small answers until it has taken more than kernels hold', async t => {
  const limits: number[] = []
  const { connect } = await start(t, async (_request, client) => {
    limits.push(client.answerBytesMax)
    return [Buffer.alloc(9 << 20)]
  })
  const client = await connect()
  for (let id = 0; id < 3; id++) {
    await client.write(request(id))
    await client.next()
  }
  assert.deepEqual(limits, [1 << 20, 1 << 20, Number.MAX_SAFE_INTEGER])
})

test('large requests wait for memory, and one that does not go on gives way', async t => {
  const clock = new ManualClock()
  const requestBudget = new ByteBudget(400_000)
  const { connect, server, logger } = await start(t, async ({ body }) => [Buffer.from(String(body.length))], {
    clock,
    requestBudget,
  })
  const [stuck, next, small] = [await connect(), await connect(), await connect()]
  const large = (id: number) => request(id, { body: Buffer.alloc(300_000) })
  await stuck.write(large(1).subarray(0, 200_000))
  while (requestBudget.usedBytes === 0) await tick()
  await next.write(large(2))
  while (requestBudget.waitingCount === 0) await tick()
  await small.write(request(3))
  assert.equal((await small.next()).readInt32BE(0), 3)
  await clock.advance(6000)
  await stuck.closed
  assert.equal((await next.next()).subarray(4).toString(), '300000')
  while (requestBudget.usedBytes > 0) await tick()
  assert.equal(server.connectionCount, 2)
  assert.match(logger.lines.at(-1) ?? '', /closed 1 connections that do not finish their requests/)
})
