/** One step of a member towards its target: what it must give up, what it may have; heartbeats and joins of consumer groups take it. */
import type { Uuid } from '../../core/uuid.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'
import type { ConsumerMember, MemberProgress } from './consumer-member.ts'
import {
  addEpoched,
  contains,
  eachPartition,
  NO_PARTITIONS,
  type Partitions,
  samePartitions,
} from './partition-sets.ts'

export interface Reconciliation {
  readonly targetEpoch: number
  readonly target: Partitions
  /** What the member says it has; undefined = it does not say. */
  readonly owned: Partitions | undefined
  /** Does it subscribe to the topic? What it does not want any more is not given to it, whatever the target says. */
  subscribes(topicId: Uuid): boolean
  /** Has anybody the partition, or not said yet that it gave it up? */
  isHeld(topicId: Uuid, partition: number): boolean
}

/** The member as it is after the step; the same object if there is none. Throws CoordinatorError FENCED_MEMBER_EPOCH. */
export function reconcileMember(member: ConsumerMember, step: Reconciliation): ConsumerMember {
  switch (member.state) {
    case 'stable':
      if (member.epoch !== step.targetEpoch) return next(member, step, member.epoch)
      return hasUnsubscribed(member, step) ? next(member, step, member.epoch) : member
    case 'unrevoked':
      // It has to say that it gave them up; then it is one epoch further and goes towards the newest target.
      return ownsAny(step.owned, member.revoking)
        ? member
        : next(member, step, Math.min(member.epoch + 1, step.targetEpoch))
    case 'unreleased':
      return next(member, step, member.epoch)
    case 'unknown':
      if (!step.owned || step.owned.size > 0)
        throw new CoordinatorError(ErrorCode.FENCED_MEMBER_EPOCH, 'the member is in a state of a later version')
      return next(member, step, step.targetEpoch)
  }
}

function hasUnsubscribed({ assigned }: ConsumerMember, { subscribes }: Reconciliation): boolean {
  for (const topicId of assigned.keys()) if (!subscribes(topicId)) return true
  return false
}

function ownsAny(owned: Partitions | undefined, revoking: Partitions): boolean {
  if (!owned) return true
  for (const [topicId, partition] of eachPartition(revoking)) if (contains(owned, topicId, partition)) return true
  return false
}

function next(member: ConsumerMember, step: Reconciliation, epoch: number): ConsumerMember {
  const { targetEpoch } = step
  const kept = new Map<Uuid, Map<number, number>>()
  const revoking = new Map<Uuid, Map<number, number>>()
  const wanted = (topicId: Uuid, partition: number) =>
    step.subscribes(topicId) && contains(step.target, topicId, partition)
  for (const [topicId, epochs] of member.assigned)
    for (const [partition, since] of epochs)
      addEpoched(wanted(topicId, partition) ? kept : revoking, topicId, { partition, epoch: since })
  if (revoking.size > 0 && ownsAny(step.owned, revoking))
    return moved(member, { epoch, state: 'unrevoked', assigned: kept, revoking })
  let waits = false
  for (const [topicId, partition] of eachPartition(step.target)) {
    if (!step.subscribes(topicId) || contains(kept, topicId, partition)) continue
    if (isHeldByOther(member, step, { topicId, partition })) waits = true
    else addEpoched(kept, topicId, { partition, epoch: targetEpoch })
  }
  const state = waits ? 'unreleased' : 'stable'
  return moved(member, { epoch: targetEpoch, state, assigned: kept, revoking: NO_PARTITIONS })
}

/** What the member itself gives up in this step, and gets again, is nobody else's. */
function isHeldByOther(
  member: ConsumerMember,
  step: Reconciliation,
  { topicId, partition }: { topicId: Uuid; partition: number },
): boolean {
  if (contains(member.revoking, topicId, partition)) return false
  return step.isHeld(topicId, partition)
}

/** The epoch before is kept: the answer with the new one may be lost. The same object if nothing changes. */
function moved(member: ConsumerMember, to: Omit<MemberProgress, 'previousEpoch'>): ConsumerMember {
  const changed = { ...member, ...to, previousEpoch: member.epoch }
  return sameProgress(member, changed) ? member : changed
}

const sameProgress = (a: MemberProgress, b: MemberProgress): boolean =>
  a.epoch === b.epoch &&
  a.previousEpoch === b.previousEpoch &&
  a.state === b.state &&
  samePartitions(a.assigned, b.assigned) &&
  samePartitions(a.revoking, b.revoking)
