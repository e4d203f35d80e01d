/** OffsetCommit, TxnOffsetCommit and OffsetDelete: changes of a group's offsets; the group coordinator calls them. */
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { checkMemberCommit } from '../consumer-groups/member-access.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'
import type { WriteTransaction } from '../runtime/state-partitions.ts'
import type { ClassicGroup } from './classic-group.ts'
import type { CommittedOffset, OffsetPlace } from './group-offsets.ts'
import { offsetRecord, offsetTombstone } from './group-records.ts'
import type { MemberRequest } from './membership.ts'
import type { ServedShard } from './served-shard.ts'

export interface OffsetToCommit {
  readonly topic: string
  readonly topicId: Uuid
  readonly partition: number
  readonly offset: bigint
  /** -1 = not said. */
  readonly leaderEpoch: number
  readonly metadata: string | null
}

/** generation -1, no member id and no instance id: somebody who is no member, as tools and mirrors. */
export interface CommitRequest extends MemberRequest {
  /** Of the commit itself, instead of the server's; -1 = the server's. */
  readonly retentionMs: bigint
  /** What a group that does not exist is called: from version 9 of OffsetCommit on it has a code of its own. */
  readonly unknownGroup: number
  readonly offsets: readonly OffsetToCommit[]
}

/** Codes in the order of the request's offsets, once they are durable. Throws CoordinatorError for all of them. */
export async function commitOffsets(shard: ServedShard, request: CommitRequest): Promise<number[]> {
  const group = committingGroup(shard, request, 'plain')
  if (group?.state === 'Stable' || group?.state === 'PreparingRebalance') {
    const member = group.members.get(request.memberId)
    if (member) shard.rebalancing.restartSession(group, member)
  }
  const { nowMs } = shard.rebalancing
  const expireTimestampMs = request.retentionMs === -1n ? undefined : nowMs + Number(request.retentionMs)
  const accepted = acceptedOffsets(shard, request, { commitTimestampMs: nowMs, expireTimestampMs })
  if (accepted.entries.length === 0) return accepted.codes
  const records = accepted.entries.map(({ place, offset }) => offsetRecord(place, offset))
  const refusal = shard.refusal(records)
  if (refusal) throw refusal
  shard.state.ensureGroup(request.groupId, nowMs)
  for (const { place, offset } of accepted.entries) shard.state.offsets.commit(place, offset)
  const appended = (baseOffset: number) => {
    for (const { offset } of accepted.entries) offset.recordOffset = baseOffset
  }
  await shard.write(records, { appended })
  return accepted.codes
}

/** Like `commitOffsets`; the offsets count once the producer's transaction is committed. */
export async function commitTransactionalOffsets(
  shard: ServedShard,
  request: Omit<CommitRequest, 'retentionMs' | 'unknownGroup'>,
  transaction: WriteTransaction,
): Promise<number[]> {
  committingGroup(shard, { ...request, unknownGroup: ErrorCode.ILLEGAL_GENERATION }, 'transactional')
  const { nowMs } = shard.rebalancing
  const accepted = acceptedOffsets(shard, request, { commitTimestampMs: nowMs, expireTimestampMs: undefined })
  if (accepted.entries.length === 0) return accepted.codes
  const { state } = shard
  const appended = (baseOffset: number) => {
    state.ensureGroup(request.groupId, nowMs)
    for (const { place, offset } of accepted.entries) {
      offset.recordOffset = baseOffset
      state.offsets.addPending(place, offset, transaction.producerId)
    }
  }
  await shard.write(
    accepted.entries.map(({ place, offset }) => offsetRecord(place, offset)),
    { transaction, appended },
  )
  return accepted.codes
}

