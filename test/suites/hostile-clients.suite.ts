// Slow, broken and hostile clients: they cost their own connection and a bounded amount of memory, and the others go on.
import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict'
import { after, test } from 'node:test'
import { TestNode } from '../../src/broker/fakes/test-node.ts'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { seededRandom } from '../../src/core/random.ts'
import { RawClient } from '../../src/network/fakes/raw-client.ts'
import { listen } from '../../src/network/server-listener.ts'
import { MetadataApi } from '../../src/protocol/messages/03-metadata.ts'
import { eventually } from '../eventually.ts'
import { closeAll, garbage, introduce, neverRead, openMany, sizeOf } from '../hostile/attacks.ts'
import { peakWhile, residentMib } from '../hostile/node-memory.ts'
import { createRawTopic, producedError, produceFrame, produceMany, readRange } from '../hostile/raw-topic.ts'
import { StallableFileSystem } from '../hostile/stallable-file-system.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { requestFrame } from '../raw-request.ts'

const MIB = 1024 * 1024
const REQUEST_BYTES_MAX = MIB
const ANSWER_BYTES_MAX = 32 * MIB
/** Of all large requests together. */
const REQUESTS_BYTES_MAX = 32 * MIB
const BATCHES = 400
const BATCH_BYTES = 64 * 1024
/** `npm run soak` opens more. */
const CONNECTIONS = Number(process.env['LOCKSTEP_CONNECTIONS'] ?? 500)

const opened = new Opened()
after(() => opened.close())

const node = await opened.add(
  LockstepNode.start({
    properties: {
      'socket.request.max.bytes': String(REQUEST_BYTES_MAX),
      'lockstep.answers.max.bytes': String(ANSWER_BYTES_MAX),
      'queued.max.request.bytes': String(REQUESTS_BYTES_MAX),
      'lockstep.log.level': 'debug',
    },
  }),
)
const port = Number(node.bootstrap.split(':').at(-1))
const big = { port, name: 'big', partition: 0 }

/** The node answers a new client. */
async function answers(): Promise<void> {
  const client = await RawClient.connect(port)
  await introduce(client)
  await client.close()
}

test('a topic of 25 MiB is written and read', async () => {
  await createRawTopic(port, 'big', 2)
  await produceMany(big, BATCHES, BATCH_BYTES)
  ok((await readRange(big, 0, BATCHES)) >= BATCHES * BATCH_BYTES)
})

test('a request of 100 MB where 1 MB is allowed ends its connection, before it takes memory', async () => {
  const [peak] = await peakWhile(node.pid, async () => {
    for (const client of await openMany(port, 20)) {
      client.socket.write(sizeOf(100_000_000))
      client.socket.write(Buffer.alloc(4 * MIB))
      await client.closed
    }
  })
  const before = (await residentMib(node.pid)) ?? 0
  ok(peak < before + 60, `${peak} MiB, ${before} MiB after it`)
  match(node.output, /a frame of 100000000 bytes, above the limit of 1048576/)
  await answers()
})

test('sizes that are only claimed cost no memory', async () => {
  const before = (await residentMib(node.pid)) ?? 0
  const [peak] = await peakWhile(node.pid, async () => {
    const clients = await openMany(port, 300)
    for (const client of clients) await client.write(Buffer.concat([sizeOf(REQUEST_BYTES_MAX), Buffer.alloc(100)]))
    await answers()
    await closeAll(clients)
  })
  ok(peak < before + 100, `${peak} MiB at most, ${before} MiB before`)
})

test('requests that never end take no more memory than is meant for requests, and give way', async () => {
  const before = (await residentMib(node.pid)) ?? 0
  const [peak] = await peakWhile(node.pid, async () => {
    const clients = await openMany(port, 40)
    for (const client of clients)
      client.socket.write(Buffer.concat([sizeOf(REQUEST_BYTES_MAX), Buffer.alloc(MIB - 100)]))
    // Small requests never wait.
    await produceMany({ port, name: 'big', partition: 1 }, 50, 1000)
    await produceMany({ port, name: 'big', partition: 1 }, 2, 500_000)
    await closeAll(clients)
  })
  ok(peak < before + REQUESTS_BYTES_MAX / MIB + 100, `${peak} MiB at most, ${before} MiB before`)
})

