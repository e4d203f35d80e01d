/** What the handlers of groups share: offsets named by topic and partition, and waiting that ends with the connection. */
import type { OffsetToCommit } from '../coordinator/groups/commit-offsets.ts'
import { type Uuid, ZERO_UUID } from '../core/uuid.ts'
import type { MetadataImage, TopicImage } from '../metadata/metadata-image.ts'
import { ErrorCode } from '../protocol/errors.ts'
import type { RequestOrigin } from './handler.ts'
import { resolveTopic } from './resolve-topic.ts'

/** undefined when the client is gone: its membership ends by timeouts, but nobody is left to answer. */
export function whileConnected<T>({ client: { signal } }: RequestOrigin, answer: Promise<T>): Promise<T | undefined> {
  if (signal.aborted) return Promise.resolve(undefined)
  return new Promise((resolve, reject) => {
    const gone = () => resolve(undefined)
    signal.addEventListener('abort', gone, { once: true })
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', gone))
  })
}

export interface NamedTopic {
  /** Empty where the request carries ids. */
  readonly name: string
  readonly topicId: Uuid
}

/** A topic of a request as it is answered: with the name or id that the request had. */
export interface TopicAnswer {
  readonly name: string
  readonly topicId: Uuid
  readonly partitions: { readonly partitionIndex: number; readonly errorCode: number }[]
}

/** One partition that the coordinator decides about. */
export interface ValidPlace<P> {
  readonly topic: TopicImage
  readonly named: NamedTopic
  readonly partition: P
}

/** What OffsetCommit and TxnOffsetCommit say of one partition. */
interface CommittedPartition {
  readonly partitionIndex: number
  readonly committedOffset: bigint
  readonly committedLeaderEpoch: number
  readonly committedMetadata: string | null
}

/** Offsets as the coordinator takes them, in the order of the places. */
export const offsetsToCommit = (places: readonly ValidPlace<CommittedPartition>[]): OffsetToCommit[] =>
  places.map(({ topic, partition }) => ({
    topic: topic.name,
    topicId: topic.id,
    partition: partition.partitionIndex,
    offset: partition.committedOffset,
    leaderEpoch: partition.committedLeaderEpoch,
    metadata: partition.committedMetadata,
  }))

/**
 * Sorts the partitions of a request as Kafka does: those that are answered without the coordinator, and the valid ones. Answers
 * of the first come first, then those of the coordinator, each under its topic.
 */
export class PartitionAnswers<P extends { readonly partitionIndex: number }> {
  readonly valid: ValidPlace<P>[] = []
  readonly #answers = new Map<string, TopicAnswer>()

  constructor(
    image: MetadataImage,
    {
      topics,
      byId,
    }: { readonly topics: readonly (NamedTopic & { readonly partitions: readonly P[] })[]; byId: boolean },
    refusal: (name: string) => number,
  ) {
    for (const { partitions, ...named } of topics) {
      const topic = resolveTopic(image, named).image
      // Who may not read a topic is not told whether it exists; an id that nobody knows tells nothing.
      const refused = byId && !topic ? ErrorCode.UNKNOWN_TOPIC_ID : refusal(topic?.name ?? named.name)
      const code = refused === ErrorCode.NONE && !topic ? ErrorCode.UNKNOWN_TOPIC_OR_PARTITION : refused
      for (const partition of partitions) {
        const exists = topic?.partitions[partition.partitionIndex] !== undefined
        const partitionCode = code === ErrorCode.NONE && !exists ? ErrorCode.UNKNOWN_TOPIC_OR_PARTITION : code
        if (topic && partitionCode === ErrorCode.NONE) this.valid.push({ topic, named, partition })
        else this.add(named, partition.partitionIndex, partitionCode)
      }
    }
  }

  add(named: NamedTopic, partitionIndex: number, errorCode: number): void {
    const key = named.topicId === ZERO_UUID ? named.name : named.topicId
    const { name, topicId } = named
    const answer = this.#answers.get(key) ?? { name, topicId, partitions: [] }
    this.#answers.set(key, answer)
    answer.partitions.push({ partitionIndex, errorCode })
  }

  /** The coordinator's codes, in the order of `valid`. */
  complete(codes: readonly number[]): TopicAnswer[] {
    this.valid.forEach(({ named, partition }, index) => {
      this.add(named, partition.partitionIndex, codes[index] ?? ErrorCode.UNKNOWN_SERVER_ERROR)
    })
    return [...this.#answers.values()]
  }
}
