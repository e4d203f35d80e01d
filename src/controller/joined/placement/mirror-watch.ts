/** Watches who leads the mirrors: tells when a Java broker does, and brings the leadership back to the Lockstep node that is in sync. A joined node runs one. */
import type { Clock } from '../../../core/clock.ts'
import { messageOf } from '../../../core/errors.ts'
import type { Logger } from '../../../core/logger.ts'
import type { Uuid } from '../../../core/uuid.ts'
import type { ClusterCommands, NamedPartition } from '../../../metadata/cluster-commands.ts'
import type { Controller, ImageSubscriber } from '../../../metadata/controller-port.ts'
import type { MetadataDelta } from '../../../metadata/metadata-delta.ts'
import type { MetadataImage, PartitionImage, TopicImage } from '../../../metadata/metadata-image.ts'
import { ErrorCode, errorName } from '../../../protocol/errors.ts'
import { LookLoop } from './look-loop.ts'
import { conditionOf, type MirrorCondition, type MirrorConditionName, withFirst } from './mirror-conditions.ts'
import type { TopicOwner } from './topic-owner.ts'

export interface MirrorWatchOptions {
  readonly brokerId: number
  readonly controller: Pick<Controller, 'image'> & {
    readonly cluster: Pick<ClusterCommands, 'alterPartitionReassignments' | 'electLeaders'>
  }
  readonly ownerOf: (topic: TopicImage) => TopicOwner
  /** May this node lead the partition again, after others led it? Why not, else undefined. */
  readonly leadingProblem: (topicId: Uuid, partition: number) => string | undefined
  readonly clock: Clock
  readonly logger: Logger
}

/** A partition of a mirror, or of Lockstep's own topics, that is not led as it should be. */
export interface MisplacedPartition {
  readonly topic: string
  readonly partition: number
  readonly condition: MirrorConditionName
  readonly replicas: readonly number[]
  readonly leader: number
  /** When this node saw it first, ms since 1970. */
  readonly sinceMs: number
  /** Why it is not brought back now; null where nothing is in the way, or it is the operator's decision. */
  readonly reason: string | null
}

/** How long a leadership is left where it is before it is brought back: a restart is over by then, and elections do not chase each other. */
const PATIENCE_MS: Readonly<Record<MirrorConditionName, number>> = {
  LED_BY_KAFKA: 500,
  LED_BY_STAND_IN: 3000,
  WITHOUT_LEADER: 0,
  OFF_LOCKSTEP: 0,
  NOT_PREFERRED: 0,
}
const RETRY_MS = 2000
/** What lasts so long is logged: restarts and promotes are over sooner. */
const ALARM_MS = 5000
const BATCH_MAX = 200
/** Partitions named in the log at a time. */
const ALARMS_MAX = 10

interface Watched {
  readonly condition: MirrorConditionName
  readonly sinceMs: number
  /** Of the monotonic clock. */
  readonly fromMs: number
  /** Nothing is done before, of the same clock. */
  nextMs: number
  alarmed: boolean
  reason: string | null
}

interface Finding {
  readonly key: string
  readonly topic: TopicImage
  readonly partition: number
  readonly placed: PartitionImage
  readonly condition: MirrorCondition
}

/** To be subscribed to the controller. */
export class MirrorWatch implements ImageSubscriber {
  readonly name = 'mirror watch'
  readonly #o: MirrorWatchOptions
  readonly #loop: LookLoop
  /** Topics that are mirrors, ours, or not known to be neither. */
  readonly #topics = new Set<Uuid>()
  readonly #watched = new Map<string, Watched>()
  /** Leaderships brought back, and conditions of each kind that began, since the start. */
  returnedTotal = 0
  readonly begunTotal = new Map<MirrorConditionName, number>()

  constructor(options: MirrorWatchOptions) {
    this.#o = options
    const { clock, logger } = options
    const failed = (error: unknown) =>
      logger.warn('leaderships of mirrors could not be brought back', { reason: messageOf(error) })
    this.#loop = new LookLoop({ clock, look: () => this.#look(), failed })
  }

  onImage(_image: MetadataImage, delta: MetadataDelta): void {
    for (const id of delta.deletedTopics.keys()) this.#topics.delete(id)
    for (const id of delta.changedTopics.keys()) this.#topics.add(id)
    this.#loop.wake()
  }

  /** Begins to act. Idempotent. */
  start(): void {
    this.#loop.start()
  }

