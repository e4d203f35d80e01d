/** One member of a consumer group (KIP-848), whichever protocol it speaks: an immutable value; ConsumerGroup holds the present one. */
import type { MemberProtocol } from '../groups/group-member.ts'
import { type EpochedPartitions, NO_PARTITIONS } from './partition-sets.ts'

/**
 * stable: has what the target of its epoch gives it. unrevoked: must give up partitions before it goes on. unreleased: waits for
 * partitions that others have not given up yet. unknown: a state of a later version; the member has to begin anew.
 */
export type MemberState = 'stable' | 'unrevoked' | 'unreleased' | 'unknown'

/** What a member of the classic protocol says of itself, in a consumer group that is being migrated. */
export interface ClassicSide {
  readonly sessionTimeoutMs: number
  /** The most preferred first. */
  readonly protocols: readonly MemberProtocol[]
}

/** What a member says of itself. */
export interface MemberDescription {
  readonly instanceId: string | null
  readonly rackId: string | null
  readonly clientId: string
  readonly clientHost: string
  /** -1 = not said. */
  readonly rebalanceTimeoutMs: number
  /** Sorted, each once. */
  readonly topics: readonly string[]
  /** Empty: none. */
  readonly regex: string
  readonly assignor: string | null
  readonly classic: ClassicSide | null
}

/** How far a member has come. */
export interface MemberProgress {
  /** 0 = has just joined; -2 = a static member that will come back. */
  readonly epoch: number
  readonly previousEpoch: number
  readonly state: MemberState
  readonly assigned: EpochedPartitions
  /** To be given up. */
  readonly revoking: EpochedPartitions
}

export interface ConsumerMember extends MemberDescription, MemberProgress {
  readonly id: string
}

/** Epoch of a static member that left for a while. */
export const RELEASED_EPOCH = -2

export const NEW_PROGRESS: MemberProgress = {
  epoch: 0,
  previousEpoch: 0,
  state: 'stable',
  assigned: NO_PARTITIONS,
  revoking: NO_PARTITIONS,
}

export const newMember = (id: string): ConsumerMember => ({
  id,
  instanceId: null,
  rackId: null,
  clientId: '',
  clientHost: '',
  rebalanceTimeoutMs: -1,
  topics: [],
  regex: '',
  assignor: null,
  classic: null,
  ...NEW_PROGRESS,
})

export const sortedNames = (names: readonly string[]): string[] => [...new Set(names)].sort()

const sameNames = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((name, index) => name === b[index])

/** Do both subscribe to the same? */
export const sameSubscription = (a: MemberDescription, b: MemberDescription): boolean =>
  a.regex === b.regex && sameNames(a.topics, b.topics)

/** Would both have the same record? */
export const sameDescription = (a: MemberDescription, b: MemberDescription): boolean =>
  sameSubscription(a, b) &&
  a.instanceId === b.instanceId &&
  a.rackId === b.rackId &&
  a.clientId === b.clientId &&
  a.clientHost === b.clientHost &&
  a.rebalanceTimeoutMs === b.rebalanceTimeoutMs &&
  a.assignor === b.assignor &&
  sameClassic(a.classic, b.classic)

function sameClassic(a: ClassicSide | null, b: ClassicSide | null): boolean {
  if (a === null || b === null) return a === b
  return (
    a.sessionTimeoutMs === b.sessionTimeoutMs &&
    a.protocols.length === b.protocols.length &&
    a.protocols.every(({ name, metadata }, index) => {
      const other = b.protocols[index]
      return other?.name === name && other.metadata.equals(metadata)
    })
  )
}

/** Does the member need nothing more to be where the group's target is? */
export const isReconciledTo = ({ state, epoch }: ConsumerMember, targetEpoch: number): boolean =>
  state === 'stable' && epoch === targetEpoch
