/** Short forms of Produce, Fetch and DeleteRecords requests to one partition of a TestNode; for tests of handlers. */
import { ZERO_UUID } from '../../core/uuid.ts'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import { errorName } from '../../protocol/errors.ts'
import { ProduceApi } from '../../protocol/messages/00-produce.ts'
import { FetchApi } from '../../protocol/messages/01-fetch.ts'
import { DeleteRecordsApi } from '../../protocol/messages/21-delete-records.ts'
import type { TestNode } from './test-node.ts'

export const NOW = 1_700_000_000_000n
export const batch = (timestamp = NOW, value = 'v') =>
  buildBatch({ records: [{ timestamp, key: Buffer.from('k'), value: Buffer.from(value) }] })

export interface Produced {
  readonly topic?: string
  readonly topicId?: string
  readonly partition?: number
  readonly records?: Buffer | null
  readonly acks?: number
  readonly version?: number
  readonly clientId?: string
}

export async function produce(node: TestNode, options: Produced = {}) {
  const version = options.version ?? 12
  const name = options.topic ?? 'orders'
  const topicId = (options.topicId ?? node.controller.image.topicIds.get(name) ?? ZERO_UUID) as typeof ZERO_UUID
  const answer = await node.call(
    ProduceApi,
    {
      acks: options.acks ?? -1,
      timeoutMs: 1000,
      topicData: [
        {
          name: version < 13 ? name : '',
          topicId: version < 13 ? ZERO_UUID : topicId,
          partitionData: [
            { index: options.partition ?? 0, records: options.records === undefined ? batch() : options.records },
          ],
        },
      ],
    },
    { version, ...(options.clientId ? { clientId: options.clientId } : {}) },
  )
  return answer?.responses[0]?.partitionResponses[0]
}

export interface Fetched {
  readonly topic?: string
  readonly topicId?: string
  readonly partition?: number
  readonly offset?: number
  readonly version?: number
  readonly maxWaitMs?: number
  readonly sessionEpoch?: number
  readonly leaderEpoch?: number
}

export async function fetch(node: TestNode, options: Fetched = {}) {
  const version = options.version ?? 12
  const name = options.topic ?? 'orders'
  const topicId = (options.topicId ?? node.controller.image.topicIds.get(name) ?? ZERO_UUID) as typeof ZERO_UUID
  return await node.call(
    FetchApi,
    {
      maxWaitMs: options.maxWaitMs ?? 0,
      minBytes: 1,
      sessionEpoch: version < 7 ? -1 : (options.sessionEpoch ?? -1),
      topics: [
        {
          topic: version < 13 ? name : '',
          topicId: version < 13 ? ZERO_UUID : topicId,
          partitions: [
            {
              partition: options.partition ?? 0,
              fetchOffset: BigInt(options.offset ?? 0),
              partitionMaxBytes: 1 << 20,
              currentLeaderEpoch: options.leaderEpoch ?? -1,
            },
          ],
        },
      ],
    },
    { version },
  )
}
export async function deleteRecords(node: TestNode, name: string, offset: bigint) {
  const answer = await node.call(DeleteRecordsApi, {
    timeoutMs: 1000,
    topics: [{ name, partitions: [{ partitionIndex: 0, offset }] }],
  })
  const partition = answer?.topics[0]?.partitions[0]
  return partition?.errorCode ? errorName(partition.errorCode) : partition?.lowWatermark
}
