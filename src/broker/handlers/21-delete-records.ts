/**
 * DeleteRecords (21), versions 0–2; the dispatch table calls it.
 *
 * 0, 1: the same. 2: flexible.
 *
 * Raises the log start; offset -1 means the high watermark. Refused: internal topics (INVALID_TOPIC_EXCEPTION), topics whose
 * cleanup policy does not delete (POLICY_VIOLATION), offsets below 0 or above the high watermark (OFFSET_OUT_OF_RANGE), and
 * whatever the write gate refuses: a mirror's log start follows its source. Needs DELETE on the topic.
 */
import { isInternalTopic } from '../../metadata/topic-names.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { DeleteRecordsApi, type DeleteRecordsRequest } from '../../protocol/messages/21-delete-records.ts'
import { deleteRecordsBefore } from '../../replica/delete-records.ts'
import { errorCodeOf } from '../../replica/log-failure.ts'
import { PartitionUnavailable } from '../../replica/partition-unavailable.ts'
import { allowedNames } from '../authorization.ts'
import { type BrokerContext, handlerOf } from '../handler.ts'

type AskedPartition = DeleteRecordsRequest['topics'][number]['partitions'][number]

const UNKNOWN_LOW_WATERMARK = -1n

export const deleteRecords = handlerOf(DeleteRecordsApi, {
  versions: { min: 0, max: 2 },
  async handle(broker, request, origin) {
    const names = request.topics.map(({ name }) => name)
    const deletable = allowedNames(broker, origin, { operation: 'DELETE', resource: 'TOPIC', names })
    const topics = await Promise.all(
      request.topics.map(async ({ name, partitions }) => ({
        name,
        partitions: await Promise.all(
          partitions.map(partition =>
            deletable.has(name)
              ? deleteIn(broker, name, partition)
              : refused(partition.partitionIndex, ErrorCode.TOPIC_AUTHORIZATION_FAILED),
          ),
        ),
      })),
    )
    return { throttleTimeMs: 0, topics }
  },
  failed: (request, errorCode) => ({
    throttleTimeMs: 0,
    topics: request.topics.map(({ name, partitions }) => ({
      name,
      partitions: partitions.map(({ partitionIndex }) => refused(partitionIndex, errorCode)),
    })),
  }),
})

const refused = (partitionIndex: number, errorCode: number) => ({
  partitionIndex,
  lowWatermark: UNKNOWN_LOW_WATERMARK,
  errorCode,
})

async function deleteIn(broker: BrokerContext, topic: string, { partitionIndex, offset }: AskedPartition) {
  try {
    const partition = broker.replicas.lookupByName(topic, partitionIndex)
    if (isInternalTopic(topic)) return refused(partitionIndex, ErrorCode.INVALID_TOPIC_EXCEPTION)
    const refusal = () => broker.writeGate.refusal(partition.topicId, topic, 'delete-records')
    const lowWatermark = await deleteRecordsBefore(partition, Number(offset), refusal)
    return { partitionIndex, lowWatermark: BigInt(lowWatermark), errorCode: ErrorCode.NONE }
  } catch (error) {
    if (error instanceof PartitionUnavailable) return refused(partitionIndex, error.errorCode)
    broker.logger.error('records could not be deleted', { topic, partition: partitionIndex, error })
    return refused(partitionIndex, errorCodeOf(error))
  }
}
