/**
 * Makes a mirror an ordinary topic of the Java brokers: first only those that have everything, at once and without loss, then the rest,
 * then the fence comes off. Every step looks at the cluster first, so that whoever goes on after a crash does what is left.
 */
import { type Clock, sleep } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Uuid } from '../../core/uuid.ts'
import type { ReleaseOutlook, ReleaseRequest } from '../../link/ports.ts'
import type { ClusterCommands, Reassignment } from '../../metadata/cluster-commands.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import type { TopicImage } from '../../metadata/metadata-image.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import type { ReplicaSet } from '../../replica/replica-set.ts'
import type { BrokerQuestions } from './broker-questions.ts'
import { type PartitionStanding, parsePlan, planOf, planText, type ReleasePlan, standingOf } from './release-plan.ts'

export interface TopicReleaseOptions {
  readonly brokerId: number
  readonly controller: Pick<Controller, 'image'> & {
    readonly cluster: Pick<ClusterCommands, 'alterPartitionReassignments'>
  }
  readonly questions: Pick<BrokerQuestions, 'highWatermark' | 'topicConfig'>
  /** Asked about partitions that this node leads. */
  readonly replicas: Pick<ReplicaSet, 'lookup'>
  readonly clock: Clock
  readonly logger: Logger
}

/** What is on its way to followers has this time to arrive; then the caller is told, and tries again. */
const REPLICATED_MS = 10_000
const LOOK_MS = 50
/** How long what a broker says of `min.insync.replicas` is believed: a promote asks twice a second. */
const REMEMBERED_MS = 10_000
const BATCH_MAX = 200

type Verb = ReleaseRequest['verb']

export class TopicRelease {
  readonly #o: TopicReleaseOptions
  readonly #minInSync = new Map<Uuid, { readonly count: number; readonly untilMs: number }>()

  constructor(options: TopicReleaseOptions) {
    this.#o = options
  }

