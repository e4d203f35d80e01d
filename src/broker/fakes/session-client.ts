/** A client with a fetch session on a TestNode: sends what changes and keeps the epoch, as Kafka's clients do; for tests of sessions. */
import { ZERO_UUID } from '../../core/uuid.ts'
import { errorName } from '../../protocol/errors.ts'
import { FetchApi, type FetchRequestInput } from '../../protocol/messages/01-fetch.ts'
import type { TestNode } from './test-node.ts'

export interface SessionRequest {
  /** Partition 0 of these topics, with the offset to fetch from. */
  readonly want?: Readonly<Record<string, number>>
  readonly forget?: readonly string[]
  readonly version?: number
  readonly sessionId?: number
  readonly epoch?: number
  readonly replicaId?: number
  readonly maxBytes?: number
}

export class SessionClient {
  sessionId = 0
  epoch = 0
  readonly #node: TestNode
  /** Ids as they were at the first use of a name: a topic that is made anew keeps its old id here. */
  readonly #ids = new Map<string, string>()

  constructor(node: TestNode) {
    this.#node = node
  }

  /** Resolves to the error of the answer, or what it tells per topic: first offsets of batches, or an error. */
  async fetch(options: SessionRequest = {}): Promise<string | Record<string, string | number>> {
    const version = options.version ?? 13
    const named = (topic: string) => ({
      topic: version < 13 ? topic : '',
      topicId: version < 13 ? ZERO_UUID : this.#idOf(topic),
    })
    const request: FetchRequestInput = {
      ...(version >= 15 ? { replicaState: { replicaId: options.replicaId ?? -1 } } : {}),
      maxWaitMs: 0,
      minBytes: 1,
      maxBytes: options.maxBytes ?? 1 << 20,
      sessionId: options.sessionId ?? this.sessionId,
      sessionEpoch: options.epoch ?? this.epoch,
      topics: Object.entries(options.want ?? {}).map(([topic, offset]) => ({
        ...named(topic),
        partitions: [{ partition: 0, fetchOffset: BigInt(offset), partitionMaxBytes: 1 << 20 }],
      })),
      forgottenTopicsData: (options.forget ?? []).map(topic => ({ ...named(topic), partitions: [0] })),
    }
    const answer = await this.#node.call(FetchApi, request, { version })
    if (!answer) return 'no answer'
    if (answer.errorCode !== 0) return errorName(answer.errorCode)
    this.sessionId = answer.sessionId
    this.epoch = answer.sessionId === 0 ? 0 : this.epoch + 1
    return Object.fromEntries(
      answer.responses.map(({ topic, topicId, partitions }) => {
        const [part] = partitions
        const name = version < 13 ? topic : this.#nameOf(topicId)
        return [name, part?.errorCode ? errorName(part.errorCode) : (part?.records?.length ?? 0)]
      }),
    )
  }

  #idOf(topic: string) {
    const id = this.#ids.get(topic) ?? this.#node.controller.image.topicIds.get(topic) ?? ZERO_UUID
    this.#ids.set(topic, id)
    return id as typeof ZERO_UUID
  }

  #nameOf(topicId: string): string {
    for (const [name, id] of this.#ids) if (id === topicId) return name
    return topicId
  }
}
