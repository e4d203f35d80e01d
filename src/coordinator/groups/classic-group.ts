/** A group of the classic protocol as a state machine over its members; the operations of this folder change it, and nothing else does. */
import assert from 'node:assert/strict'
import type { Timer } from '../../core/clock.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'
import type { DeadlineTimer } from './deadline-timer.ts'
import { GroupMember, type JoinAnswer, type JoinedMember, type MemberProtocol, NO_ASSIGNMENT } from './group-member.ts'
import { type GroupState, mayFollow } from './group-state.ts'
import { CONSUMER_PROTOCOL, subscribedTopics } from './subscribed-topics.ts'

/** Why a join is answered at once. */
export const joinAnswer = (errorCode: number, memberId: string): JoinAnswer => ({
  errorCode,
  memberId,
  generationId: -1,
  protocolType: null,
  protocolName: null,
  leader: '',
  skipAssignment: false,
  members: [],
})

export class ClassicGroup {
  readonly id: string
  generation = 0
  protocolType: string | undefined
  protocolName: string | undefined
  leaderId: string | undefined
  /** Wall-clock time of the last change of state; undefined for a group of an old record that did not say. */
  stateChangedMs: number | undefined
  /** Topics of all members when the generation began; undefined if the group does not say. */
  subscriptions: ReadonlySet<string> | undefined
  readonly members = new Map<string, GroupMember>()
  /** Ids given out to members that have not joined with them yet, and until when that is waited for (KIP-394). */
  readonly pendingMembers = new Map<string, DeadlineTimer>()
  /** Members that have not fetched the assignment of this generation. */
  readonly pendingSyncs = new Set<string>()
  /** Somebody came during the initial delay. */
  newMemberAdded = false
  /** The leader's assignment of this generation is being written. */
  storing = false
  joinTimer: Timer | undefined
  syncTimer: Timer | undefined
  #state: GroupState
  #previousState: GroupState = 'Dead'
  #waitingJoins = 0
  readonly #staticMembers = new Map<string, string>()
  /** Members that know it, by protocol. */
  readonly #protocolVotes = new Map<string, number>()

  constructor(id: string, options: { state?: GroupState; stateChangedMs: number | undefined }) {
    this.id = id
    this.#state = options.state ?? 'Empty'
    this.stateChangedMs = options.stateChangedMs
  }

  get state(): GroupState {
    return this.#state
  }

  get previousState(): GroupState {
    return this.#previousState
  }

  get isConsumerGroup(): boolean {
    return this.protocolType === CONSUMER_PROTOCOL
  }

  /** Members whose JoinGroup waits for an answer. */
  get waitingJoins(): number {
    return this.#waitingJoins
  }

  get allJoined(): boolean {
    return this.#waitingJoins === this.members.size && this.pendingMembers.size === 0
  }

  /** Milliseconds that a rebalance may take: the most that a member asked for. */
  get rebalanceTimeoutMs(): number {
    let most = 0
    for (const { rebalanceTimeoutMs } of this.members.values()) most = Math.max(most, rebalanceTimeoutMs)
    return most
  }

  staticMemberId(groupInstanceId: string): string | undefined {
    return this.#staticMembers.get(groupInstanceId)
  }

