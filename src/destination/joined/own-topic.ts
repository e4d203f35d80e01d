/** One of Lockstep's own topics in a joined cluster: created where it belongs, and who leads it now. Used by the logs of such topics. */
import { messageOf } from '../../core/errors.ts'
import type { Random } from '../../core/random.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import { type PartitionImage, type TopicImage, topicByName } from '../../metadata/metadata-image.ts'
import { placeOwnTopic } from '../../metadata/placement/own-topics.ts'
import { ErrorCode } from '../../protocol/errors.ts'

export interface OwnTopicOptions {
  readonly name: string
  readonly configs: ReadonlyMap<string, string>
  readonly controller: Pick<Controller, 'image' | 'createTopics'>
  readonly random: Random
}

export class OwnTopic {
  readonly name: string
  readonly #o: OwnTopicOptions

  constructor(options: OwnTopicOptions) {
    this.name = options.name
    this.#o = options
  }

  get topic(): TopicImage | undefined {
    return topicByName(this.#o.controller.image, this.name)
  }

  /** Its only partition. */
  get partition(): PartitionImage | undefined {
    return this.topic?.partitions[0]
  }

  /** -1 = nobody now. */
  get leader(): number {
    return this.partition?.leader ?? -1
  }

  /** Creates it if it is not there; another node may do so at the same time. */
  async ensure(): Promise<void> {
    const { name, configs, controller, random } = this.#o
    if (this.topic) return
    const place = placeOwnTopic(controller.image, random)
    if (!place) throw new Error(`${name} cannot be created: no Lockstep node or no Kafka broker takes replicas now`)
    const all = new Map([...configs, ['min.insync.replicas', String(place.minInsyncReplicas)]])
    const topic = { name, partitions: -1, replicationFactor: -1, assignments: new Map([[0, place.replicas]]) }
    const [created] = await controller.createTopics([{ ...topic, configs: all }], { validateOnly: false })
    const { errorCode, errorMessage } = created ?? { errorCode: -1, errorMessage: 'no answer' }
    if (errorCode !== ErrorCode.NONE && errorCode !== ErrorCode.TOPIC_ALREADY_EXISTS)
      throw new Error(`${name} could not be created: ${messageOf(errorMessage ?? errorCode)}`)
  }
}
