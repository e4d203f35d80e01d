// A topic of a node, written and read with raw requests: what honest clients do while hostile ones are about.
import { ZERO_UUID } from '../../src/core/uuid.ts'
import { RawClient } from '../../src/network/fakes/raw-client.ts'
import { batchesIn } from '../../src/protocol/batches/batch-iteration.ts'
import { buildBatch } from '../../src/protocol/batches/build-batch.ts'
import { ErrorCode, errorName } from '../../src/protocol/errors.ts'
import { ProduceApi } from '../../src/protocol/messages/00-produce.ts'
import { FetchApi } from '../../src/protocol/messages/01-fetch.ts'
import { CreateTopicsApi } from '../../src/protocol/messages/19-create-topics.ts'
import { answerOf, requestFrame } from '../raw-request.ts'

const PRODUCE_VERSION = 9
const FETCH_VERSION = 11

export interface RawTopic {
  readonly port: number
  readonly name: string
  readonly partition: number
}

export async function createRawTopic(port: number, name: string, partitions = 1): Promise<void> {
  const client = await RawClient.connect(port)
  const plan = { name, numPartitions: partitions, replicationFactor: 1, assignments: [], configs: [] }
  await client.write(requestFrame(CreateTopicsApi, { topics: [plan] }))
  const [created] = answerOf(CreateTopicsApi, await client.next()).topics
  await client.close()
  if (created?.errorCode !== ErrorCode.NONE) throw new Error(`${name}: ${created?.errorMessage}`)
}

/** One batch with one record of so many bytes, as a Produce request with acks=all. */
export function produceFrame({ name, partition }: Omit<RawTopic, 'port'>, bytes: number, correlationId = 1): Buffer {
  const records = buildBatch({ records: [{ timestamp: BigInt(Date.now()), key: null, value: Buffer.alloc(bytes, 7) }] })
  const topicData = [{ name, topicId: ZERO_UUID, partitionData: [{ index: partition, records }] }]
  return requestFrame(
    ProduceApi,
    { acks: -1, timeoutMs: 30_000, topicData },
    { version: PRODUCE_VERSION, correlationId },
  )
}

/** The error of a Produce answer with one partition. */
export const producedError = (frame: Buffer): string =>
  errorName(answerOf(ProduceApi, frame, PRODUCE_VERSION).responses[0]?.partitionResponses[0]?.errorCode ?? -1)

export function fetchFrame(
  topic: Omit<RawTopic, 'port'>,
  offset: number,
  options: { bytesMax?: number; waitMs?: number } = {},
) {
  const { bytesMax = 50 << 20, waitMs = 100 } = options
  const partitions = [{ partition: topic.partition, fetchOffset: BigInt(offset), partitionMaxBytes: bytesMax }]
  const request = {
    maxWaitMs: waitMs,
    minBytes: 1,
    maxBytes: bytesMax,
    topics: [{ topic: topic.name, topicId: ZERO_UUID, partitions }],
    forgottenTopicsData: [],
  }
  return requestFrame(FetchApi, request, { version: FETCH_VERSION })
}

/** Sends `count` batches of `bytes`, some in flight at a time; resolves when all are acknowledged. */
export async function produceMany(topic: RawTopic, count: number, bytes: number): Promise<void> {
  const client = await RawClient.connect(topic.port)
  const frame = produceFrame(topic, bytes)
  let sent = 0
  for (let answered = 0; answered < count; answered++) {
    for (; sent < count && sent < answered + 16; sent++) await client.write(frame)
    const error = producedError(await client.next())
    if (error !== 'NONE') throw new Error(`${topic.name}: ${error}`)
  }
  await client.close()
}

/** Reads from `offset` to `end`; resolves to the bytes of records read. */
export async function readRange(topic: RawTopic, offset: number, end: number): Promise<number> {
  const client = await RawClient.connect(topic.port)
  let bytes = 0
  for (let next = offset; next < end; ) {
    await client.write(fetchFrame(topic, next))
    const part = answerOf(FetchApi, await client.next(), FETCH_VERSION).responses[0]?.partitions[0]
    if (part?.errorCode !== ErrorCode.NONE) throw new Error(`${topic.name}: ${errorName(part?.errorCode ?? -1)}`)
    bytes += part.records?.length ?? 0
    for (const batch of batchesIn(part.records ?? Buffer.alloc(0))) next = batch.lastOffset + 1
  }
  await client.close()
  return bytes
}
