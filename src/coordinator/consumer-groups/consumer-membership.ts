/** The consumer groups of a shard that is served: their writes, their timers, and how members go; the operations of this folder work through it. */
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import type { ClassicGroup } from '../groups/classic-group.ts'
import type { CoordinatorError } from '../runtime/coordinator-error.ts'
import type { StateRecord } from '../runtime/load-records.ts'
import type { ConsumerGroup } from './consumer-group.ts'
import type { ConsumerGroups } from './consumer-groups.ts'
import type { ConsumerMember } from './consumer-member.ts'
import { type ConsumerGroupSettings, settingsOf } from './consumer-settings.ts'
import { downgraded } from './downgrade.ts'
import { GroupDraft } from './group-draft.ts'
import { type MemberTimer, MemberTimers } from './member-timers.ts'

export interface ConsumerContext {
  readonly groups: ConsumerGroups
  /** The classic groups beside them. */
  readonly classicGroups: Map<string, ClassicGroup>
  readonly settings: { readonly consumer: ConsumerGroupSettings; readonly membersMax: number }
  readonly brokerId: number
  readonly clock: Clock
  readonly logger: Logger
  image(): MetadataImage
  /** Has a group of another type than these two this id? */
  isTaken(groupId: string): boolean
  /** Why a write would not be taken. */
  refusal(records: readonly StateRecord[]): CoordinatorError | undefined
  write(records: readonly StateRecord[]): Promise<void>
  /** Resolves when everything that was written up to now is durable. */
  settled(): Promise<void>
  /** Serves a classic group that a consumer group has become. */
  adopt(group: ClassicGroup, rebalance: boolean): void
}

/** What is written with the changes of a consumer group. */
export interface AlsoWritten {
  readonly before?: readonly StateRecord[]
  readonly after?: readonly StateRecord[]
}

const RETRY_MS = 1000

export class ConsumerMembership {
  readonly context: ConsumerContext
  readonly timers: MemberTimers

  constructor(context: ConsumerContext) {
    this.context = context
    this.timers = new MemberTimers(context.clock, timer => this.#expired(timer))
  }

  get nowMs(): number {
    return this.context.clock.nowMs()
  }

  get(groupId: string): ConsumerGroup | undefined {
    return this.context.groups.get(groupId)
  }

  /** With members of either protocol. */
  hasMembers(groupId: string): boolean {
    return this.get(groupId)?.isEmpty === false
  }

  settingsOf(groupId: string) {
    const { settings, brokerId } = this.context
    return settingsOf(settings.consumer, this.context.image(), { brokerId, groupId })
  }

  /** After loading: everybody has a session to show up again, and as long as before to give up partitions. */
  resume(): void {
    for (const group of this.context.groups.all())
      for (const member of group.members.values()) {
        this.restartSession(group.id, member)
        this.watchRevocation(group.id, member)
      }
  }

  close(): void {
    this.timers.close()
  }

  restartSession(groupId: string, { id: memberId, classic }: ConsumerMember): void {
    const timeoutMs = classic?.sessionTimeoutMs ?? this.settingsOf(groupId).sessionTimeoutMs
    this.timers.start({ kind: 'session', groupId, memberId }, timeoutMs)
  }

  /** Once for each epoch. Members of the classic protocol join again for it, which has a time of its own. */
  watchRevocation(groupId: string, member: ConsumerMember, before?: ConsumerMember): void {
    const timer = { kind: 'revocation', groupId, memberId: member.id } as const
    if (member.state !== 'unrevoked' || member.classic) return this.timers.cancel(timer)
    const isSame = before?.state === 'unrevoked' && before.epoch === member.epoch
    if (!isSame) this.timers.start(timer, Math.max(0, member.rebalanceTimeoutMs))
  }

  /** Takes the draft for the group and queues its write. Throws CoordinatorError, with nothing changed, if it cannot be written. */
  commit(draft: GroupDraft, { before = [], after = [] }: AlsoWritten = {}): void {
    const records = [...before, ...draft.records, ...after]
    if (records.length === 0) return
    const { groups, refusal, write } = this.context
    const refused = refusal(records)
    if (refused) throw refused
    groups.put(draft.group)
    // If it fails the shard is loaded again; who waits for it sees it in `settled`.
    write(records).catch(() => {})
  }

  /** Removes the member. The last one of the consumer protocol leaves a classic group behind. Throws CoordinatorError. */
  fence(group: ConsumerGroup, member: ConsumerMember): void {
    const { context } = this
    const classic = this.#mayDowngrade(group, member)
      ? downgraded(group, { without: member.id, ...this.#now() })
      : undefined
    const draft = new GroupDraft(group)
    if (classic) {
      this.becomeClassic(draft, { classic, rebalance: true })
    } else {
      draft.removeMember(member)
      draft.bumpEpoch(context.image())
      this.commit(draft)
      this.timers.cancelMember(group.id, member.id)
    }
  }

  /** Replaces the group of the draft. Throws CoordinatorError. */
  becomeClassic(
    draft: GroupDraft,
    { classic, rebalance }: { classic: ReturnType<typeof downgraded>; rebalance: boolean },
  ): void {
    const { context, timers } = this
    draft.removeAll()
    this.commit(draft, { after: [classic.record] })
    timers.cancelGroup(draft.group.id)
    context.groups.remove(draft.group.id)
    context.adopt(classic.group, rebalance)
    context.logger.info('a consumer group has become a classic one', { group: draft.group.id })
  }

  /** Would the group without that member be one of the classic protocol only? */
  #mayDowngrade({ members }: ConsumerGroup, { id, classic }: ConsumerMember): boolean {
    const { consumer, membersMax } = this.context.settings
    if (classic || members.size < 2 || !consumer.mayDowngrade || members.size - 1 > membersMax) return false
    return [...members.values()].every(member => member.id === id || member.classic !== null)
  }

  #now() {
    return { image: this.context.image(), nowMs: this.nowMs }
  }

  #expired(timer: MemberTimer): void {
    const { groupId, memberId, kind } = timer
    const group = this.get(groupId)
    const member = group?.members.get(memberId)
    if (!group || !member) return
    const { logger } = this.context
    logger.info('a member of a consumer group is removed', { group: groupId, member: memberId, reason: reasons[kind] })
    try {
      this.fence(group, member)
    } catch (error) {
      logger.warn('a member of a consumer group stays for now', { group: groupId, error: messageOf(error) })
      this.timers.start(timer, RETRY_MS)
    }
  }
}

const reasons: Readonly<Record<MemberTimer['kind'], string>> = {
  session: 'it was not heard of in time',
  revocation: 'it did not give up its partitions in time',
  join: 'it did not join again in time',
  sync: 'it did not ask for its assignment in time',
}
