/**
 * DescribeShareGroupOffsets (90), versions 0–1 (KIP-932); the dispatch table calls it.
 *
 * 1: lag (KIP-1226).
 *
 * DESCRIBE on each group and topic; of a group of which all is asked for, topics without it are left out. A group or topic that does
 * not exist is no error: there is no start offset (-1) then. The lag is what a partition holds from the start offset on, without what
 * is done already; -1 where one of these is not known.
 */
import type { DescribedStart } from '../../coordinator/share-groups/share-offsets.ts'
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import {
  DescribeShareGroupOffsetsApi,
  type DescribeShareGroupOffsetsRequest,
  type DescribeShareGroupOffsetsResponseInput,
} from '../../protocol/messages/90-describe-share-group-offsets.ts'
import { findOffset, offsetSpec } from '../../replica/find-offset.ts'
import { errorCodeOf } from '../../replica/log-failure.ts'
import { allowed, allowedNames } from '../authorization.ts'
import { type BrokerContext, handlerOf, type RequestOrigin } from '../handler.ts'

type AskedGroup = DescribeShareGroupOffsetsRequest['groups'][number]
type GroupAnswer = NonNullable<DescribeShareGroupOffsetsResponseInput['groups']>[number]
type TopicAnswer = GroupAnswer['topics'][number]

export const describeShareGroupOffsets = handlerOf(DescribeShareGroupOffsetsApi, {
  versions: { min: 0, max: 1 },
  async handle(broker, { groups }, origin) {
    const answers = await Promise.all(groups.map(group => answerFor(broker, origin, group)))
    return { throttleTimeMs: 0, groups: answers }
  },
  failed: ({ groups }, errorCode) => ({
    throttleTimeMs: 0,
    groups: groups.map(({ groupId }) => groupError(groupId, errorCode, null)),
  }),
})

async function answerFor(
  broker: BrokerContext,
  origin: RequestOrigin,
  { groupId, topics }: AskedGroup,
): Promise<GroupAnswer> {
  if (!broker.groups.shares.isEnabled) return groupError(groupId, ErrorCode.UNSUPPORTED_VERSION, null)
  if (!allowed(broker, origin, { operation: 'DESCRIBE', resource: 'GROUP', name: groupId }))
    return groupError(groupId, ErrorCode.GROUP_AUTHORIZATION_FAILED, null)
  const describable = (names: readonly string[]) =>
    allowedNames(broker, origin, { operation: 'DESCRIBE', resource: 'TOPIC', names })
  const asked = topics && describable(topics.map(({ topicName }) => topicName))
  const seen = topics?.filter(({ topicName }) => asked?.has(topicName)) ?? null
  const found = await broker.groups.shares.describeOffsets(groupId, seen)
  if (found.errorCode !== ErrorCode.NONE) return groupError(groupId, found.errorCode, found.errorMessage)
  const shown = asked ?? describable(found.topics.map(({ topicName }) => topicName))
  const described = found.topics
    .filter(({ topicName }) => shown.has(topicName))
    .map(async ({ topicName, topicId, partitions }): Promise<TopicAnswer> => {
      const starts = await Promise.all(partitions.map(start => startAnswer(broker, topicId, start)))
      return { topicName, topicId, partitions: starts }
    })
  const refused = (topics ?? [])
    .filter(({ topicName }) => !asked?.has(topicName))
    .map(({ topicName, partitions }) => ({
      topicName,
      topicId: ZERO_UUID,
      partitions: partitions.map(index => partitionError(index, ErrorCode.TOPIC_AUTHORIZATION_FAILED)),
    }))
  return { ...groupError(groupId, ErrorCode.NONE, null), topics: [...(await Promise.all(described)), ...refused] }
}

async function startAnswer(
  { replicas }: BrokerContext,
  topicId: Uuid,
  { partitionIndex, startOffset, leaderEpoch, deliveryCompleteCount, errorCode }: DescribedStart,
): Promise<TopicAnswer['partitions'][number]> {
  if (errorCode !== ErrorCode.NONE) return partitionError(partitionIndex, errorCode)
  const start = { ...partitionError(partitionIndex, ErrorCode.NONE), startOffset: BigInt(startOffset), leaderEpoch }
  if (startOffset < 0 || deliveryCompleteCount < 0) return start
  try {
    const question = { timestamp: offsetSpec.latest, visibility: 'read_uncommitted', currentLeaderEpoch: -1 } as const
    const { offset: end } = await findOffset(replicas.lookup(topicId, partitionIndex), question)
    return { ...start, lag: BigInt(end - startOffset - deliveryCompleteCount) }
  } catch (error) {
    return partitionError(partitionIndex, errorCodeOf(error))
  }
}

const partitionError = (partitionIndex: number, errorCode: number): TopicAnswer['partitions'][number] => ({
  partitionIndex,
  startOffset: -1n,
  leaderEpoch: 0,
  lag: -1n,
  errorCode,
  errorMessage: errorCode === ErrorCode.NONE ? null : errorName(errorCode),
})

const groupError = (groupId: string, errorCode: number, errorMessage: string | null): GroupAnswer => ({
  groupId,
  topics: [],
  errorCode,
  errorMessage: errorMessage ?? (errorCode === ErrorCode.NONE ? null : errorName(errorCode)),
})
