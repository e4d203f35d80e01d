/** `__lockstep_state` and `__lockstep_status` of a standalone node as the link engine's StateLogs: one compacted partition each. */
import assert from 'node:assert/strict'
import type { Clock } from '../core/clock.ts'
import { SerialQueue } from '../core/serial-queue.ts'
import { NotLinkCoordinator, type StateLog, type StateRecord } from '../link/ports.ts'
import type { Controller } from '../metadata/controller-port.ts'
import { topicByName } from '../metadata/metadata-image.ts'
import { ErrorCode } from '../protocol/errors.ts'
import type { Partition } from '../replica/partition.ts'
import type { ReplicaSet } from '../replica/replica-set.ts'
import { LedTopic } from './led-topic.ts'
import { ReplayedTopic } from './replayed-topic.ts'

export const stateTopicName = '__lockstep_state'

/** Topic configs of what is kept by key. */
export const keptTopicConfigs: ReadonlyMap<string, string> = new Map([
  ['cleanup.policy', 'compact'],
  ['compression.type', 'producer'],
  ['max.message.bytes', String(64 * 1024 * 1024)],
  ['segment.bytes', String(128 * 1024 * 1024)],
  // Only closed segments are compacted: without it little of a small log ever would be.
  ['segment.ms', String(24 * 60 * 60 * 1000)],
])

export interface StateTopicOptions {
  /** The topic; default `__lockstep_state`. */
  readonly topic?: string
  readonly controller: Controller
  readonly replicas: Pick<ReplicaSet, 'lookup' | 'storageFailed'>
  readonly clock: Clock
}

export class StateTopic implements StateLog {
  readonly #o: StateTopicOptions
  readonly #queue = new SerialQueue()
  readonly #replayed: ReplayedTopic
  #led: LedTopic | undefined
  #closed = false

  constructor(options: StateTopicOptions) {
    this.#o = options
    this.#replayed = new ReplayedTopic(options.topic ?? stateTopicName)
  }

  /** Creates the topic if it does not exist. Replays only what is durable. */
  open(onRecords: (records: readonly StateRecord[]) => void): Promise<void> {
    return this.#queue.run(async () => {
      const { replicas, clock } = this.#o
      const replayed = this.#replayed
      replayed.onRecords = onRecords
      this.#led = new LedTopic({ replayed, partition: await this.#partition(), replicas, clock })
      await this.#led.replay()
    })
  }

  append(records: readonly StateRecord[]): Promise<void> {
    return this.#queue.run(async () => {
      if (!this.#led || this.#closed) throw new NotLinkCoordinator(`${this.#replayed.name} is not open`)
      await this.#led.append(records)
    })
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#queue.idle()
  }

  async #partition(): Promise<Partition> {
    const { controller, replicas } = this.#o
    const { name } = this.#replayed
    if (!topicByName(controller.image, name)) {
      const topic = { name, partitions: 1, replicationFactor: -1, assignments: new Map() }
      const [created] = await controller.createTopics([{ ...topic, configs: keptTopicConfigs }], {
        validateOnly: false,
      })
      const { errorCode, errorMessage } = created ?? { errorCode: -1, errorMessage: 'no answer' }
      if (errorCode !== ErrorCode.NONE && errorCode !== ErrorCode.TOPIC_ALREADY_EXISTS)
        throw new Error(`${name} could not be created: ${errorMessage ?? errorCode}`)
    }
    const topic = topicByName(controller.image, name)
    assert(topic, `${name} was created and is in the image`)
    return replicas.lookup(topic.id, 0)
  }
}
