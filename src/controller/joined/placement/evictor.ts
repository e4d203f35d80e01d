/** Keeps other people's partitions off this cluster's Lockstep nodes: whatever is placed here and is no mirror is moved away at once. A joined node runs one. */
import type { Clock } from '../../../core/clock.ts'
import { messageOf } from '../../../core/errors.ts'
import type { Logger } from '../../../core/logger.ts'
import type { Random } from '../../../core/random.ts'
import type { Uuid } from '../../../core/uuid.ts'
import type { ClusterCommands, Reassignment } from '../../../metadata/cluster-commands.ts'
import type { Controller, ImageSubscriber } from '../../../metadata/controller-port.ts'
import type { MetadataDelta } from '../../../metadata/metadata-delta.ts'
import type { MetadataImage, PartitionImage, TopicImage } from '../../../metadata/metadata-image.ts'
import { ErrorCode, errorName } from '../../../protocol/errors.ts'
import { evictionPlan, evictorOf, isOnLockstep, needsEviction, reassignmentGoal } from './eviction-plan.ts'
import { LookLoop } from './look-loop.ts'
import type { TopicOwner } from './topic-owner.ts'

export interface EvictorOptions {
  readonly brokerId: number
  readonly controller: Pick<Controller, 'image'> & {
    readonly cluster: Pick<ClusterCommands, 'alterPartitionReassignments'>
  }
  /** From memory. Asked again and again: a mirror becomes foreign when it is promoted. */
  readonly ownerOf: (topic: TopicImage) => TopicOwner
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** A partition of somebody else that is on a Lockstep node. */
export interface ForeignPartition {
  readonly topic: string
  readonly partition: number
  /** Where its replicas are. */
  readonly replicas: readonly number[]
  readonly leader: number
  /** When this node saw it first, ms since 1970. */
  readonly sinceMs: number
  /** `waiting`: it leaves when a replica elsewhere has caught up. `stuck`: no real broker is alive to take it. */
  readonly state: 'leaving' | 'waiting' | 'stuck' | 'other-node'
  readonly attempts: number
  readonly error: string | null
}

/** Between attempts with one partition: doubled each time, up to the bound. */
const RETRY_MS = 500
const RETRY_MS_MAX = 30_000
/** Partitions of one request. */
const BATCH_MAX = 200
/** A replication factor that could not be given back is given up after so many attempts, and told. */
const SETTLE_ATTEMPTS_MAX = 20

interface Eviction {
  readonly sinceMs: number
  attempts: number
  nextMs: number
  error: string | null
}

interface Settling {
  readonly topicId: Uuid
  readonly partition: number
  readonly replicas: readonly number[]
  attempts: number
  nextMs: number
}

/** To be subscribed to the controller. Its commands run beside the publication of images, never in it. */
export class Evictor implements ImageSubscriber {
  readonly name = 'evictor'
  readonly #o: EvictorOptions
  readonly #hosted = new Set<Uuid>()
  readonly #evictions = new Map<string, Eviction>()
  readonly #settling = new Map<string, Settling>()
  readonly #loop: LookLoop
  /** Partitions that left, and attempts that failed, since the start. */
  evictedTotal = 0
  failuresTotal = 0

  constructor(options: EvictorOptions) {
    this.#o = options
    const { clock, logger } = options
    const failed = (error: unknown) => {
      this.failuresTotal++
      logger.warn('foreign partitions could not be moved away', { reason: messageOf(error) })
    }
    this.#loop = new LookLoop({ clock, look: () => this.#round(), failed })
  }

  onImage(image: MetadataImage, delta: MetadataDelta): void {
    for (const id of delta.deletedTopics.keys()) this.#hosted.delete(id)
    for (const [id, { after }] of delta.changedTopics) {
      if (after.partitions.some(partition => isOnLockstep(image, partition))) this.#hosted.add(id)
      else this.#hosted.delete(id)
    }
    // Whoever registers or goes may make a Lockstep node of a broker id.
    if (delta.changedBrokers.size > 0) this.#lookAtAll(image)
    this.#loop.wake()
  }

  /** Begins to act. Idempotent. */
  start(): void {
    this.#loop.start()
  }

  /** What is here and does not belong here, as far as this node can tell. */
  foreignPartitions(): ForeignPartition[] {
    const { image } = this.#o.controller
    return [...this.#foreign(image)].map(({ topic, partition, placed }) => {
      const eviction = this.#evictions.get(keyOf(topic.id, partition))
      return {
        topic: topic.name,
        partition,
        replicas: placed.replicas,
        leader: placed.leader,
        sinceMs: eviction?.sinceMs ?? this.#o.clock.nowMs(),
        state: this.#stateOf(image, placed),
        attempts: eviction?.attempts ?? 0,
        error: eviction?.error ?? null,
      }
    })
  }

  close(): Promise<void> {
    return this.#loop.close()
  }