/** The classic group that takes the commit; undefined: the id is of no group yet, or of one of the newer protocols. Throws CoordinatorError. */
function committingGroup(
  shard: ServedShard,
  request: Omit<CommitRequest, 'retentionMs'>,
  kind: 'plain' | 'transactional',
): ClassicGroup | undefined {
  const { groupId, generationId, memberId, unknownGroup } = request
  const group = shard.state.groups.get(groupId)
  if (group) {
    checkCommit(group, request, kind)
    return group
  }
  const consumers = shard.consumers.get(groupId)
  if (consumers) {
    // Both came with version 9 of OffsetCommit.
    const knowsEpochs = unknownGroup === ErrorCode.GROUP_ID_NOT_FOUND
    checkMemberCommit(consumers, { ...request, kind, knowsEpochs })
    return undefined
  }
  const foreign = shard.foreign(groupId)
  if (shard.shares.get(groupId)) throw new CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND)
  if (foreign && (!foreign.isEmpty || generationId >= 0))
    throw new CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID, `${memberId} is no member of ${groupId}`)
  if (generationId >= 0) throw new CoordinatorError(unknownGroup, `there is no group ${groupId}`)
  return undefined
}

/** Members of the present generation may commit, and strangers while the group is empty. */
function checkCommit(group: ClassicGroup, request: MemberRequest, kind: 'plain' | 'transactional'): void {
  const { memberId, groupInstanceId, generationId } = request
  if (generationId < 0 && group.state === 'Empty') return
  if (generationId >= 0 || memberId !== '' || groupInstanceId !== null) {
    group.checkMember(memberId, groupInstanceId)
    if (generationId !== group.generation) throw new CoordinatorError(ErrorCode.ILLEGAL_GENERATION)
  } else if (kind === 'plain' && group.state !== 'Empty') throw new CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
  // Transactions of producers that do not know the generation are let through.
  if (kind === 'plain' && group.state === 'CompletingRebalance')
    throw new CoordinatorError(ErrorCode.REBALANCE_IN_PROGRESS)
}

interface AcceptedOffsets {
  readonly entries: readonly { readonly place: OffsetPlace; readonly offset: CommittedOffset }[]
  readonly codes: number[]
}

function acceptedOffsets(
  shard: ServedShard,
  { groupId, offsets }: Pick<CommitRequest, 'groupId' | 'offsets'>,
  times: Pick<CommittedOffset, 'commitTimestampMs' | 'expireTimestampMs'>,
): AcceptedOffsets {
  const fits = ({ metadata }: OffsetToCommit) => (metadata?.length ?? 0) <= shard.rebalancing.settings.offsetMetadataMax
  const entries = offsets.filter(fits).map(({ topic, topicId, partition, metadata, ...offset }) => ({
    place: { group: groupId, topic, partition },
    offset: {
      ...offset,
      ...times,
      // The record version that knows a time of expiry knows no topic id.
      topicId: times.expireTimestampMs === undefined ? topicId : ZERO_UUID,
      metadata: metadata ?? '',
      recordOffset: Number.POSITIVE_INFINITY,
    },
  }))
  const codes = offsets.map(offset => (fits(offset) ? ErrorCode.NONE : ErrorCode.OFFSET_METADATA_TOO_LARGE))
  return { entries, codes }
}

/** Codes in the order of `places`, once the offsets are durably gone. Throws CoordinatorError for all of them. */
export async function deleteOffsets(
  shard: ServedShard,
  groupId: string,
  places: readonly { readonly topic: string; readonly partition: number }[],
): Promise<number[]> {
  const { state } = shard
  const group = state.groups.get(groupId)
  const foreign = shard.foreign(groupId)
  const consumers = shard.consumers.get(groupId)
  if (!group && !consumers && !foreign) throw new CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND)
  if (group && group.state !== 'Empty' && !group.isConsumerGroup) throw new CoordinatorError(ErrorCode.NON_EMPTY_GROUP)
  const isSubscribed = (topic: string) => (group ?? consumers)?.isSubscribedTo(topic) ?? foreign?.isEmpty === false
  const deleted = places
    .filter(({ topic }) => !isSubscribed(topic))
    .map(place => ({ ...place, group: groupId }))
    .filter(place => state.offsets.get(place) !== undefined || state.offsets.hasPending(place))
  await removeOffsets(shard, deleted)
  return places.map(({ topic }) => (isSubscribed(topic) ? ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC : ErrorCode.NONE))
}

/** Forgets the offsets; resolves when that is durable. Throws CoordinatorError, with nothing forgotten, if it cannot be written now. */
export function removeOffsets(shard: ServedShard, places: readonly OffsetPlace[]): Promise<void> {
  const written = shard.writeMany(places.map(offsetTombstone))
  for (const place of places) shard.state.offsets.remove(place)
  return written
}
