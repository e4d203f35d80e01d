/** May a member of a consumer group commit, or ask for, these offsets? OffsetCommit, TxnOffsetCommit and OffsetFetch ask. */
import type { Uuid } from '../../core/uuid.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'
import type { ConsumerGroup } from './consumer-group.ts'
import type { ConsumerMember } from './consumer-member.ts'

export interface MemberCommit {
  readonly memberId: string
  readonly groupInstanceId: string | null
  /** Member epoch, or generation of a classic member; -1 = no member. */
  readonly generationId: number
  readonly kind: 'plain' | 'transactional'
  /** The request can tell STALE_MEMBER_EPOCH (OffsetCommit 9). */
  readonly knowsEpochs: boolean
  readonly offsets: readonly { readonly topicId: Uuid; readonly partition: number }[]
}

/** Throws CoordinatorError. */
export function checkMemberCommit(group: ConsumerGroup, commit: MemberCommit): void {
  const { memberId, groupInstanceId, generationId, kind } = commit
  if (generationId < 0 && group.isEmpty) return
  // Transactions of producers that do not say for whom are let through.
  if (kind === 'transactional' && generationId === -1 && memberId === '' && groupInstanceId === null) return
  const member = group.members.get(memberId)
  if (!member)
    throw new CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID, `Member ${memberId} is not a member of group ${group.id}.`)
  if (kind === 'plain' && !member.classic && !commit.knowsEpochs)
    throw new CoordinatorError(ErrorCode.UNSUPPORTED_VERSION)
  if (generationId === member.epoch) return
  // Somebody who is behind may still commit what it has had since that epoch or before (KIP-1251).
  const has = ({ topicId, partition }: MemberCommit['offsets'][number]) => {
    const since = member.assigned.get(topicId)?.get(partition) ?? member.revoking.get(topicId)?.get(partition)
    return since !== undefined && generationId >= since
  }
  if (generationId <= member.epoch && commit.offsets.every(has)) return
  // Transactional producers know no member epochs.
  throw kind === 'transactional' ? new CoordinatorError(ErrorCode.ILLEGAL_GENERATION) : staleEpoch(member)
}

/** Clients that do not say who they are may ask. Throws CoordinatorError. */
export function checkMemberFetch(
  group: ConsumerGroup,
  { memberId, memberEpoch }: { memberId: string | null; memberEpoch: number },
): void {
  if (memberId === null && memberEpoch < 0) return
  const member = group.members.get(memberId ?? '')
  if (!member)
    throw new CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID, `Member ${memberId} is not a member of group ${group.id}.`)
  if (memberEpoch !== member.epoch) throw staleEpoch(member)
}

const staleEpoch = ({ classic }: ConsumerMember): CoordinatorError =>
  new CoordinatorError(classic ? ErrorCode.ILLEGAL_GENERATION : ErrorCode.STALE_MEMBER_EPOCH)
