/** The share sessions of a node (KIP-932): which partitions a member wants, request after request. The handlers of ShareFetch and ShareAcknowledge share one through the broker. */
import { CoordinatorError } from '../../coordinator/runtime/coordinator-error.ts'
import type { SharePartitions } from '../../coordinator/share-partitions/share-partitions.ts'
import type { Uuid } from '../../core/uuid.ts'
import type { ClientContext } from '../../network/request-handler.ts'
import { ErrorCode } from '../../protocol/errors.ts'

export interface SharedPartition {
  readonly topicId: Uuid
  readonly partition: number
}

export interface ShareMember {
  readonly groupId: string
  readonly memberId: string
}

/** A session begins with the first epoch and ends with the last. */
export const FIRST_EPOCH = 0
export const FINAL_EPOCH = -1
const EPOCH_MAX = 2 ** 31 - 1

interface ShareSession extends ShareMember {
  epoch: number
  /** In the order in which they came. */
  readonly partitions: Map<string, SharedPartition>
  /** Ends the watch over the connection. */
  readonly unwatch: () => void
}

export interface SessionChange {
  readonly epoch: number
  readonly wanted: readonly SharedPartition[]
  readonly forgotten: readonly SharedPartition[]
  readonly client: ClientContext
}

export class ShareSessions {
  readonly #partitions: SharePartitions
  readonly #sessions = new Map<string, ShareSession>()

  constructor(partitions: SharePartitions) {
    this.#partitions = partitions
  }

  get size(): number {
    return this.#sessions.size
  }

  /** Begins the session, or changes it; gives what the member wants now. Throws CoordinatorError. */
  fetch(member: ShareMember, change: SessionChange): readonly SharedPartition[] {
    if (change.epoch === FIRST_EPOCH) return this.#begin(member, change)
    const session = this.#at(member, change.epoch)
    for (const partition of change.wanted) session.partitions.set(nameOf(partition), partition)
    for (const partition of change.forgotten) session.partitions.delete(nameOf(partition))
    session.epoch = next(session.epoch)
    return [...session.partitions.values()]
  }

  /** The member acknowledges outside of fetches. Throws CoordinatorError. */
  acknowledge(member: ShareMember, epoch: number): void {
    if (epoch === FIRST_EPOCH)
      throw new CoordinatorError(ErrorCode.INVALID_SHARE_SESSION_EPOCH, 'a session begins with a fetch')
    if (epoch === FINAL_EPOCH) return this.final(member)
    const session = this.#at(member, epoch)
    session.epoch = next(session.epoch)
  }

  /** Is there a session to end? Throws CoordinatorError SHARE_SESSION_NOT_FOUND if not. */
  final(member: ShareMember): void {
    if (!this.#sessions.has(keyOf(member)))
      throw new CoordinatorError(ErrorCode.SHARE_SESSION_NOT_FOUND, 'there is no such session')
  }

  /** Ends the session: what the member holds is free again. */
  end(member: ShareMember): void {
    const session = this.#sessions.get(keyOf(member))
    if (session) this.#end(session)
  }

  #begin(member: ShareMember, { wanted, client }: SessionChange): readonly SharedPartition[] {
    const key = keyOf(member)
    // What the member holds stays with it: it may be about to acknowledge.
    this.#sessions.get(key)?.unwatch()
    this.#sessions.delete(key)
    if (this.#sessions.size >= this.#partitions.settings.sessionsMax)
      throw new CoordinatorError(ErrorCode.SHARE_SESSION_LIMIT_REACHED, 'too many share sessions')
    const closed = () => {
      if (this.#sessions.get(key) === session) this.#end(session)
    }
    client.signal.addEventListener('abort', closed, { once: true })
    const session: ShareSession = {
      ...member,
      epoch: next(FIRST_EPOCH),
      partitions: new Map(wanted.map(partition => [nameOf(partition), partition])),
      unwatch: () => client.signal.removeEventListener('abort', closed),
    }
    this.#sessions.set(key, session)
    if (client.signal.aborted) closed()
    return [...session.partitions.values()]
  }

  #at(member: ShareMember, epoch: number): ShareSession {
    const session = this.#sessions.get(keyOf(member))
    if (!session) throw new CoordinatorError(ErrorCode.SHARE_SESSION_NOT_FOUND, 'there is no such session')
    if (session.epoch !== epoch)
      throw new CoordinatorError(ErrorCode.INVALID_SHARE_SESSION_EPOCH, `the session is at epoch ${session.epoch}`)
    return session
  }

  #end(session: ShareSession): void {
    session.unwatch()
    this.#sessions.delete(keyOf(session))
    this.#partitions.releaseMember(session.groupId, session.memberId)
    const { groupId } = session
    for (const other of this.#sessions.values()) if (other.groupId === groupId) return
    this.#partitions.closeGroup(groupId)
  }
}

const keyOf = ({ groupId, memberId }: ShareMember): string => JSON.stringify([groupId, memberId])

const nameOf = ({ topicId, partition }: SharedPartition): string => `${topicId}:${partition}`

const next = (epoch: number): number => (epoch >= EPOCH_MAX ? 1 : epoch + 1)
