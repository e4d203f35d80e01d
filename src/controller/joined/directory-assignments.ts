/** Tells the controller which log directory holds our replicas, where it has another one noted (AssignReplicasToDirs, KIP-858): without that a node whose directory was lost is never elected. A joined node runs one. */
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Uuid } from '../../core/uuid.ts'
import type { ImageSubscriber } from '../../metadata/controller-port.ts'
import type { MetadataDelta } from '../../metadata/metadata-delta.ts'
import type { MetadataImage, TopicImage } from '../../metadata/metadata-image.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { AssignReplicasToDirsApi } from '../../protocol/messages/73-assign-replicas-to-dirs.ts'
import type { ControllerQuestions } from './controller-questions.ts'
import { LookLoop } from './placement/look-loop.ts'

export interface DirectoryAssignmentsOptions {
  readonly brokerId: number
  /** Of the directory that this node has. */
  readonly directoryId: Uuid
  /** Of our registration; −1 = none at present. */
  readonly brokerEpoch: () => number
  readonly questions: Pick<ControllerQuestions, 'ask'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Kafka's bound of a request. */
const PARTITIONS_MAX = 2000

/** To be subscribed to the controller. */
export class DirectoryAssignments implements ImageSubscriber {
  readonly name = 'directory assignments'
  readonly #o: DirectoryAssignmentsOptions
  readonly #loop: LookLoop
  /** Topics with replicas of ours of which the controller may have another directory noted. */
  readonly #topics = new Map<Uuid, TopicImage>()

  constructor(options: DirectoryAssignmentsOptions) {
    this.#o = options
    const failed = (error: unknown) =>
      options.logger.warn('the controller could not be told where our replicas are', { reason: messageOf(error) })
    this.#loop = new LookLoop({ clock: options.clock, look: () => this.#look(), failed })
  }

  onImage(_image: MetadataImage, delta: MetadataDelta): void {
    for (const id of delta.deletedTopics.keys()) this.#topics.delete(id)
    for (const { after } of delta.changedTopics.values()) {
      if (this.#misplaced(after).length > 0) this.#topics.set(after.id, after)
      else this.#topics.delete(after.id)
    }
    if (this.#topics.size > 0) this.#loop.wake()
  }

  /** Begins to act. Idempotent. */
  start(): void {
    this.#loop.start()
  }

  close(): Promise<void> {
    return this.#loop.close()
  }

  async #look(): Promise<boolean> {
    const { brokerId, directoryId, brokerEpoch, questions, logger } = this.#o
    const topics = this.#request()
    if (topics.length === 0 || brokerEpoch() < 0) return false
    const { response } = await questions.ask(
      AssignReplicasToDirsApi,
      { brokerId, brokerEpoch: BigInt(brokerEpoch()), directories: [{ id: directoryId, topics }] },
      { codes: ({ errorCode }) => [errorCode], repeatable: true },
    )
    const codes = response.directories.flatMap(({ topics }) =>
      topics.flatMap(({ partitions }) => partitions.map(({ errorCode }) => errorCode)),
    )
    const refused = [response.errorCode, ...codes].find(code => code !== ErrorCode.NONE)
    const partitions = topics.reduce((sum, topic) => sum + topic.partitions.length, 0)
    if (refused === undefined) logger.info('told the controller where our replicas are', { directoryId, partitions })
    else logger.warn('the controller refused to note where our replicas are', { error: errorName(refused), partitions })
    return false
  }

  #request(): { readonly topicId: Uuid; readonly partitions: { readonly partitionIndex: number }[] }[] {
    const topics: { topicId: Uuid; partitions: { partitionIndex: number }[] }[] = []
    let left = PARTITIONS_MAX
    for (const topic of this.#topics.values()) {
      const partitions = this.#misplaced(topic).slice(0, left)
      left -= partitions.length
      if (partitions.length > 0)
        topics.push({ topicId: topic.id, partitions: partitions.map(partitionIndex => ({ partitionIndex })) })
    }
    return topics
  }

  #misplaced({ partitions }: TopicImage): number[] {
    const { brokerId, directoryId } = this.#o
    return partitions.flatMap(({ replicas, directories }, index) => {
      const at = replicas.indexOf(brokerId)
      return at < 0 || directories[at] === directoryId ? [] : [index]
    })
  }
}
