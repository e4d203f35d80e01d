/**
 * Begins a new leader epoch of a partition that this node leads, and goes on leading: what is cut then, followers cut too. Kafka
 * has no request for it, so an in-sync Kafka broker leads for a moment, behind the write fence. The joined destination's mirror
 * logs call it before they cut what followers may have.
 */
import type { Logger } from '../../core/logger.ts'
import type { Uuid } from '../../core/uuid.ts'
import type { ApiError } from '../../metadata/api-error.ts'
import type { ClusterCommands, NamedPartition } from '../../metadata/cluster-commands.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import { isActiveBroker, isLockstepNode } from '../../metadata/lockstep-nodes.ts'
import type { PartitionImage } from '../../metadata/metadata-image.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'

export interface EpochForkOptions {
  readonly brokerId: number
  readonly controller: Pick<Controller, 'image'> & {
    readonly cluster: Pick<ClusterCommands, 'alterPartitionReassignments' | 'electLeaders'>
  }
  readonly logger: Logger
}

export class EpochFork {
  readonly #o: EpochForkOptions

  constructor(options: EpochForkOptions) {
    this.#o = options
  }

  /** Resolves when this node leads in a later epoch. Rejects when it does not: whoever leads then begins an epoch of its own. */
  async begin(topicId: Uuid, partition: number): Promise<void> {
    const { brokerId, logger } = this.#o
    const before = this.#placed(topicId, partition)
    if (before.leader !== brokerId) throw new Error(`partition ${partition} is led by ${before.leader} now`)
    if (before.addingReplicas.length > 0 || before.removingReplicas.length > 0)
      throw new Error(`replicas of partition ${partition} are being moved: nothing is cut meanwhile`)
    const topic = this.#nameOf(topicId)
    const standIn = this.#standIn(before)
    const about = { topic, partition }
    if (standIn === undefined) await this.#withoutLaggard(about, before)
    else await this.#ledBy(standIn, about, before)
    const { leader, leaderEpoch } = this.#placed(topicId, partition)
    if (leader !== brokerId || leaderEpoch <= before.leaderEpoch)
      throw new Error(`partition ${partition} is led by ${leader} in epoch ${leaderEpoch} now`)
    logger.info('a new leader epoch was begun, so that followers notice a cut', { topic, partition, leaderEpoch })
  }

  /** It has everything, and mirrors nothing while it leads. */
  #standIn({ isr }: PartitionImage): number | undefined {
    const { image } = this.#o.controller
    return isr.find(id => {
      const broker = image.brokers.get(id)
      return broker !== undefined && isActiveBroker(broker) && !isLockstepNode(image, id)
    })
  }

  /** Only who is first can be elected. The order is what it was in the end, or the partition would not come back by itself. */
  async #ledBy(standIn: number, about: NamedPartition, { replicas }: PartitionImage): Promise<void> {
    const { brokerId } = this.#o
    const others = (first: number) => replicas.filter(id => id !== first)
    try {
      await this.#reassign(about, [standIn, ...others(standIn)])
      await this.#elect(about)
    } finally {
      await this.#reassign(about, [brokerId, ...others(brokerId)])
    }
    await this.#elect(about)
    if (replicas[0] !== brokerId) await this.#reassign(about, replicas)
  }

  /** No other broker is in sync. The controller begins an epoch too where a replica is taken away, which will copy everything anew. */
  async #withoutLaggard(about: NamedPartition, { replicas, isr }: PartitionImage): Promise<void> {
    const laggard = replicas.findLast(id => !isr.includes(id))
    if (laggard === undefined) throw new Error(`partition ${about.partition}: no Kafka broker can lead it for a moment`)
    const kept = replicas.filter(id => id !== laggard)
    try {
      await this.#reassign(about, kept)
    } finally {
      await this.#reassign(about, replicas)
    }
  }

  async #reassign(about: NamedPartition, replicas: readonly number[]): Promise<void> {
    assertDone(await this.#o.controller.cluster.alterPartitionReassignments([{ ...about, replicas }]), about)
  }

  async #elect(about: NamedPartition): Promise<void> {
    assertDone(await this.#o.controller.cluster.electLeaders('preferred', [about]), about)
  }

  #placed(topicId: Uuid, partition: number): PartitionImage {
    const placed = this.#o.controller.image.topics.get(topicId)?.partitions[partition]
    if (!placed) throw new Error(`partition ${partition} of topic ${topicId} does not exist here`)
    return placed
  }

  #nameOf(topicId: Uuid): string {
    return this.#o.controller.image.topics.get(topicId)?.name ?? topicId
  }
}

function assertDone(answers: readonly ApiError[], { topic, partition }: NamedPartition): void {
  const [answer = { errorCode: ErrorCode.UNKNOWN_SERVER_ERROR, errorMessage: null }] = answers
  const { errorCode, errorMessage } = answer
  if (errorCode === ErrorCode.NONE || errorCode === ErrorCode.ELECTION_NOT_NEEDED) return
  throw new Error(`no new leader epoch for ${topic}-${partition}: ${errorMessage ?? errorName(errorCode)}`)
}
