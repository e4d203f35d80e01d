/** One partition of a fetch: what the client wants of it and, in a session, what it was told last; sessions and the Fetch handler use it. */
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { FetchRequest, FetchResponseInput } from '../../protocol/messages/01-fetch.ts'

export type PartitionAnswer = FetchResponseInput['responses'][number]['partitions'][number]
export type AskedPartition = FetchRequest['topics'][number]['partitions'][number]

/** Topic and partition as a request names them: by name (id zero), or by id. */
export interface NamedPartition {
  readonly topic: string
  readonly topicId: Uuid
  readonly partition: number
}

/** One partition of a Fetch request. */
export interface WantedPartition extends NamedPartition {
  readonly asked: AskedPartition
}

export const partitionKey = ({ topic, topicId, partition }: NamedPartition): string =>
  `${topicId === ZERO_UUID ? topic : topicId}:${partition}`

/** The partitions of a request; of one named twice the last counts, in the place of the first. */
export function wantedPartitions(request: FetchRequest): Map<string, WantedPartition> {
  const wanted = new Map<string, WantedPartition>()
  for (const { topic, topicId, partitions } of request.topics)
    for (const asked of partitions) {
      const one = { topic, topicId, partition: asked.partition, asked }
      wanted.set(partitionKey(one), one)
    }
  return wanted
}

/** A partition of a session. Its request fields stay until a request of the session changes them. */
export class SessionPartition implements WantedPartition {
  readonly topic: string
  readonly topicId: Uuid
  readonly partition: number
  asked: AskedPartition
  /** Of a topic named by id: its name, once known. A topic of that name with another id is another topic. */
  topicName: string | undefined
  #highWatermark = -1n
  #logStartOffset = -1n

  constructor(wanted: WantedPartition) {
    this.topic = wanted.topic
    this.topicId = wanted.topicId
    this.partition = wanted.partition
    this.asked = wanted.asked
  }

  /** Remembers what a full answer told. */
  told(answer: PartitionAnswer): void {
    this.#highWatermark = answer.highWatermark
    this.#logStartOffset = answer.logStartOffset ?? -1n
  }

  /** Is there anything in the answer that the client does not know? If so it counts as told. */
  tells(answer: PartitionAnswer): boolean {
    const logStartOffset = answer.logStartOffset ?? -1n
    const failed = answer.errorCode !== ErrorCode.NONE
    const isNews =
      failed ||
      (answer.records?.length ?? 0) > 0 ||
      answer.highWatermark !== this.#highWatermark ||
      logStartOffset !== this.#logStartOffset ||
      (answer.preferredReadReplica ?? -1) >= 0 ||
      answer.divergingEpoch !== undefined
    if (!isNews) return false
    // After an error the partition is told again as soon as the error is gone.
    this.#highWatermark = failed ? -1n : answer.highWatermark
    this.#logStartOffset = logStartOffset
    return true
  }
}
