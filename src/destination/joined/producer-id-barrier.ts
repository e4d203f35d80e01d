/**
 * The producer-id barrier among brokers that each hold blocks of ids: after it no broker hands out an id that a mirrored log has seen.
 * Called when a mirror stops.
 */
import { type Clock, sleep } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import { isActiveBroker, isLockstepNode } from '../../metadata/lockstep-nodes.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { ProducerIds } from '../../replica/producer-ids.ts'
import { type BrokerQuestions, BrokerRefusal } from './broker-questions.ts'

export interface ProducerIdBarrierOptions {
  readonly brokerId: number
  readonly image: () => MetadataImage
  readonly clock: Clock
  readonly producerIds: Pick<ProducerIds, 'raiseAbove'>
  readonly questions: Pick<BrokerQuestions, 'takeProducerId' | 'producersIn' | 'transactionalIds'>
}

/** Ids of a block. */
const BLOCK = 1000n
/** The controller is asked for so many blocks at most: tens of seconds. */
const BLOCKS_MAX = 10_000n
/** A broker holds the block that it hands out from and the next one; more than that are handed out to others meanwhile. */
const TAKEN_MAX = 10_000
const AT_ONCE = 50
/** So long a broker has to get a block from the controller. */
const BLOCK_MS = 10_000
const AGAIN_MS = 50
const LISTED_MAX = 20

export class ProducerIdBarrier {
  readonly #o: ProducerIdBarrierOptions

  constructor(options: ProducerIdBarrierOptions) {
    this.#o = options
  }

  /** Why ids up to `highest` cannot be burned; undefined = they can. */
  distanceProblem(highest: bigint): string | undefined {
    const { nextProducerId } = this.#o.image()
    const blocks = (highest - nextProducerId) / BLOCK
    if (blocks <= BLOCKS_MAX) return undefined
    return (
      `the source's producer ids (up to ${highest}) are too far above those of this cluster (${nextProducerId}) to be passed: ` +
      'a producer of this cluster may get one of them one day, and its first records be taken for repetitions'
    )
  }

  /** Resolves to what is not certain afterwards. `mirrored`: producers that the logs remember. */
  async raiseAbove(highest: bigint, mirrored: ReadonlySet<bigint>): Promise<readonly string[]> {
    const tooFar = this.distanceProblem(highest)
    if (tooFar !== undefined) return [tooFar, ...(await this.#overlaps(mirrored))]
    await this.#o.producerIds.raiseAbove(highest)
    const warnings = await Promise.all(this.#others().map(broker => this.#exhaust(broker, highest)))
    return [...warnings.flat(), ...this.#notAsked(), ...(await this.#overlaps(mirrored))]
  }

  /** Brokers that hand out ids now, Lockstep nodes among them. */
  #others(): number[] {
    const { brokerId, image } = this.#o
    return [...image().brokers.values()]
      .filter(broker => broker.id !== brokerId && isActiveBroker(broker))
      .map(b => b.id)
  }

  async #exhaust(broker: number, highest: bigint): Promise<string[]> {
    try {
      for (let taken = 0; taken < TAKEN_MAX; taken += AT_ONCE) {
        // The first tells whether there is anything to do.
        const count = taken === 0 ? 1 : AT_ONCE
        const ids = await Promise.all(Array.from({ length: count }, () => this.#take(broker)))
        if (ids.some(id => id > highest)) return []
      }
      return [`broker ${broker} still hands out producer ids that the mirrored logs may have seen`]
    } catch (error) {
      return [`broker ${broker} may hand out producer ids that the mirrored logs have seen: ${messageOf(error)}`]
    }
  }

  /** While a broker waits for its next block it asks to be asked again. */
  async #take(broker: number): Promise<bigint> {
    const { questions, clock } = this.#o
    const deadline = clock.monotonicMs() + BLOCK_MS
    for (;;) {
      try {
        return await questions.takeProducerId(broker)
      } catch (error) {
        const waits = error instanceof BrokerRefusal && error.errorCode === ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
        if (!waits || clock.monotonicMs() >= deadline) throw error
        await sleep(clock, AGAIN_MS)
      }
    }
  }

  /** A broker that is cut off keeps its blocks until its process ends. */
  #notAsked(): string[] {
    const fenced = [...this.#o.image().brokers.values()].filter(broker => !isActiveBroker(broker)).map(({ id }) => id)
    if (fenced.length === 0) return []
    return [
      `brokers ${fenced.join(', ')} could not be asked: unless their processes end first, they may hand out producer ids that the mirrored logs have seen`,
    ]
  }

  /** Producers of this cluster that got their ids before, and go on with them. */
  async #overlaps(mirrored: ReadonlySet<bigint>): Promise<string[]> {
    if (mirrored.size === 0) return []
    const found = new Set<string>()
    const unasked: number[] = []
    await Promise.all(
      this.#others().map(async broker => {
        try {
          for (const { topic, producerId } of await this.#o.questions.producersIn(broker, this.#ledBy(broker)))
            if (mirrored.has(producerId)) found.add(`${producerId} (writes topic ${topic})`)
          for (const { transactionalId, producerId } of await this.#o.questions.transactionalIds(broker))
            if (mirrored.has(producerId)) found.add(`${producerId} (transactional id ${transactionalId})`)
        } catch {
          unasked.push(broker)
        }
      }),
    )
    const warnings: string[] = []
    if (found.size > 0)
      warnings.push(
        `producers of this cluster have producer ids of the source's, and must be restarted before they write the topic: ${[...found].slice(0, LISTED_MAX).join(', ')}`,
      )
    if (unasked.length > 0) warnings.push(`brokers ${unasked.join(', ')} did not tell which producer ids are in use`)
    return warnings
  }

  /** Without mirrors, whose producers are the source's. */
  #ledBy(broker: number): { topic: string; partition: number }[] {
    const image = this.#o.image()
    const partitions: { topic: string; partition: number }[] = []
    for (const { name: topic, partitions: placed } of image.topics.values())
      for (const [partition, { leader, replicas }] of placed.entries())
        if (leader === broker && !replicas.some(id => isLockstepNode(image, id))) partitions.push({ topic, partition })
    return partitions
  }
}
