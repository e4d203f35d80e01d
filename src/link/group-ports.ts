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

/** One committed offset of a group. */
export interface GroupOffset {
  readonly topic: string
  readonly partition: number
  readonly offset: number
  readonly metadata: string
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
