/**
 * How the groups of one shard go from generation to generation: joining, waiting, electing, handing out assignments, and the
 * timers of all that. The operations on membership (join-group.ts and its neighbours) call it; a shard has one while it is served.
 */
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { CoordinatorError } from '../runtime/coordinator-error.ts'
import type { StateRecord } from '../runtime/state-partitions.ts'
import { type ClassicGroup, joinAnswer } from './classic-group.ts'
import { DeadlineTimer } from './deadline-timer.ts'
import { GroupMember, type JoinAnswer, type MemberDescription, NO_ASSIGNMENT } from './group-member.ts'
import { groupRecord } from './group-records.ts'
import type { GroupSettings } from './group-settings.ts'

export interface RebalancingContext {
  readonly settings: GroupSettings
  readonly clock: Clock
  readonly logger: Logger
  /** Resolves when durable. Rejects after the shard was thrown away, and everybody who waited got an answer. */
  write(records: readonly StateRecord[]): Promise<void>
  /** Why a write would not be taken. */
  refusal(records: readonly StateRecord[]): CoordinatorError | undefined
}

export type AnswerJoin = (answer: JoinAnswer) => void

/** Kafka's constant: how long a new member's first JoinGroup may wait before the member counts as gone. */
const NEW_MEMBER_TIMEOUT_MS = 300_000

export class Rebalancing {
  readonly #context: RebalancingContext

  constructor(context: RebalancingContext) {
    this.#context = context
  }

  get settings(): GroupSettings {
    return this.#context.settings
  }

  get nowMs(): number {
    return this.#context.clock.nowMs()
  }

  /** After loading: members have their session to show up again. */
  resume(group: ClassicGroup): void {
    for (const member of group.members.values()) this.restartSession(group, member)
    if (group.members.size > this.settings.membersMax) this.prepare(group, 'the group is larger than group.max.size')
  }

  /** The member has `timeoutMs` (its session timeout) to be heard of again. */
  restartSession(group: ClassicGroup, member: GroupMember, timeoutMs = member.sessionTimeoutMs): void {
    member.session ??= new DeadlineTimer(this.#context.clock, () => this.#sessionExpired(group, member))
    member.session.restart(timeoutMs)
  }

  /** An id given out: whoever got it has a session timeout to join with it. */
  expect(group: ClassicGroup, memberId: string, sessionTimeoutMs: number): void {
    const timer = new DeadlineTimer(this.#context.clock, () => {
      group.forgetPending(memberId)
      if (group.state === 'PreparingRebalance' && group.allJoined) void this.complete(group)
    })
    group.pendingMembers.set(memberId, timer)
    timer.restart(sessionTimeoutMs)
  }

  add(group: ClassicGroup, member: { id: string; description: MemberDescription }, answer: AnswerJoin): void {
    const added = new GroupMember(member.id, member.description)
    added.isNew = true
    if (group.state === 'PreparingRebalance' && group.previousState === 'Empty') group.newMemberAdded = true
    group.add(added)
    group.waitForJoin(added, answer)
    // It has no session yet, and a client that went away cannot be told from one that waits.
    this.restartSession(group, added, NEW_MEMBER_TIMEOUT_MS)
    this.prepareOrComplete(group, `member ${member.id} joins`)
  }

  /** A member joins again, with what it says of itself now. */
  update(
    group: ClassicGroup,
    change: { member: GroupMember; to: MemberDescription; reason: string | null },
    answer: AnswerJoin,
  ): void {
    this.describe(group, change)
    group.waitForJoin(change.member, answer)
    this.prepareOrComplete(group, `member ${change.member.id} joins again: ${change.reason ?? 'it does not say why'}`)
  }

  describe(group: ClassicGroup, { member, to }: { member: GroupMember; to: MemberDescription }): void {
    group.changeProtocols(member, to.protocols)
    member.rebalanceTimeoutMs = to.rebalanceTimeoutMs
    member.sessionTimeoutMs = to.sessionTimeoutMs
  }

