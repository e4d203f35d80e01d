/** Produces to one of Lockstep's own topics like any client, acknowledged by all in-sync replicas: proposals to the link coordinator, and what it publishes. */
import { messageOf } from '../../core/errors.ts'
import type { StateRecord } from '../../link/ports.ts'
import { isRefusal, missingRight } from '../../metadata/missing-right.ts'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { ProduceApi } from '../../protocol/messages/00-produce.ts'
import type { BrokerLinks } from './group-coordinators.ts'
import type { OwnTopic } from './own-topic.ts'

export interface TopicWriterOptions {
  readonly topic: OwnTopic
  readonly brokers: BrokerLinks
  readonly clock: { nowMs(): number }
}

const ACKS_ALL = -1
const TIMEOUT_MS = 10_000
/** The last version that names topics. */
const PRODUCE_VERSION = { min: 3, max: 9 }

export class TopicWriter {
  readonly #o: TopicWriterOptions

  constructor(options: TopicWriterOptions) {
    this.#o = options
  }

  /** One batch. Rejects where it is not known to be written; then it may be all the same. */
  async append(records: readonly StateRecord[]): Promise<void> {
    const { topic, brokers, clock } = this.#o
    if (topic.leader < 0) throw new Error(`${topic.name} has no leader now`)
    const connection = await brokers.to(topic.leader)
    const timestamp = BigInt(clock.nowMs())
    const batch = buildBatch({
      records: records.map(({ key, value }, offsetDelta) => ({ offsetDelta, timestamp, key, value })),
    })
    const topicData = [{ name: topic.name, partitionData: [{ index: 0, records: batch }] }]
    const version = connection.versionFor(ProduceApi.key, PRODUCE_VERSION)
    const { response } = await connection.send(
      ProduceApi,
      { transactionalId: null, acks: ACKS_ALL, timeoutMs: TIMEOUT_MS, topicData },
      { version },
    )
    const answer = response.responses[0]?.partitionResponses[0]
    const { errorCode = ErrorCode.UNKNOWN_SERVER_ERROR, errorMessage = null } = answer ?? {}
    if (errorCode === ErrorCode.NONE) return
    const why = isRefusal(errorCode)
      ? missingRight({ operation: 'WRITE', resource: 'TOPIC', name: topic.name })
      : messageOf(errorMessage ?? errorName(errorCode))
    throw new Error(`${topic.name} cannot be written: ${why}`)
  }
}
