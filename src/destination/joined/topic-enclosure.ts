/**
 * Makes this node the leader of a topic that Kafka brokers lead, with everything that is in it: a replica here, then in sync, then the
 * first one that is elected. Called by the fence when a topic is to become a mirror, where it takes long before the fence goes on; every
 * step looks at the cluster first, so that whoever goes on after a crash does what is left.
 */
import { type Clock, sleep } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Uuid } from '../../core/uuid.ts'
import type { ApiError } from '../../metadata/api-error.ts'
import type { ClusterCommands, NamedPartition, Reassignment } from '../../metadata/cluster-commands.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import { isLockstepNode } from '../../metadata/lockstep-nodes.ts'
import type { PartitionImage, TopicImage } from '../../metadata/metadata-image.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import type { BrokerQuestions } from './broker-questions.ts'
import { fenceConfigs } from './fence-values.ts'

export interface TopicEnclosureOptions {
  readonly brokerId: number
  readonly controller: Pick<Controller, 'image'> & {
    readonly cluster: Pick<ClusterCommands, 'alterPartitionReassignments' | 'electLeaders'>
  }
  readonly questions: Pick<BrokerQuestions, 'highWatermark' | 'logEnd' | 'topicConfig'>
  readonly clock: Clock
  readonly logger: Logger
}

/** Copies may take long: then the caller is told, and tries again. */
const WAIT_MS = 10_000
const LOOK_MS = 50
const BATCH_MAX = 200
const FENCE_KEY = 'max.message.bytes'

interface Placed {
  readonly partition: number
  readonly placed: PartitionImage
}

export class TopicEnclosure {
  readonly #o: TopicEnclosureOptions

  constructor(options: TopicEnclosureOptions) {
    this.#o = options
  }

  /** Resolves when this node leads all partitions and is their preferred leader. Rejects with what it waits for. */
  async lead(topicId: Uuid): Promise<void> {
    const { clock } = this.#o
    const deadline = clock.monotonicMs() + WAIT_MS
    for (;;) {
      const waitsFor = await this.#step(topicId)
      if (waitsFor === undefined) return
      if (clock.monotonicMs() >= deadline) throw new Error(waitsFor)
      await sleep(clock, LOOK_MS)
    }
  }

  /** Asks for a replica here, behind those that are there, so that nobody elects it; resolves to what is to be waited for, if anything. */
  async stage(topicId: Uuid): Promise<string | undefined> {
    const { logger } = this.#o
    const topic = this.#topic(topicId)
    const misplaced = topic.partitions.flatMap((placed, partition) => {
      const replicas = this.#goal(placed)
      return replicas ? [{ topic: topic.name, partition, replicas }] : []
    })
    if (misplaced.length > 0) {
      await this.#reassign(misplaced)
      logger.info('a topic that is to be a mirror again gets replicas here', { topic: topic.name })
    }
    const [first, ...more] = this.#partitions(topicId).filter(({ placed }) => !this.#isInSync(placed))
    return first && `partition ${first.partition} is being copied to this node (and ${more.length} more)`
  }