  /** Removes a member that left or is removed; the rebalance is the caller's business. */
  remove(group: ClassicGroup, member: GroupMember): void {
    group.answerJoin(member, joinAnswer(ErrorCode.UNKNOWN_MEMBER_ID, ''))
    const answerSync = member.answerSync
    member.answerSync = undefined
    group.remove(member.id)
    answerSync?.({
      errorCode: ErrorCode.UNKNOWN_MEMBER_ID,
      protocolType: null,
      protocolName: null,
      assignment: NO_ASSIGNMENT,
    })
  }

  prepareOrComplete(group: ClassicGroup, reason: string): Promise<void> {
    if (group.state === 'PreparingRebalance') return this.completeIfAllJoined(group)
    return this.prepare(group, reason)
  }

  /** All members have to join again, or, if the group was empty, others may join for a while. */
  prepare(group: ClassicGroup, reason: string): Promise<void> {
    if (group.state === 'CompletingRebalance') {
      for (const member of group.members.values()) member.assignment = NO_ASSIGNMENT
      this.#propagate(group, ErrorCode.REBALANCE_IN_PROGRESS)
    }
    this.#endSyncs(group)
    const isInitial = group.state === 'Empty'
    group.transition('PreparingRebalance', this.nowMs)
    const { logger, settings } = this.#context
    logger.debug('a group rebalances', { group: group.id, generation: group.generation, reason })
    if (isInitial) {
      const delayMs = settings.initialRebalanceDelayMs
      this.#delayInitial(group, { delayMs, leftMs: Math.max(group.rebalanceTimeoutMs - delayMs, 0) })
      return Promise.resolve()
    }
    if (group.allJoined) return this.complete(group)
    this.#completeAfter(group, group.rebalanceTimeoutMs)
    return Promise.resolve()
  }

  /** Ends the waiting for members once all have joined; the initial delay is waited for in any case. */
  completeIfAllJoined(group: ClassicGroup): Promise<void> {
    const waits = group.state === 'PreparingRebalance' && group.previousState !== 'Empty' && group.allJoined
    return waits ? this.complete(group) : Promise.resolve()
  }

  /** Begins the next generation with those who have joined. Resolves when what had to be written is durable. */
  complete(group: ClassicGroup): Promise<void> {
    group.joinTimer?.cancel()
    for (const member of [...group.members.values()])
      if (!member.answerJoin && !member.isStatic) group.remove(member.id)
    if (group.state === 'Dead') return Promise.resolve()
    if (!group.electJoinedLeader() && group.members.size > 0) {
      // Static members only, and none has come: until their sessions end.
      this.#completeAfter(group, group.rebalanceTimeoutMs)
      return Promise.resolve()
    }
    group.beginGeneration(this.nowMs)
    if (group.state === 'Empty') return this.#writeAlone(groupRecord(group, new Map()))
    const { id, generation, members } = group
    this.#context.logger.debug('a generation of a group begins', { group: id, generation, members: members.size })
    for (const member of members.values()) {
      const answer = group.joined(member)
      this.restartSession(group, member)
      member.isNew = false
      group.pendingSyncs.add(member.id)
      group.answerJoin(member, answer)
    }
    group.syncTimer = this.#context.clock.after(group.rebalanceTimeoutMs, () => this.#syncsExpired(group, generation))
    return Promise.resolve()
  }

  /** The member has asked for its assignment. */
  noteSync(group: ClassicGroup, member: GroupMember): void {
    group.pendingSyncs.delete(member.id)
    if (group.pendingSyncs.size === 0) group.syncTimer?.cancel()
  }

