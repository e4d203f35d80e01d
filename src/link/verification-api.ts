/** Comparisons of mirrors with their sources as REST sees them; part of the engine's API. */
import type { MirrorSelection } from './engine-words.ts'

export interface VerifyRequest {
  readonly selection: MirrorSelection
  /** Of every topic; undefined = all. */
  readonly partitions: readonly number[] | undefined
  /** undefined = the first offset that both ends have. */
  readonly fromOffset: number | undefined
  /** Exclusive; undefined = the end that both have when it begins, or where the mirror stopped. */
  readonly toOffset: number | undefined
  readonly maxBytesPerSecond: number | undefined
}

/** A comparison of mirrors with their sources (semantics §10), running or ended. */
export interface VerificationView {
  readonly id: string
  readonly linkName: string
  readonly state: 'RUNNING' | 'COMPLETED' | 'CANCELLED'
  /** null while it runs. */
  readonly outcome: 'EQUAL' | 'DIFFERENT' | 'INCOMPLETE' | null
  readonly startTimeMs: number
  readonly endTimeMs: number | null
  readonly topics: readonly {
    readonly mirrorTopicName: string
    readonly sourceTopicName: string | null
    /** Set = the topic could not be verified at all. */
    readonly errorCode: number | null
    readonly errorMessage: string | null
    readonly partitions: readonly VerifiedPartitionView[]
  }[]
}

export interface VerifiedPartitionView {
  readonly partition: number
  /** INCOMPLETE: no difference, but parts could not be compared. */
  readonly state: 'WAITING' | 'RUNNING' | 'EQUAL' | 'DIFFERENT' | 'INCOMPLETE' | 'CANCELLED'
  /** RECORDS: somewhere records had to be looked at, since cleaning runs. null = not begun. */
  readonly method: 'BATCHES' | 'RECORDS' | null
  readonly fromOffset: number | null
  /** Exclusive. */
  readonly toOffset: number | null
  /** Everything below it has been looked at. */
  readonly nextOffset: number | null
  readonly comparedBytes: number
  readonly comparedBatches: number
  /** Records that were looked at one by one. */
  readonly comparedRecords: number
  /** Only one end still has them, since the other was cleaned there. */
  readonly recordsOnlyAtSource: number
  readonly recordsOnlyAtMirror: number
  /** The first one; nothing behind it was compared. */
  readonly difference: { readonly offset: number; readonly message: string } | null
  /** `to` is exclusive. */
  readonly notCompared: readonly { readonly from: number; readonly to: number; readonly reason: string }[]
  readonly message: string | null
}

/** Those of this node. Every method throws, or rejects with, OperationalError. */
export interface VerificationsApi {
  /** Returns at once. */
  begin(link: string, request: VerifyRequest): VerificationView
  /** The newest first. */
  list(link: string): VerificationView[]
  describe(link: string, id: string): VerificationView
  /** Resolves when it has ended. */
  ended(link: string, id: string): Promise<void>
  /** Resolves when nothing of it runs any more; does nothing to one that has ended. */
  cancel(link: string, id: string): Promise<VerificationView>
}
