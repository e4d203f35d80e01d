/** ISR changes as AlterPartition (key 56, KIP-497) and back; the joined Controller sends them. */
import type { ApiError, IsrChange } from '../../metadata/controller-port.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { AlterPartitionRequestInput, AlterPartitionResponse } from '../../protocol/messages/56-alter-partition.ts'

/** From this version on members are named with their broker epochs (KIP-903). */
const MEMBER_EPOCHS_VERSION = 3

export function alterPartitionRequest(
  changes: readonly IsrChange[],
  by: {
    readonly broker: { readonly id: number; readonly epoch: number }
    readonly version: number
  },
): AlterPartitionRequestInput {
  const { broker, version } = by
  // As in Kafka: who has not fetched in this leader epoch is not checked, since a broker that dies is removed by the controller.
  const member = (brokerId: number, { memberEpochs }: IsrChange) => ({
    brokerId,
    brokerEpoch: BigInt(brokerId === broker.id ? broker.epoch : (memberEpochs?.get(brokerId) ?? -1)),
  })
  return {
    brokerId: broker.id,
    brokerEpoch: BigInt(broker.epoch),
    topics: [...Map.groupBy(changes, ({ topicId }) => topicId)].map(([topicId, ofTopic]) => ({
      topicId,
      partitions: ofTopic.map(change => ({
        partitionIndex: change.partition,
        leaderEpoch: change.leaderEpoch,
        partitionEpoch: change.partitionEpoch,
        // RECOVERED, the default: a leader after an unclean election has nothing to recover.
        ...(version < MEMBER_EPOCHS_VERSION
          ? { newIsr: [...change.isr] }
          : { newIsrWithEpochs: change.isr.map(id => member(id, change)) }),
      })),
    })),
  }
}

/** NOT_CONTROLLER about one partition is no sign of an inactive controller: it means that our partition epoch is above the controller's. */
export const codesOfAlterPartition = ({ errorCode }: AlterPartitionResponse): number[] => [errorCode]

/** The state after the change; a refused one echoes what was asked. */
export function alteredPartitions(
  changes: readonly IsrChange[],
  answer: AlterPartitionResponse,
): (ApiError & IsrChange)[] {
  const told = new Map(
    answer.topics.flatMap(({ topicId, partitions }) =>
      partitions.map(partition => [`${topicId}-${partition.partitionIndex}`, partition]),
    ),
  )
  return changes.map(change => {
    const partition = told.get(`${change.topicId}-${change.partition}`)
    const errorCode = answer.errorCode || (partition?.errorCode ?? ErrorCode.UNKNOWN_SERVER_ERROR)
    if (partition === undefined || errorCode !== ErrorCode.NONE) return { ...change, errorCode, errorMessage: null }
    const { leaderEpoch, partitionEpoch, isr } = partition
    return { ...change, leaderEpoch, partitionEpoch, isr, errorCode, errorMessage: null }
  })
}