  misplacedPartitions(): MisplacedPartition[] {
    const { controller, clock } = this.#o
    return [...this.#findings(controller.image)].map(({ key, topic, partition, placed, condition }) => {
      const watched = this.#watched.get(key)
      return {
        topic: topic.name,
        partition,
        condition: condition.name,
        replicas: placed.replicas,
        leader: placed.leader,
        sinceMs: watched?.sinceMs ?? clock.nowMs(),
        reason: watched?.reason ?? null,
      }
    })
  }

  close(): Promise<void> {
    return this.#loop.close()
  }

  *#findings(image: MetadataImage): Generator<Finding> {
    for (const id of this.#topics) {
      const topic = image.topics.get(id)
      const owner = topic && this.#o.ownerOf(topic)
      if (owner === 'foreign') this.#topics.delete(id)
      if (!topic || (owner !== 'mirror' && owner !== 'own')) continue
      for (const [partition, placed] of topic.partitions.entries()) {
        const condition = conditionOf(image, placed)
        if (condition) yield { key: `${id}-${partition}`, topic, partition, placed, condition }
      }
    }
  }

  async #look(): Promise<boolean> {
    const { controller, clock, brokerId } = this.#o
    const findings = [...this.#findings(controller.image)]
    this.#remember(findings)
    const nowMs = clock.monotonicMs()
    const due = findings.filter(({ key, topic, partition, placed, condition }) => {
      const watched = this.#watched.get(key)
      if (!watched || condition.returnsTo !== brokerId || watched.nextMs > nowMs || isMoving(placed)) return false
      watched.reason = this.#o.leadingProblem(topic.id, partition) ?? null
      return watched.reason === null
    })
    if (due.length > 0) await this.#bringBack(due.slice(0, BATCH_MAX))
    return due.length > BATCH_MAX
  }

  #remember(findings: readonly Finding[]): void {
    const { clock } = this.#o
    const nowMs = clock.monotonicMs()
    const seen = new Set<string>()
    const alarming: Finding[] = []
    for (const finding of findings) {
      const { key, condition } = finding
      seen.add(key)
      const known = this.#watched.get(key)
      if (known?.condition !== condition.name) {
        const sinceMs = clock.nowMs()
        const nextMs = nowMs + PATIENCE_MS[condition.name]
        const begun = { condition: condition.name, sinceMs, fromMs: nowMs, nextMs, alarmed: false, reason: null }
        this.#watched.set(key, begun)
        this.begunTotal.set(condition.name, (this.begunTotal.get(condition.name) ?? 0) + 1)
      } else if (!known.alarmed && nowMs - known.fromMs >= ALARM_MS && condition.name !== 'LED_BY_STAND_IN') {
        known.alarmed = true
        alarming.push(finding)
      }
    }
    for (const key of this.#watched.keys()) if (!seen.has(key)) this.#watched.delete(key)
    this.#alarm(alarming)
  }

  /** `lockstep node placement` lists them all; a node with thousands of partitions that comes back late must not fill its log. */
  #alarm(findings: readonly Finding[]): void {
    const { logger } = this.#o
    for (const { key, topic, partition, placed, condition } of findings.slice(0, ALARMS_MAX)) {
      const { leader, replicas } = placed
      const why = this.#watched.get(key)?.reason ?? null
      const about = { topic: topic.name, partition, condition: condition.name, leader, replicas, why }
      logger.warn('a mirror partition is not led by a Lockstep node', about)
    }
    const more = findings.length - ALARMS_MAX
    if (more > 0) logger.warn('more mirror partitions are not led by a Lockstep node', { more })
  }

  /** The partitions are those that this node can lead. */
  async #bringBack(due: readonly Finding[]): Promise<void> {
    const { controller, brokerId, clock, logger } = this.#o
    for (const { key } of due) {
      const watched = this.#watched.get(key)
      if (watched) watched.nextMs = clock.monotonicMs() + RETRY_MS
    }
    // Only who is first can be elected.
    const behind = due.filter(({ placed }) => placed.replicas[0] !== brokerId)
    if (behind.length > 0)
      this.#tell(
        await controller.cluster.alterPartitionReassignments(
          behind.map(({ topic, partition, placed }) => ({
            topic: topic.name,
            partition,
            replicas: withFirst(placed.replicas, brokerId),
          })),
        ),
        due,
      )
    const partitions = due.map(({ topic, partition }) => ({ topic: topic.name, partition }))
    const answers = await controller.cluster.electLeaders('preferred', partitions)
    this.#tell(answers, due)
    const returned = answers.filter(({ errorCode }) => errorCode === ErrorCode.NONE)
    this.returnedTotal += returned.length
    for (const { topic, partition } of returned.slice(0, ALARMS_MAX))
      logger.info('this node leads a mirror again', { topic, partition })
    const more = returned.length - ALARMS_MAX
    if (more > 0) logger.info('this node leads more mirrors again', { more })
  }

  #tell(
    answers: readonly (NamedPartition & { readonly errorCode: number; readonly errorMessage: string | null })[],
    due: readonly Finding[],
  ): void {
    for (const { topic, partition, errorCode, errorMessage } of answers) {
      if (errorCode === ErrorCode.NONE || errorCode === ErrorCode.ELECTION_NOT_NEEDED) continue
      const finding = due.find(one => one.topic.name === topic && one.partition === partition)
      const watched = finding && this.#watched.get(finding.key)
      if (watched) watched.reason = errorMessage ?? errorName(errorCode)
    }
  }
}

/** A reassignment is under way: another one would take its place. */
const isMoving = ({ addingReplicas, removingReplicas }: PartitionImage): boolean =>
  addingReplicas.length > 0 || removingReplicas.length > 0
