/** One member of a classic group, and the answers that it waits for; ClassicGroup owns it. */
import type { DeadlineTimer } from './deadline-timer.ts'

/** An assignment strategy that the member knows, with what it tells the leader for it. */
export interface MemberProtocol {
  readonly name: string
  readonly metadata: Buffer
}

/** A member as the leader sees it. */
export interface JoinedMember {
  readonly memberId: string
  readonly groupInstanceId: string | null
  readonly metadata: Buffer
}

/** JoinGroup's answer. */
export interface JoinAnswer {
  readonly errorCode: number
  readonly generationId: number
  readonly protocolType: string | null
  readonly protocolName: string | null
  readonly leader: string
  /** The leader has an assignment already and must not make one (KIP-814). */
  readonly skipAssignment: boolean
  readonly memberId: string
  readonly members: readonly JoinedMember[]
}

/** SyncGroup's answer. */
export interface SyncAnswer {
  readonly errorCode: number
  readonly protocolType: string | null
  readonly protocolName: string | null
  readonly assignment: Buffer
}

/** What a member says of itself when it joins. */
export interface MemberDescription {
  readonly groupInstanceId: string | null
  readonly clientId: string
  /** Address as Java writes it: with a slash in front. */
  readonly clientHost: string
  readonly rebalanceTimeoutMs: number
  readonly sessionTimeoutMs: number
  readonly protocolType: string
  /** The most preferred first. */
  readonly protocols: readonly MemberProtocol[]
}

export const NO_ASSIGNMENT = Buffer.alloc(0)

export class GroupMember {
  readonly id: string
  readonly groupInstanceId: string | null
  readonly clientId: string
  readonly clientHost: string
  readonly protocolType: string
  rebalanceTimeoutMs: number
  sessionTimeoutMs: number
  protocols: readonly MemberProtocol[]
  assignment: Buffer = NO_ASSIGNMENT
  /** Has not seen an answer to its first JoinGroup: may be removed although it waits. */
  isNew = false
  answerJoin: ((answer: JoinAnswer) => void) | undefined
  answerSync: ((answer: SyncAnswer) => void) | undefined
  session: DeadlineTimer | undefined

  constructor(id: string, description: MemberDescription) {
    this.id = id
    this.groupInstanceId = description.groupInstanceId
    this.clientId = description.clientId
    this.clientHost = description.clientHost
    this.protocolType = description.protocolType
    this.rebalanceTimeoutMs = description.rebalanceTimeoutMs
    this.sessionTimeoutMs = description.sessionTimeoutMs
    this.protocols = description.protocols
  }

  get isStatic(): boolean {
    return this.groupInstanceId !== null
  }

  /** Who waits for an answer of ours is alive. */
  get hasSatisfiedHeartbeat(): boolean {
    return !this.isNew && (this.answerJoin !== undefined || this.answerSync !== undefined)
  }

  /** Empty if the member does not know the protocol. */
  metadata(protocol: string | undefined): Buffer {
    return this.protocols.find(({ name }) => name === protocol)?.metadata ?? NO_ASSIGNMENT
  }

  /** Same protocols in the same order with the same metadata. */
  knows(protocols: readonly MemberProtocol[]): boolean {
    return (
      protocols.length === this.protocols.length &&
      protocols.every(({ name, metadata }, index) => {
        const own = this.protocols[index]
        return own?.name === name && own.metadata.equals(metadata)
      })
    )
  }
}
