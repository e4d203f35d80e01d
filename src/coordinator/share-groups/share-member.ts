/** One member of a share group (KIP-932): an immutable value; ShareGroup holds the present one. */
import { NO_PARTITIONS, type Partitions } from '../consumer-groups/partition-sets.ts'

/** What a member says of itself. */
export interface ShareMemberDescription {
  readonly rackId: string | null
  readonly clientId: string
  readonly clientHost: string
  /** Sorted, each once. */
  readonly topics: readonly string[]
}

/** How far a member has come. Others may have the same partitions: nothing is ever waited for. */
export interface ShareMemberProgress {
  /** 0 = has just joined. */
  readonly epoch: number
  readonly previousEpoch: number
  readonly assigned: Partitions
}

export interface ShareMember extends ShareMemberDescription, ShareMemberProgress {
  readonly id: string
}

const NEW_PROGRESS: ShareMemberProgress = { epoch: 0, previousEpoch: 0, assigned: NO_PARTITIONS }

export const newShareMember = (id: string): ShareMember => ({
  id,
  rackId: null,
  clientId: '',
  clientHost: '',
  topics: [],
  ...NEW_PROGRESS,
})

/** The member without what it has got. */
export const withoutProgress = (member: ShareMember): ShareMember => ({ ...member, ...NEW_PROGRESS })

export const sameTopics = (a: ShareMemberDescription, b: ShareMemberDescription): boolean =>
  a.topics.length === b.topics.length && a.topics.every((topic, index) => topic === b.topics[index])

/** Would both have the same record? */
export const sameShareDescription = (a: ShareMemberDescription, b: ShareMemberDescription): boolean =>
  sameTopics(a, b) && a.rackId === b.rackId && a.clientId === b.clientId && a.clientHost === b.clientHost
