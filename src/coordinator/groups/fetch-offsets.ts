/** OffsetFetch: what a group has committed; the group coordinator calls it. */
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { checkMemberFetch } from '../consumer-groups/member-access.ts'
import { type CommittedOffset, isOfOtherTopic } from './group-offsets.ts'
import type { ServedShard } from './served-shard.ts'

export interface FetchedOffset {
  readonly partitionIndex: number
  /** -1 = none. */
  readonly committedOffset: bigint
  readonly committedLeaderEpoch: number
  readonly metadata: string
  readonly errorCode: number
}

export interface FetchedTopic {
  readonly name: string
  readonly topicId: Uuid
  readonly partitions: readonly FetchedOffset[]
}

export interface FetchOffsetsRequest {
  readonly groupId: string
  /** Who asks, as members of consumer groups say it (version 9); null and -1: it is not said. */
  readonly memberId?: string | null
  readonly memberEpoch?: number
  /** Offsets that open transactions are about to change are UNSTABLE_OFFSET_COMMIT. */
  readonly requireStable: boolean
  /** null = everything that is committed. */
  readonly topics:
    | readonly { readonly name: string; readonly topicId: Uuid; readonly partitions: readonly number[] }[]
    | null
  /** Id of the topic that has this name now. */
  topicIdOf(name: string): Uuid | undefined
}

/** The answer without an offset. */
export const noOffset = (partitionIndex: number, errorCode: number = ErrorCode.NONE): FetchedOffset => ({
  partitionIndex,
  committedOffset: -1n,
  committedLeaderEpoch: -1,
  metadata: '',
  errorCode,
})

/** Resolves once what it tells is durable. Throws CoordinatorError. */
export async function fetchOffsets(shard: ServedShard, request: FetchOffsetsRequest): Promise<FetchedTopic[]> {
  const { groupId, topics } = request
  const consumers = shard.consumers.get(groupId)
  if (consumers)
    checkMemberFetch(consumers, { memberId: request.memberId ?? null, memberEpoch: request.memberEpoch ?? -1 })
  const isForeign = shard.foreign(groupId) !== undefined
  const isKnown = shard.state.groups.has(groupId) || consumers !== undefined || isForeign
  const fetched =
    topics === null ? everything(shard, request, isKnown) : topics.map(topic => oneTopic(shard, request, topic))
  await shard.settled()
  return fetched
}

function oneTopic(
  shard: ServedShard,
  { groupId, requireStable }: FetchOffsetsRequest,
  { name, topicId, partitions }: { name: string; topicId: Uuid; partitions: readonly number[] },
): FetchedTopic {
  const { offsets } = shard.state
  const present = topicId === ZERO_UUID ? undefined : topicId
  return {
    name,
    topicId,
    partitions: partitions.map(partition => {
      const place = { group: groupId, topic: name, partition }
      if (requireStable && offsets.hasPending(place)) return noOffset(partition, ErrorCode.UNSTABLE_OFFSET_COMMIT)
      const committed = offsets.get(place)
      return committed && !isOfOtherTopic(committed, present) ? answerOf(partition, committed) : noOffset(partition)
    }),
  }
}

function everything(shard: ServedShard, request: FetchOffsetsRequest, isKnown: boolean): FetchedTopic[] {
  if (!isKnown) return []
  return [...shard.state.offsets.ofGroup(request.groupId)].map(([name, committed]) => {
    const topicId = request.topicIdOf(name) ?? ZERO_UUID
    return oneTopic(shard, request, { name, topicId, partitions: [...committed.keys()] })
  })
}

const answerOf = (partitionIndex: number, committed: CommittedOffset): FetchedOffset => ({
  partitionIndex,
  committedOffset: committed.offset,
  committedLeaderEpoch: committed.leaderEpoch,
  metadata: committed.metadata,
  errorCode: ErrorCode.NONE,
})