for (const seed of [1, 2, 3, 4])
  test(`garbage ends its own connection at most (seed ${seed})`, async () => {
    const random = seededRandom(seed)
    for (const client of await openMany(port, 100)) {
      client.socket.end(garbage(random))
      await client.closed
    }
    await answers()
    doesNotMatch(node.output, /unexpectedly|its request failed/)
  })

test('pipelined requests of every kind are answered in their order', async () => {
  const client = await RawClient.connect(port)
  const frames = Array.from({ length: 300 }, (_, id) =>
    id % 7 === 6
      ? requestFrame(MetadataApi, { topics: null }, { correlationId: id })
      : produceFrame({ name: 'big', partition: 1 }, 10 + id, id),
  )
  await client.write(Buffer.concat(frames))
  for (let id = 0; id < frames.length; id++) {
    const answer = await client.next()
    strictEqual(answer.readInt32BE(0), id)
    if (id % 7 !== 6) strictEqual(producedError(answer), 'NONE')
  }
  await client.close()
})

test('a hundred clients that ask for everything and read nothing leave memory and time to the others', async () => {
  const before = (await residentMib(node.pid)) ?? 0
  const [peak, silent] = await peakWhile(node.pid, async () => {
    const clients = await neverRead(big, 100)
    for (let round = 0; round < 2; round++) {
      await readRange(big, 0, BATCHES)
      await produceMany({ port, name: 'big', partition: 1 }, 50, 1000)
    }
    return clients
  })
  await closeAll(silent)
  // Beside the budget: what the kernel has not taken yet, and garbage that has not been collected.
  ok(peak < before + 2 * (ANSWER_BYTES_MAX / MIB) + 150, `${peak} MiB at most, ${before} MiB before`)
})

test('connections that vanish, end halfway or say nothing are forgotten', async () => {
  const short = await opened.add(LockstepNode.start({ properties: { 'connections.max.idle.ms': '1500' } }))
  const shortPort = Number(short.bootstrap.split(':').at(-1))
  const clients = await openMany(shortPort, 150)
  for (const [index, client] of clients.entries()) {
    if (index % 3 === 0) client.socket.resetAndDestroy()
    else if (index % 3 === 1) client.socket.end(Buffer.from([0, 0, 1]))
    else await client.write(sizeOf(1000))
  }
  await Promise.all(clients.map(client => client.closed))
  // It may be too slow for so short a patience itself.
  await eventually(async () => {
    const client = await RawClient.connect(shortPort)
    try {
      await Promise.race([introduce(client), client.closed.then(() => Promise.reject(new Error('closed')))])
    } finally {
      await client.close()
    }
  })
})

test(`${CONNECTIONS} clients are served side by side, for a few KiB each`, async () => {
  const before = (await residentMib(node.pid)) ?? 0
  const clients = await openMany(port, CONNECTIONS)
  await Promise.all(clients.map(introduce))
  const open = (await residentMib(node.pid)) ?? 0
  await Promise.all(clients.map(introduce))
  await closeAll(clients)
  ok(open < before + 80 * (CONNECTIONS / 500), `${open} MiB with ${CONNECTIONS} clients, ${before} MiB before`)
})

test('a disk that stalls under one partition stops that partition only', async () => {
  const fs = new StallableFileSystem()
  const stalling = await TestNode.start({ fs, clock: systemClock, directory: '/data' })
  await stalling.createTopic('orders', { partitions: 2 })
  const { served, handle: handler } = stalling.broker
  const listener = { host: '127.0.0.1', port: 0, name: 'PLAINTEXT', maxRequestBytes: MIB, idleTimeoutMs: -1 }
  const server = await listen({ ...listener, served, handler, clock: systemClock, logger: silentLogger })
  const stalled = { port: server.port, name: 'orders', partition: 0 }
  const healthy = { ...stalled, partition: 1 }
  await produceMany(stalled, 5, 1000)
  const release = fs.stall('/data/orders-0/')
  const waiting = produceMany(stalled, 5, 1000)
  await produceMany(healthy, 300, 1000)
  strictEqual(await readRange(healthy, 0, 300), stalling.partition('orders', 1).log.sizeBytes)
  // What was durable before can still be read.
  ok((await readRange(stalled, 0, 5)) > 5000)
  deepStrictEqual([stalling.partition('orders', 0).log.flushedOffset], [5])
  release()
  await waiting
  strictEqual(stalling.partition('orders', 0).highWatermark, 10)
  await server.close()
  await stalling.close()
})
