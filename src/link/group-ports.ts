/** Groups of the source and of this cluster as the link engine sees them; part of its ports. */
import type { SourceError } from './source-error.ts'

/** A group of the source. */
export interface SourceGroup {
  readonly groupId: string
  /** `consumer` for consumers, empty for groups without members ever; others keep no offsets of topics. */
  readonly protocolType: string
  /** classic, consumer, share or streams, in lower case; classic where the source does not tell. */
  readonly type: string
}

/** Does it keep offsets as a group of consumers does? Streams groups do. */
export const commitsOffsets = ({ type, protocolType }: Pick<SourceGroup, 'type' | 'protocolType'>): boolean =>
  type !== 'share' && (protocolType === 'consumer' || protocolType === '' || type === 'streams')

/** Does it keep start offsets as a share group does (KIP-932)? */
export const isShareGroup = ({ type }: Pick<SourceGroup, 'type'>): boolean => type === 'share'

/** One committed offset of a group. */
export interface GroupOffset {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly metadata: string
  /** Of what a source tells: the epoch that was committed with it; -1 or absent = none, as in whatever a link writes. */
  readonly leaderEpoch?: number
}

/** Every group that was asked about is in one of both. */
export interface SourceGroupOffsets {
  readonly offsets: ReadonlyMap<string, readonly GroupOffset[]>
  readonly failures: ReadonlyMap<string, SourceError>
}

/** Committed offsets of a group here. */
export type DestinationGroup =
  | {
      readonly kind: 'offsets'
      /** None for a group that does not exist. */
      readonly offsets: readonly GroupOffset[]
      readonly hasMembers: boolean
    }
  /** Its coordinator is loading, or cannot be reached. */
  | { readonly kind: 'retriable'; readonly message: string }

export type GroupCommit =
  | { readonly kind: 'committed' }
  | { readonly kind: 'in-use' }
  /** A group of another type has the name. */
  | { readonly kind: 'other-type'; readonly message: string }
  | { readonly kind: 'failed'; readonly message: string }

/** What a source cluster tells of its groups. */
export interface SourceGroups {
  /** All groups of all coordinators. */
  listGroups(signal?: AbortSignal): Promise<SourceGroup[]>
  /** Committed offsets of these groups. */
  groupOffsets(groupIds: readonly string[], signal?: AbortSignal): Promise<SourceGroupOffsets>
  /** Where these share groups start to read (KIP-932); undefined: the source cannot tell (before Kafka 4.1). */
  shareGroupOffsets(groupIds: readonly string[], signal?: AbortSignal): Promise<SourceGroupOffsets | undefined>
}

/** The groups of this cluster. */
export interface DestinationGroups {
  /** Every group of consumers that has committed anything; absent where they cannot be listed. */
  groupIds?(): Promise<readonly string[]>
  /** What a group has committed; `retriable` where its coordinator cannot tell now. */
  groupOffsets(groupId: string): Promise<DestinationGroup>
  /** Commits as nobody's member, which a group that has members refuses: then nothing is written. */
  commitGroupOffsets(groupId: string, offsets: readonly GroupOffset[]): Promise<GroupCommit>
  /** How long this cluster keeps offsets of quiet groups. */
  readonly groupOffsetRetentionMs: number
  /** undefined: this cluster has no share groups, or they cannot be reached. */
  readonly shareGroups: DestinationShareGroups | undefined
}

/** The share groups of this cluster (KIP-932). Metadata of offsets is empty. */
export interface DestinationShareGroups {
  /** Every share group; absent where they cannot be listed. */
  groupIds?(): Promise<readonly string[]>
  /** Where a group starts to read, as far as that is known. */
  offsets(groupId: string): Promise<DestinationGroup>
  /** Sets it, which makes the group if it does not exist and is refused by one that has members. */
  setOffsets(groupId: string, offsets: readonly GroupOffset[]): Promise<GroupCommit>
}