  /** The leader's assignment: every member gets its part once it is durable. A second one for the generation is not taken. */
  store(group: ClassicGroup, given: ReadonlyMap<string, Buffer>): void {
    if (group.storing) return
    const { generation } = group
    const record = groupRecord(group, given)
    const refusal = this.#context.refusal([record])
    if (refusal) return this.#assignmentFailed(group, refusal)
    group.storing = true
    this.#context.write([record]).then(
      () => {
        // Meanwhile members may have come or gone: then those who waited have been told to join again.
        if (group.state !== 'CompletingRebalance' || group.generation !== generation) return
        group.storing = false
        for (const member of group.members.values()) member.assignment = given.get(member.id) ?? NO_ASSIGNMENT
        group.transition('Stable', this.nowMs)
        this.#propagate(group, ErrorCode.NONE)
      },
      error => this.#context.logger.debug('an assignment was not stored', { group: group.id, error: messageOf(error) }),
    )
  }

  /** Writes a record that nobody needs to wait for. */
  #writeAlone(record: StateRecord): Promise<void> {
    const written = this.#context.write([record])
    written.catch(() => {
      // The shard is being loaded again; the group comes out of its log.
    })
    return written
  }

  #assignmentFailed(group: ClassicGroup, refusal: CoordinatorError): void {
    const tooLarge = refusal.errorCode === ErrorCode.RECORD_LIST_TOO_LARGE
    const { logger } = this.#context
    logger.warn('the assignment of a group cannot be stored', { group: group.id, error: refusal.message })
    for (const member of group.members.values()) member.assignment = NO_ASSIGNMENT
    this.#propagate(group, tooLarge ? ErrorCode.UNKNOWN_SERVER_ERROR : refusal.errorCode)
    void this.prepare(group, 'the assignment could not be stored')
  }

  #propagate(group: ClassicGroup, errorCode: number): void {
    const succeeded = errorCode === ErrorCode.NONE
    for (const member of group.members.values()) {
      const send = member.answerSync
      if (!send) continue
      member.answerSync = undefined
      this.restartSession(group, member)
      send({
        errorCode,
        protocolType: succeeded ? (group.protocolType ?? null) : null,
        protocolName: succeeded ? (group.protocolName ?? null) : null,
        assignment: member.assignment,
      })
    }
  }

  #sessionExpired(group: ClassicGroup, member: GroupMember): void {
    if (group.members.get(member.id) !== member || member.hasSatisfiedHeartbeat) return
    const { logger } = this.#context
    logger.info('a member of a group was not heard of in time', { group: group.id, member: member.id })
    this.remove(group, member)
    if (group.state === 'PreparingRebalance') {
      if (group.allJoined) void this.complete(group)
    } else void this.prepare(group, `member ${member.id} is gone`)
  }

  #syncsExpired(group: ClassicGroup, generation: number): void {
    const expects = group.state === 'CompletingRebalance' || group.state === 'Stable'
    if (group.generation !== generation || !expects || group.pendingSyncs.size === 0) return
    for (const memberId of [...group.pendingSyncs]) {
      const member = group.members.get(memberId)
      if (member) this.remove(group, member)
    }
    group.pendingSyncs.clear()
    void this.prepare(group, 'members did not ask for their assignment')
  }

  #endSyncs(group: ClassicGroup): void {
    group.pendingSyncs.clear()
    group.syncTimer?.cancel()
    group.storing = false
  }

  #completeAfter(group: ClassicGroup, delayMs: number): void {
    group.joinTimer?.cancel()
    group.joinTimer = this.#context.clock.after(delayMs, () => void this.complete(group))
  }

  /** Waits on while new members come, as long as the rebalance may take. */
  #delayInitial(group: ClassicGroup, { delayMs, leftMs }: { delayMs: number; leftMs: number }): void {
    group.joinTimer?.cancel()
    group.joinTimer = this.#context.clock.after(delayMs, () => {
      if (!group.newMemberAdded || leftMs === 0) return void this.complete(group)
      group.newMemberAdded = false
      const nextMs = Math.min(this.settings.initialRebalanceDelayMs, leftMs)
      this.#delayInitial(group, { delayMs: nextMs, leftMs: Math.max(leftMs - delayMs, 0) })
    })
  }
}
