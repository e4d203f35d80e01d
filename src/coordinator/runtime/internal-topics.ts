/** The topics that coordinators keep their state in: how they are created; StatePartitions creates its own when it is first needed. */
import type { Controller } from '../../metadata/controller-port.ts'
import { isLockstepNode } from '../../metadata/lockstep-nodes.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { CoordinatorError } from './coordinator-error.ts'

export interface InternalTopic {
  readonly name: string
  readonly partitions: number
  /** As many replicas as there are brokers to hold them, if they are fewer; nodes that joined a Kafka cluster do not count. */
  readonly replicationFactor: number
  readonly configs: ReadonlyMap<string, string>
}

/** A server property of Kafka as text: the file's value or the default. */
export type PropertyText = (name: string) => string

/** `__consumer_offsets`, from the `offsets.topic.*` properties. */
export const groupsTopic = (property: PropertyText): InternalTopic => ({
  name: '__consumer_offsets',
  partitions: Number(property('offsets.topic.num.partitions')),
  replicationFactor: Number(property('offsets.topic.replication.factor')),
  configs: new Map([
    ['cleanup.policy', 'compact'],
    ['compression.type', 'producer'],
    ['segment.bytes', property('offsets.topic.segment.bytes')],
  ]),
})

/** `__transaction_state`, from the `transaction.state.log.*` properties. */
export const transactionsTopic = (property: PropertyText): InternalTopic => ({
  name: '__transaction_state',
  partitions: Number(property('transaction.state.log.num.partitions')),
  replicationFactor: Number(property('transaction.state.log.replication.factor')),
  configs: new Map([
    ['cleanup.policy', 'compact'],
    ['compression.type', 'uncompressed'],
    ['min.insync.replicas', property('transaction.state.log.min.isr')],
    ['segment.bytes', property('transaction.state.log.segment.bytes')],
    ['unclean.leader.election.enable', 'false'],
  ]),
})

/** Resolves when the topic exists. Throws CoordinatorError COORDINATOR_NOT_AVAILABLE if it cannot be created now. */
export async function ensureInternalTopic(
  controller: Pick<Controller, 'image' | 'createTopics'>,
  definition: InternalTopic,
): Promise<void> {
  const { name, partitions, configs } = definition
  // Other Lockstep nodes hold replicas of mirrors only.
  const { image } = controller
  const available = [...image.brokers.values()].filter(({ id, fenced }) => !fenced && !isLockstepNode(image, id)).length
  const replicationFactor = Math.max(1, Math.min(definition.replicationFactor, available))
  const topic = { name, partitions, replicationFactor, assignments: new Map<number, number[]>(), configs }
  const [created] = await controller.createTopics([topic], { validateOnly: false })
  const { errorCode, errorMessage } = created ?? { errorCode: -1, errorMessage: 'no answer' }
  if (errorCode === ErrorCode.NONE || errorCode === ErrorCode.TOPIC_ALREADY_EXISTS) return
  throw new CoordinatorError(
    ErrorCode.COORDINATOR_NOT_AVAILABLE,
    `${name} could not be created: ${errorMessage ?? errorCode}`,
  )
}