  plan(topicId: Uuid): string {
    const topic = this.#topic(topicId)
    return topic ? planText(planOf(this.#o.controller.image, topic)) : ''
  }

  async outlook(topicId: Uuid, verb: Verb): Promise<ReleaseOutlook> {
    const topic = this.#topic(topicId)
    if (!topic) return { obstacles: new Map(), warnings: [] }
    const { image } = this.#o.controller
    const standings = this.#standings(topic, planOf(image, topic)).filter(({ isOurs }) => isOurs)
    const wanted = await this.#wantedInSync(topic, verb)
    const obstacles = new Map(
      standings.flatMap(standing => {
        const obstacle = obstacleOf(standing, wanted)
        return obstacle === undefined ? [] : [[standing.partition, obstacle]]
      }),
    )
    return { obstacles, warnings: missingWarnings(standings) }
  }

  /** Resolves when Java brokers lead all partitions, in new leader epochs; to what an operator should know. */
  async handOver({ topicId, verb, plan: text, endOffsets }: ReleaseRequest): Promise<readonly string[]> {
    const topic = this.#topic(topicId)
    if (!topic) return []
    const plan = parsePlan(text)
    const ours = this.#standings(topic, plan).filter(({ isOurs }) => isOurs)
    const wanted = await this.#wantedInSync(topic, verb)
    await Promise.all(ours.map(({ partition }) => this.#replicated(topic, partition, endOffsets[partition] ?? -1)))
    // Who is in sync now has everything: the high watermark was behind all of it before.
    const standings = this.#standings(topic, plan).filter(({ isOurs }) => isOurs)
    for (const standing of standings) {
      const obstacle = obstacleOf(standing, wanted)
      if (obstacle !== undefined) throw new Error(`partition ${standing.partition}: ${obstacle}`)
    }
    await this.#reassign(standings.map(({ partition, inSync }) => ({ topic: topic.name, partition, replicas: inSync })))
    const pending = this.#standings(this.#topic(topicId) ?? topic, plan).filter(({ isOurs }) => isOurs)
    if (pending.length > 0)
      throw new Error(`${pending.length} of ${topic.partitions.length} partitions wait for their new replicas`)
    return missingWarnings(standings)
  }

  /** One partition, without anything else: it is none of ours any more. Rejects where no Java broker has it. */
  async handBack(topicId: Uuid, partition: number): Promise<void> {
    const topic = this.#topic(topicId)
    if (!topic) return
    const { inSync, isOurs } = standingOf(this.#o.controller.image, { topic, partition, plan: { replicas: [] } })
    if (!isOurs) return
    if (inSync.length === 0) throw new Error(`partition ${partition}: no other broker is in sync`)
    await this.#reassign([{ topic: topic.name, partition, replicas: inSync }])
  }

  /** Asks for the brokers that were not in sync. They may be dead for long: nothing waits for them. */
  async grow({ topicId, plan: text }: ReleaseRequest): Promise<void> {
    const topic = this.#topic(topicId)
    if (!topic) return
    const plan = parsePlan(text)
    const asked = this.#standings(topic, plan)
      .filter(({ isOurs, missing }) => !isOurs && missing.length > 0)
      .flatMap(({ partition }) => {
        const replicas = plan.replicas[partition]?.filter(id => this.#o.controller.image.brokers.has(id)) ?? []
        const present = topic.partitions[partition]?.replicas ?? []
        return replicas.some(id => !present.includes(id)) ? [{ topic: topic.name, partition, replicas }] : []
      })
    try {
      await this.#reassign(asked)
    } catch (error) {
      const reason = messageOf(error)
      this.#o.logger.warn('a topic stays on fewer brokers than it had', { topic: topic.name, reason })
    }
  }

  #topic(topicId: Uuid): TopicImage | undefined {
    return this.#o.controller.image.topics.get(topicId)
  }

  #standings(topic: TopicImage, plan: ReleasePlan): PartitionStanding[] {
    const { image } = this.#o.controller
    return [...topic.partitions.keys()].map(partition => standingOf(image, { topic, partition, plan }))
  }

  /** A promote leaves the topic as safe as its own rules ask for; a failover takes what is there. */
  async #wantedInSync(topic: TopicImage, verb: Verb): Promise<number> {
    if (verb === 'failover') return 1
    const nowMs = this.#o.clock.monotonicMs()
    const known = this.#minInSync.get(topic.id)
    if (known && known.untilMs > nowMs) return known.count
    const [first] = this.#standings(topic, { replicas: [] }).flatMap(({ inSync }) => inSync)
    if (first === undefined) return 1
    const value = await this.#o.questions.topicConfig(first, topic.name, 'min.insync.replicas')
    const count = Math.max(1, Number(value ?? 1))
    this.#minInSync.set(topic.id, { count, untilMs: nowMs + REMEMBERED_MS })
    return count
  }

  /** Waits until every in-sync replica has the log up to `endOffset`. */
  async #replicated(topic: TopicImage, partition: number, endOffset: number): Promise<void> {
    const { clock } = this.#o
    const deadline = clock.monotonicMs() + REPLICATED_MS
    for (;;) {
      const highWatermark = await this.#highWatermark(topic, partition)
      if (highWatermark >= endOffset) return
      if (clock.monotonicMs() >= deadline)
        throw new Error(`partition ${partition}: in-sync replicas have it up to ${highWatermark} of ${endOffset}`)
      await sleep(clock, LOOK_MS)
    }
  }

  async #highWatermark(topic: TopicImage, partition: number): Promise<number> {
    const { brokerId, replicas, questions } = this.#o
    const leader = this.#topic(topic.id)?.partitions[partition]?.leader ?? -1
    if (leader < 0) throw new Error(`partition ${partition} has no leader`)
    if (leader === brokerId) return replicas.lookup(topic.id, partition).highWatermark
    return await questions.highWatermark(leader, topic.name, partition)
  }

  async #reassign(all: readonly Reassignment[]): Promise<void> {
    for (let from = 0; from < all.length; from += BATCH_MAX) {
      const answers = await this.#o.controller.cluster.alterPartitionReassignments(all.slice(from, from + BATCH_MAX))
      const refused = answers.find(({ errorCode }) => errorCode !== ErrorCode.NONE)
      if (refused)
        throw new Error(
          `partition ${refused.partition} could not be reassigned: ${refused.errorMessage ?? errorName(refused.errorCode)}`,
        )
    }
  }
}

function obstacleOf({ leader, inSync }: PartitionStanding, wanted: number): string | undefined {
  if (leader < 0) return 'nobody leads it now'
  if (inSync.length >= wanted) return undefined
  return `${inSync.length} of ${wanted} brokers that have to be in sync are`
}

function missingWarnings(standings: readonly PartitionStanding[]): string[] {
  const missing = new Map<number, number>()
  for (const standing of standings)
    for (const broker of standing.missing) missing.set(broker, (missing.get(broker) ?? 0) + 1)
  return [...missing].map(
    ([broker, count]) =>
      `broker ${broker} is not in sync with ${count} of its partitions and gets them when it is back`,
  )
}
