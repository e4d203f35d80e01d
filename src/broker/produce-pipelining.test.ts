/** Produce requests that a client sends without waiting: appended in order, flushed together, answered in order. */
import { deepStrictEqual, ok } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { systemClock } from '../core/clock.ts'
import { silentLogger } from '../core/logger.ts'
import { ZERO_UUID } from '../core/uuid.ts'
import { MemoryFileSystem } from '../log/fakes/memory-file-system.ts'
import { frameOf, RawClient } from '../network/fakes/raw-client.ts'
import { listen } from '../network/server-listener.ts'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { ProduceRequest, ProduceResponse } from '../protocol/messages/00-produce.ts'
import { RequestHeader } from '../protocol/messages/header.ts'
import { batch } from './fakes/requests.ts'
import { TestNode } from './fakes/test-node.ts'

const VERSION = 9

function produceFrame(correlationId: number, records = batch()): Buffer {
  const partitionData = [{ index: 0, records }]
  const request = { acks: -1, timeoutMs: 1000, topicData: [{ name: 'orders', topicId: ZERO_UUID, partitionData }] }
  const header = { requestApiKey: 0, requestApiVersion: VERSION, correlationId, clientId: 'test' }
  return frameOf(RequestHeader.encode(header, 2), ProduceRequest.encode(request, VERSION))
}

async function startWithClient(t: TestContext) {
  const fs = new MemoryFileSystem()
  const node = await TestNode.start({ fs })
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
  const answer = async () => {
    const frame = await client.next()
    const part = ProduceResponse.decode(frame.subarray(5), VERSION).responses[0]?.partitionResponses[0]
    return { id: frame.readInt32BE(0), errorCode: part?.errorCode, baseOffset: Number(part?.baseOffset) }
  }
  return { fs, client, answer, log: node.partition('orders').log }
}

test('pipelined Produce requests are appended while earlier ones wait for the disk, and keep their order', async t => {
  const { client, answer, log } = await startWithClient(t)
  const ids = Array.from({ length: 40 }, (_, id) => id)
  const disk = Promise.withResolvers<void>()
  const allWait = Promise.withResolvers<void>()
  const flush = log.flush.bind(log)
  let waiting = 0
  log.flush = async () => {
    if (++waiting === ids.length) allWait.resolve()
    await disk.promise
    await flush()
  }
  await client.write(Buffer.concat(ids.map(id => produceFrame(id))))
  await allWait.promise
  deepStrictEqual([log.logEndOffset, log.flushedOffset, client.unread], [ids.length, 0, 0])
  disk.resolve()
  for (const id of ids) deepStrictEqual(await answer(), { id, errorCode: 0, baseOffset: id })
})

test('requests that share a flush fail, repeat and succeed each for itself', async t => {
  const { fs, client, answer, log } = await startWithClient(t)
  const sequenced = (baseSequence: number) => {
    const record = { timestamp: 1_700_000_000_000n, key: null, value: Buffer.from('v') }
    return buildBatch({ records: [record], producerId: 7n, producerEpoch: 0, baseSequence })
  }
  const corrupt = batch()
  corrupt.writeUInt8(corrupt.readUInt8(corrupt.length - 1) ^ 1, corrupt.length - 1)
  const requests = [sequenced(0), sequenced(1), sequenced(1), sequenced(5), corrupt, sequenced(2), batch()]
  const syncsBefore = fs.syncs
  await client.write(Buffer.concat(requests.map((records, id) => produceFrame(id, records))))
  const { CORRUPT_MESSAGE, NONE, OUT_OF_ORDER_SEQUENCE_NUMBER } = ErrorCode
  const expected: [number, number][] = [
    [NONE, 0],
    [NONE, 1],
    [NONE, 1],
    [OUT_OF_ORDER_SEQUENCE_NUMBER, -1],
    [CORRUPT_MESSAGE, -1],
    [NONE, 2],
    [NONE, 3],
  ]
  for (const [id, [errorCode, baseOffset]] of expected.entries())
    deepStrictEqual(await answer(), { id, errorCode, baseOffset })
  deepStrictEqual([log.logEndOffset, log.flushedOffset], [4, 4])
  // The epoch's file may be saved beside.
  ok(fs.syncs - syncsBefore <= 3, `${fs.syncs - syncsBefore} syncs`)
})
