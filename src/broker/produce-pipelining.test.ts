/** Produce requests that a client sends without waiting: appended in order, flushed together, answered in order. */
import { deepStrictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../core/clock.ts'
import { silentLogger } from '../core/logger.ts'
import { ZERO_UUID } from '../core/uuid.ts'
import { frameOf, RawClient } from '../network/fakes/raw-client.ts'
import { listen } from '../network/server-listener.ts'
import { ProduceRequest, ProduceResponse } from '../protocol/messages/00-produce.ts'
import { RequestHeader } from '../protocol/messages/header.ts'
import { batch } from './fakes/requests.ts'
import { TestNode } from './fakes/test-node.ts'

const VERSION = 9

function produceFrame(correlationId: number): Buffer {
  const partitionData = [{ index: 0, records: batch() }]
  const request = { acks: -1, timeoutMs: 1000, topicData: [{ name: 'orders', topicId: ZERO_UUID, partitionData }] }
  const header = { requestApiKey: 0, requestApiVersion: VERSION, correlationId, clientId: 'test' }
  return frameOf(RequestHeader.encode(header, 2), ProduceRequest.encode(request, VERSION))
}

test('pipelined Produce requests are appended while earlier ones wait for the disk, and keep their order', async t => {
  const node = await TestNode.start()
  await node.createTopic('orders')
  const { served, handle: handler } = node.broker
  const limits = { maxRequestBytes: 1 << 20, idleTimeoutMs: -1 }
  const listener = { host: '127.0.0.1', port: 0, name: 'PLAINTEXT', ...limits }
  const server = await listen({ ...listener, served, handler, clock: systemClock, logger: silentLogger })
  const client = await RawClient.connect(server.port)
  t.after(async () => {
    await client.close()
    await server.close()
    await node.close()
  })
  const ids = Array.from({ length: 40 }, (_, id) => id)
  const { log } = node.partition('orders')
  const disk = Promise.withResolvers<void>()
  const allWait = Promise.withResolvers<void>()
  const flush = log.flush.bind(log)
  let waiting = 0
  log.flush = async () => {
    if (++waiting === ids.length) allWait.resolve()
    await disk.promise
    await flush()
  }
  await client.write(Buffer.concat(ids.map(produceFrame)))
  await allWait.promise
  deepStrictEqual([log.logEndOffset, log.flushedOffset, client.unread], [ids.length, 0, 0])
  disk.resolve()
  const answers: [number, number][] = []
  for (const _ of ids) {
    const frame = await client.next()
    const part = ProduceResponse.decode(frame.subarray(5), VERSION).responses[0]?.partitionResponses[0]
    answers.push([frame.readInt32BE(0), Number(part?.baseOffset)])
  }
  deepStrictEqual(
    answers,
    ids.map(id => [id, id]),
  )
})
