/** Carries out moves of mirror partitions between Lockstep nodes, and empties nodes; REST asks it. */
import type { Uuid } from '../../../core/uuid.ts'
import type { ApiError } from '../../../metadata/api-error.ts'
import type { ClusterCommands } from '../../../metadata/cluster-commands.ts'
import type { ConfigOperation, Controller } from '../../../metadata/controller-port.ts'
import { ConfigResourceType, type MetadataImage, type TopicImage } from '../../../metadata/metadata-image.ts'
import { DRAINING_CONFIG, isDraining } from '../../../metadata/placement/usable-brokers.ts'
import { ErrorCode, errorName } from '../../../protocol/errors.ts'
import { joinedError } from '../joined-errors.ts'
import { type MovePlan, type PlannedMove, planDrain, planMove } from './move-plan.ts'
import type { TopicOwner } from './topic-owner.ts'

export interface MirrorMoverOptions {
  readonly controller: Pick<Controller, 'image' | 'incrementalAlterConfigs'> & {
    readonly cluster: Pick<ClusterCommands, 'alterPartitionReassignments' | 'electLeaders'>
  }
  readonly ownerOf: (topic: TopicImage) => TopicOwner
}

/** A move and what became of it: asked for, and done as soon as whoever is to lead is in sync. */
export interface MoveOutcome extends PlannedMove {
  /** Null = accepted, or only planned. */
  readonly error: string | null
}

export interface MoveOptions {
  /** Tells the plan, changes nothing. */
  readonly dryRun: boolean
}

const BATCH_MAX = 200

export class MirrorMover {
  readonly #o: MirrorMoverOptions

  constructor(options: MirrorMoverOptions) {
    this.#o = options
  }

  /** `node` leads the partitions of these mirrors from now on. Rejects with MOVE_REFUSED. */
  async move(
    request: { readonly node: number; readonly topicIds: readonly Uuid[]; readonly partition?: number | undefined },
    { dryRun }: MoveOptions,
  ): Promise<MoveOutcome[]> {
    const { image } = this.#o.controller
    const topics = request.topicIds.flatMap(id => image.topics.get(id) ?? [])
    const { node, partition } = request
    return await this.#carryOut(planMove(image, { node, topics, partition }), dryRun)
  }

  /**
   * Moves everything of ours away from `node`, which gets no new mirrors until `resume`. The node need not be alive. Rejects with
   * MOVE_REFUSED, having changed nothing, where no other node could take over.
   */
  async drain(node: number, { dryRun }: MoveOptions): Promise<MoveOutcome[]> {
    const { image } = this.#o.controller
    const topics = [...image.topics.values()].filter(topic => ['mirror', 'own'].includes(this.#o.ownerOf(topic)))
    const plan = planDrain(image, { node, topics })
    if (plan.problem === undefined && !dryRun) await this.#setDraining(node, true)
    return await this.#carryOut(plan, dryRun)
  }

  /** The node may get new mirrors again. */
  async resume(node: number): Promise<void> {
    if (isDraining(this.#o.controller.image, node)) await this.#setDraining(node, false)
  }

  async #setDraining(node: number, draining: boolean): Promise<void> {
    const operation: ConfigOperation = draining ? 'set' : 'delete'
    const change = { key: DRAINING_CONFIG, operation, value: draining ? 'true' : null }
    const resource = { type: ConfigResourceType.BROKER, name: String(node) }
    const [answer] = await this.#o.controller.incrementalAlterConfigs([{ resource, changes: [change] }], {
      validateOnly: false,
    })
    const refused = answer && refusal(answer)
    if (refused) throw joinedError('MOVE_REFUSED', { why: `${DRAINING_CONFIG} could not be changed: ${refused}` })
  }

  async #carryOut({ moves, problem }: MovePlan, dryRun: boolean): Promise<MoveOutcome[]> {
    if (problem !== undefined) throw joinedError('MOVE_REFUSED', { why: problem })
    if (dryRun) return moves.map(move => ({ ...move, error: null }))
    const outcomes: MoveOutcome[] = []
    for (let index = 0; index < moves.length; index += BATCH_MAX)
      outcomes.push(...(await this.#ask(moves.slice(index, index + BATCH_MAX))))
    return outcomes
  }

  async #ask(moves: readonly PlannedMove[]): Promise<MoveOutcome[]> {
    const { cluster } = this.#o.controller
    const answers = await cluster.alterPartitionReassignments(
      moves.map(({ topic, partition, to }) => ({ topic, partition, replicas: to })),
    )
    const errors = new Map(answers.map(answer => [`${answer.topic}-${answer.partition}`, refusal(answer)]))
    const outcomes = moves.map(move => ({ ...move, error: errors.get(`${move.topic}-${move.partition}`) ?? null }))
    // Who is in sync leads at once; the others are elected by themselves when they have caught up.
    const ready = outcomes.filter(({ error, copies, topic, partition, to }) => {
      const placed = partitionNamed(this.#o.controller.image, topic, partition)
      return error === null && !copies && placed?.leader !== to[0]
    })
    if (ready.length > 0)
      await cluster.electLeaders(
        'preferred',
        ready.map(({ topic, partition }) => ({ topic, partition })),
      )
    return outcomes
  }
}

const refusal = ({ errorCode, errorMessage }: ApiError): string | null =>
  errorCode === ErrorCode.NONE ? null : (errorMessage ?? errorName(errorCode))

function partitionNamed(image: MetadataImage, topic: string, partition: number) {
  const id = image.topicIds.get(topic)
  return id === undefined ? undefined : image.topics.get(id)?.partitions[partition]
}
