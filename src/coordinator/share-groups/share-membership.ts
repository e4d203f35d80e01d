/** The share groups of a shard that is served: their writes, their timers, and how members go; the operations of this folder work through it. */
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { type MemberTimer, MemberTimers } from '../consumer-groups/member-timers.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'
import type { StateRecord } from '../runtime/load-records.ts'
import type { SharePersister } from '../share-state/share-persister.ts'
import { ShareDraft } from './share-draft.ts'
import { ShareGroup } from './share-group.ts'
import type { ShareGroups } from './share-groups.ts'
import { type ShareGroupSettings, shareSettingsOf } from './share-settings.ts'

export interface ShareContext {
  readonly groups: ShareGroups
  readonly settings: { readonly share: ShareGroupSettings }
  readonly persister: SharePersister
  readonly brokerId: number
  readonly clock: Clock
  readonly logger: Logger
  image(): MetadataImage
  /** Has a group of another type this id? */
  isTaken(groupId: string): boolean
  /** Why a write would not be taken. */
  refusal(records: readonly StateRecord[]): CoordinatorError | undefined
  write(records: readonly StateRecord[]): Promise<void>
  /** Resolves when everything that was written up to now is durable. */
  settled(): Promise<void>
}

const RETRY_MS = 1000

export class ShareMembership {
  readonly context: ShareContext
  readonly #timers: MemberTimers

  constructor(context: ShareContext) {
    this.context = context
    this.#timers = new MemberTimers(context.clock, timer => this.#expired(timer))
  }

  get nowMs(): number {
    return this.context.clock.nowMs()
  }

  get(groupId: string): ShareGroup | undefined {
    return this.context.groups.get(groupId)
  }

  /** Throws CoordinatorError GROUP_ID_NOT_FOUND. */
  present(groupId: string): ShareGroup {
    const group = this.get(groupId)
    if (group) return group
    const { isTaken } = this.context
    throw new CoordinatorError(
      ErrorCode.GROUP_ID_NOT_FOUND,
      isTaken(groupId) ? `${groupId} is no share group` : `there is no group ${groupId}`,
    )
  }

  /** The group, or a new one, which exists when its first change is committed. Throws CoordinatorError GROUP_ID_NOT_FOUND. */
  presentOrNew(groupId: string): ShareGroup {
    if (!this.get(groupId) && !this.context.isTaken(groupId)) return new ShareGroup(groupId)
    return this.present(groupId)
  }

  settingsOf(groupId: string) {
    const { settings, brokerId } = this.context
    return shareSettingsOf(settings.share, this.context.image(), { brokerId, groupId })
  }

  /** After loading: everybody has a session to show up again. */
  resume(): void {
    for (const group of this.context.groups.all())
      for (const memberId of group.members.keys()) this.restartSession(group.id, memberId)
  }

  close(): void {
    this.#timers.close()
  }

  restartSession(groupId: string, memberId: string): void {
    this.#timers.start({ kind: 'session', groupId, memberId }, this.settingsOf(groupId).sessionTimeoutMs)
  }

  /** Takes the draft for the group and queues its write. Throws CoordinatorError, with nothing changed, if it cannot be written. */
  commit(draft: ShareDraft): void {
    const { records } = draft
    if (records.length === 0) return
    const { groups, refusal, write } = this.context
    const refused = refusal(records)
    if (refused) throw refused
    groups.put(draft.group)
    // If it fails the shard is loaded again; who waits for it sees it in `settled`.
    write(records).catch(() => {})
  }

  /** Removes the member. Throws CoordinatorError. */
  fence(group: ShareGroup, memberId: string): void {
    const draft = new ShareDraft(group)
    draft.removeMember(memberId)
    draft.bumpEpoch(this.context.image())
    this.commit(draft)
    this.#timers.cancelMember(group.id, memberId)
  }

  /** Forgets a group without members. Throws CoordinatorError. */
  remove(group: ShareGroup): void {
    const draft = new ShareDraft(group)
    draft.removeAll()
    this.commit(draft)
    this.context.groups.remove(group.id)
  }

  #expired(timer: MemberTimer): void {
    const { groupId, memberId } = timer
    const group = this.get(groupId)
    if (!group?.members.has(memberId)) return
    const { logger } = this.context
    logger.info('a member of a share group is removed: it was not heard of in time', {
      group: groupId,
      member: memberId,
    })
    try {
      this.fence(group, memberId)
    } catch (error) {
      logger.warn('a member of a share group stays for now', { group: groupId, error: messageOf(error) })
      this.#timers.start(timer, RETRY_MS)
    }
  }
}