  /** Resolves when all leaders know the fence. Rejects with what it waits for. */
  async shut(topicId: Uuid): Promise<void> {
    const { clock, controller } = this.#o
    const deadline = clock.monotonicMs() + WAIT_MS
    for (;;) {
      const leaders = new Set(this.#partitions(topicId).map(({ placed }) => placed.leader))
      const kafka = [...leaders].filter(id => id >= 0 && !isLockstepNode(controller.image, id))
      const { name } = this.#topic(topicId)
      const known = await Promise.all(kafka.map(id => this.#knowsFence(id, name)))
      if (known.every(Boolean)) return
      const late = kafka.filter((_, index) => !known[index])
      if (clock.monotonicMs() >= deadline) throw new Error(`broker ${late.join(', ')} may let clients write still`)
      await sleep(clock, LOOK_MS)
    }
  }

  /** Does what can be done now; resolves to what is to be waited for, if anything. */
  async #step(topicId: Uuid): Promise<string | undefined> {
    const copying = await this.stage(topicId)
    const others = this.#partitions(topicId).filter(({ placed }) => !this.#isLedHere(placed))
    const inSync = others.filter(({ placed }) => this.#isInSync(placed))
    const elected = await this.#electQuiet(this.#topic(topicId).name, inSync)
    const [left] = this.#partitions(topicId).filter(({ placed }) => !this.#isLedHere(placed))
    if (!left) return undefined
    const { partition, placed } = left
    if (!this.#isInSync(placed)) return copying ?? `partition ${partition} is being copied to this node`
    return `partition ${partition} is led by broker ${placed.leader}${elected === undefined ? '' : `: ${elected}`}`
  }

  #isInSync(placed: PartitionImage): boolean {
    return !isMoving(placed) && placed.isr.includes(this.#o.brokerId)
  }

  /** Where the replicas are to be, if they are not and nobody else moves them. */
  #goal({ replicas, removingReplicas, addingReplicas }: PartitionImage): readonly number[] | undefined {
    const { brokerId, controller } = this.#o
    const present = replicas.filter(id => !removingReplicas.includes(id))
    const java = present.filter(id => !isLockstepNode(controller.image, id))
    const isOurs = java.length < present.length
    if (!isOurs && (addingReplicas.length > 0 || removingReplicas.length > 0)) return undefined
    const goal = present[0] === brokerId ? [brokerId, ...java] : [...java, brokerId]
    return goal.length === present.length && goal.every((id, index) => id === present[index]) ? undefined : goal
  }

  /** Those to which nobody can add anything any more, and of which everything has been replicated; resolves to why others were not. */
  async #electQuiet(topic: string, inSync: readonly Placed[]): Promise<string | undefined> {
    if (inSync.length === 0) return undefined
    const fenced = new Map<number, Promise<boolean>>()
    const isQuiet = await Promise.all(inSync.map(of => this.#isQuiet(topic, of, fenced)))
    const calm = inSync.filter((_, index) => isQuiet[index])
    const quiet = calm.map(({ partition }) => ({ topic, partition }))
    // Only who is first can be elected.
    const behind = calm.flatMap(({ partition, placed }) => {
      const replicas = [this.#o.brokerId, ...placed.replicas.filter(id => id !== this.#o.brokerId)]
      return placed.replicas[0] === this.#o.brokerId ? [] : [{ topic, partition, replicas }]
    })
    await this.#reassign(behind)
    let refused: string | undefined
    for (let from = 0; from < quiet.length; from += BATCH_MAX) {
      const answers = await this.#o.controller.cluster.electLeaders('preferred', quiet.slice(from, from + BATCH_MAX))
      refused ??= refusalOf(answers)
    }
    return refused ?? (quiet.length < inSync.length ? 'what was written last is being replicated' : undefined)
  }

  async #isQuiet(
    topic: string,
    { partition, placed }: Placed,
    fenced: Map<number, Promise<boolean>>,
  ): Promise<boolean> {
    const { controller, questions, brokerId } = this.#o
    const { leader } = placed
    if (leader < 0 || leader === brokerId) return true
    // Other Lockstep nodes refuse to write, and show the configs that the topic is meant to have.
    if (!isLockstepNode(controller.image, leader)) {
      const isFenced = fenced.get(leader) ?? this.#knowsFence(leader, topic)
      fenced.set(leader, isFenced)
      if (!(await isFenced)) return false
    }
    const end = await questions.logEnd(leader, topic, partition)
    return (await questions.highWatermark(leader, topic, partition)) >= end
  }

  async #knowsFence(leader: number, topic: string): Promise<boolean> {
    return (await this.#o.questions.topicConfig(leader, topic, FENCE_KEY)) === fenceConfigs.get(FENCE_KEY)
  }

  async #reassign(all: readonly Reassignment[]): Promise<void> {
    for (let from = 0; from < all.length; from += BATCH_MAX) {
      const batch = all.slice(from, from + BATCH_MAX)
      const refused = refusalOf(await this.#o.controller.cluster.alterPartitionReassignments(batch))
      if (refused !== undefined) throw new Error(refused)
    }
  }

  #isLedHere({ leader, replicas }: PartitionImage): boolean {
    const { brokerId } = this.#o
    return leader === brokerId && replicas[0] === brokerId
  }

  #partitions(topicId: Uuid): Placed[] {
    return this.#topic(topicId).partitions.map((placed, partition) => ({ partition, placed }))
  }

  #topic(topicId: Uuid): TopicImage {
    const topic = this.#o.controller.image.topics.get(topicId)
    if (!topic) throw new Error(`topic ${topicId} does not exist here any more`)
    return topic
  }
}

/** A reassignment is under way. */
const isMoving = ({ addingReplicas, removingReplicas }: PartitionImage): boolean =>
  addingReplicas.length > 0 || removingReplicas.length > 0

function refusalOf(answers: readonly (ApiError & NamedPartition)[]): string | undefined {
  const refused = answers.find(
    ({ errorCode }) => errorCode !== ErrorCode.NONE && errorCode !== ErrorCode.ELECTION_NOT_NEEDED,
  )
  return refused && `partition ${refused.partition}: ${refused.errorMessage ?? errorName(refused.errorCode)}`
}