  transition(next: GroupState, nowMs: number): void {
    assert(mayFollow(this.#state, next), `group ${this.id} does not go from ${this.#state} to ${next}`)
    this.#previousState = this.#state
    this.#state = next
    this.stateChangedMs = nowMs
  }

  /** Throws CoordinatorError UNKNOWN_MEMBER_ID, or FENCED_INSTANCE_ID where another member took the instance id over. */
  checkMember(memberId: string, groupInstanceId: string | null): GroupMember {
    if (groupInstanceId !== null) {
      const present = this.#staticMembers.get(groupInstanceId)
      if (present === undefined) throw new CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
      if (present !== memberId) throw new CoordinatorError(ErrorCode.FENCED_INSTANCE_ID)
    }
    const member = this.members.get(memberId)
    if (!member) throw new CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)
    return member
  }

  /** May somebody with these protocols be a member? */
  supports(protocolType: string, protocols: readonly MemberProtocol[]): boolean {
    if (this.#state === 'Empty') return protocolType !== '' && protocols.length > 0
    if (this.protocolType !== protocolType) return false
    return protocols.some(({ name }) => this.#protocolVotes.get(name) === this.members.size)
  }

  add(member: GroupMember): void {
    if (member.groupInstanceId !== null) {
      assert(!this.#staticMembers.has(member.groupInstanceId), `${member.groupInstanceId} is in group ${this.id} once`)
      this.#staticMembers.set(member.groupInstanceId, member.id)
    }
    if (this.members.size === 0) this.protocolType = member.protocolType
    this.leaderId ??= member.id
    this.members.set(member.id, member)
    this.#count(member.protocols, 1)
    this.forgetPending(member.id)
  }

  /** Forgets the member, or the id that was given out. Answers that it waits for are the caller's business. */
  remove(memberId: string): void {
    const member = this.members.get(memberId)
    if (member) {
      this.members.delete(memberId)
      this.#count(member.protocols, -1)
      if (member.answerJoin) this.#waitingJoins--
      member.session?.cancel()
      if (member.groupInstanceId !== null) this.#staticMembers.delete(member.groupInstanceId)
    }
    if (this.leaderId === memberId) this.leaderId = this.members.keys().next().value
    this.forgetPending(memberId)
    this.pendingSyncs.delete(memberId)
  }

  forgetPending(memberId: string): void {
    this.pendingMembers.get(memberId)?.cancel()
    this.pendingMembers.delete(memberId)
  }

  /** Gives the place of a static member, with its assignment, to a new member id. */
  replaceStatic(old: GroupMember, newId: string): GroupMember {
    assert(old.groupInstanceId !== null)
    const replacement = new GroupMember(newId, old)
    replacement.assignment = old.assignment
    const wasLeader = this.leaderId === old.id
    this.remove(old.id)
    this.members.set(newId, replacement)
    this.#count(replacement.protocols, 1)
    this.#staticMembers.set(old.groupInstanceId, newId)
    if (wasLeader) this.leaderId = newId
    return replacement
  }

  changeProtocols(member: GroupMember, protocols: readonly MemberProtocol[]): void {
    this.#count(member.protocols, -1)
    member.protocols = protocols
    this.#count(protocols, 1)
  }

  /** The member's JoinGroup waits. One that waited before is answered: the client has sent another. */
  waitForJoin(member: GroupMember, answer: (answer: JoinAnswer) => void): void {
    this.answerJoin(member, joinAnswer(ErrorCode.REBALANCE_IN_PROGRESS, member.id))
    this.#waitingJoins++
    member.answerJoin = answer
  }

  answerJoin(member: GroupMember, answer: JoinAnswer): void {
    if (!member.answerJoin) return
    const send = member.answerJoin
    member.answerJoin = undefined
    this.#waitingJoins--
    send(answer)
  }

  /** If the leader has not joined again somebody else leads; false if nobody has. */
  electJoinedLeader(): boolean {
    const leader = this.leaderId === undefined ? undefined : this.members.get(this.leaderId)
    if (!leader) return false
    if (leader.answerJoin) return true
    for (const member of this.members.values()) {
      if (!member.answerJoin) continue
      this.leaderId = member.id
      return true
    }
    return false
  }

  /** Begins the next generation: CompletingRebalance, or Empty without members. */
  beginGeneration(nowMs: number): void {
    this.generation++
    const hasMembers = this.members.size > 0
    this.protocolName = hasMembers ? this.selectProtocol() : undefined
    this.transition(hasMembers ? 'CompletingRebalance' : 'Empty', nowMs)
    this.noteSubscriptions()
    this.pendingSyncs.clear()
    this.storing = false
  }

  /** The protocol that most members prefer among those that all of them know. */
  selectProtocol(): string {
    const votes = new Map<string, number>()
    for (const { protocols } of this.members.values()) {
      const vote = protocols.find(({ name }) => this.#protocolVotes.get(name) === this.members.size)
      if (vote) votes.set(vote.name, (votes.get(vote.name) ?? 0) + 1)
    }
    let winner: [string, number] | undefined
    for (const entry of votes) if (!winner || entry[1] > winner[1]) winner = entry
    assert(winner, `the members of group ${this.id} have a protocol in common`)
    return winner[0]
  }

  noteSubscriptions(): void {
    this.subscriptions = undefined
    if (!this.isConsumerGroup) return
    const all = new Set<string>()
    for (const member of this.members.values()) {
      const topics = subscribedTopics(member.metadata(this.protocolName))
      if (!topics) return
      for (const topic of topics) all.add(topic)
    }
    this.subscriptions = all
  }

  /** Without knowing better, consumers are taken to be subscribed to everything. */
  isSubscribedTo(topic: string): boolean {
    return this.subscriptions?.has(topic) ?? this.isConsumerGroup
  }

  /** What a member is told of the present generation; the leader is told of all members. */
  joined(member: GroupMember): JoinAnswer {
    return {
      errorCode: ErrorCode.NONE,
      memberId: member.id,
      generationId: this.generation,
      protocolType: this.protocolType ?? null,
      protocolName: this.protocolName ?? null,
      leader: this.leaderId ?? '',
      skipAssignment: false,
      members: this.leaderId === member.id ? this.#joinedMembers() : [],
    }
  }

  #joinedMembers(): JoinedMember[] {
    return [...this.members.values()].map(member => ({
      memberId: member.id,
      groupInstanceId: member.groupInstanceId,
      metadata: member.metadata(this.protocolName),
    }))
  }

  /** Every SyncGroup that waits gets an error, and nobody an assignment. */
  failSyncs(errorCode: number): void {
    for (const member of this.members.values()) {
      const send = member.answerSync
      member.answerSync = undefined
      send?.({ errorCode, protocolType: null, protocolName: null, assignment: NO_ASSIGNMENT })
    }
  }

  /** Ends it: timers stop and everybody who waits gets the error. */
  end(errorCode: number, nowMs: number): void {
    if (this.#state !== 'Dead') this.transition('Dead', nowMs)
    this.joinTimer?.cancel()
    this.syncTimer?.cancel()
    for (const timer of this.pendingMembers.values()) timer.cancel()
    for (const member of this.members.values()) {
      member.session?.cancel()
      this.answerJoin(member, joinAnswer(errorCode, member.id))
    }
    this.failSyncs(errorCode)
  }

  #count(protocols: readonly MemberProtocol[], change: 1 | -1): void {
    for (const name of new Set(protocols.map(protocol => protocol.name)))
      this.#protocolVotes.set(name, (this.#protocolVotes.get(name) ?? 0) + change)
  }
}