  #lookAtAll(image: MetadataImage): void {
    this.#hosted.clear()
    for (const topic of image.topics.values())
      if (topic.partitions.some(partition => isOnLockstep(image, partition))) this.#hosted.add(topic.id)
  }

  async #round(): Promise<boolean> {
    const more = await this.#evict()
    await this.#settle()
    return more
  }

  *#foreign(image: MetadataImage) {
    for (const id of this.#hosted) {
      const topic = image.topics.get(id)
      if (!topic || this.#o.ownerOf(topic) !== 'foreign') continue
      for (const [partition, placed] of topic.partitions.entries())
        if (isOnLockstep(image, placed)) yield { topic, partition, placed }
    }
  }

  #stateOf(image: MetadataImage, placed: PartitionImage): ForeignPartition['state'] {
    if (!needsEviction(image, placed)) return 'waiting'
    if (evictionPlan(image, placed, this.#o.random) === undefined) return 'stuck'
    return evictorOf(image, placed) === this.#o.brokerId ? 'leaving' : 'other-node'
  }

  /** Resolves to whether there were more than one request takes. */
  async #evict(): Promise<boolean> {
    const { controller, clock, random, brokerId, logger } = this.#o
    const { image } = controller
    const nowMs = clock.monotonicMs()
    const asked: (Reassignment & { readonly topicId: Uuid; readonly settle: readonly number[] })[] = []
    const seen = new Set<string>()
    for (const { topic, partition, placed } of this.#foreign(image)) {
      const key = keyOf(topic.id, partition)
      seen.add(key)
      const eviction = this.#evictions.get(key) ?? { sinceMs: clock.nowMs(), attempts: 0, nextMs: 0, error: null }
      this.#evictions.set(key, eviction)
      if (asked.length >= BATCH_MAX || eviction.nextMs > nowMs || evictorOf(image, placed) !== brokerId) continue
      const plan = evictionPlan(image, placed, random)
      if (!plan) continue
      if (eviction.attempts === 0)
        logger.info('a foreign partition is moved away', { topic: topic.name, partition, replicas: placed.replicas })
      eviction.attempts++
      eviction.nextMs = nowMs + Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** Math.min(eviction.attempts, 10))
      const { leave, settle } = plan
      asked.push({ topic: topic.name, topicId: topic.id, partition, replicas: leave, settle })
    }
    this.#forget(seen)
    if (asked.length === 0) return false
    const failed = await this.#reassign(asked)
    for (const { topicId, partition, settle, replicas, topic } of asked) {
      const key = keyOf(topicId, partition)
      const error = failed.get(`${topic}-${partition}`)
      const eviction = this.#evictions.get(key)
      if (eviction) eviction.error = error ?? null
      if (error !== undefined || settle.length <= (replicas?.length ?? 0)) continue
      this.#settling.set(key, { topicId, partition, replicas: settle, attempts: 0, nextMs: 0 })
    }
    return asked.length >= BATCH_MAX
  }

  #forget(seen: ReadonlySet<string>): void {
    for (const key of this.#evictions.keys()) {
      if (seen.has(key)) continue
      if ((this.#evictions.get(key)?.attempts ?? 0) > 0) this.evictedTotal++
      this.#evictions.delete(key)
    }
  }

  /** Gives back the replicas that a partition was meant to have, once it has left. */
  async #settle(): Promise<void> {
    const { controller, clock, logger } = this.#o
    const { image } = controller
    const nowMs = clock.monotonicMs()
    const asked: Reassignment[] = []
    for (const [key, settling] of this.#settling) {
      const topic = image.topics.get(settling.topicId)
      const placed = topic?.partitions[settling.partition]
      const goal = placed ? reassignmentGoal(placed) : []
      // Whoever moved it meanwhile, or deleted it, knows better.
      if (!topic || !placed || settling.replicas.every(id => goal.includes(id))) this.#settling.delete(key)
      else if (!isOnLockstep(image, placed) && settling.nextMs <= nowMs && asked.length < BATCH_MAX) {
        settling.attempts++
        settling.nextMs = nowMs + Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** Math.min(settling.attempts, 10))
        asked.push({ topic: topic.name, partition: settling.partition, replicas: settling.replicas })
        if (settling.attempts < SETTLE_ATTEMPTS_MAX) continue
        this.#settling.delete(key)
        const { partition, replicas } = settling
        logger.warn('a partition did not get back its replicas', { topic: topic.name, partition, replicas })
      }
    }
    if (asked.length > 0) await this.#reassign(asked)
  }

  /** Resolves to what was refused. */
  async #reassign(asked: readonly Reassignment[]): Promise<Map<string, string>> {
    const { controller, logger } = this.#o
    const answers = await controller.cluster.alterPartitionReassignments(
      asked.map(({ topic, partition, replicas }) => ({ topic, partition, replicas })),
    )
    const failed = new Map<string, string>()
    for (const { topic, partition, errorCode, errorMessage } of answers) {
      if (errorCode === ErrorCode.NONE) continue
      const error = errorMessage ?? errorName(errorCode)
      failed.set(`${topic}-${partition}`, error)
      this.failuresTotal++
      logger.warn('a partition could not be moved away', { topic, partition, error })
    }
    return failed
  }
}

const keyOf = (topicId: Uuid, partition: number): string => `${topicId}-${partition}`
