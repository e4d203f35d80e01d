/** Words that all parts of the engine's API share; read through engine-api.ts. */

export type LinkState = 'ACTIVE' | 'FAILED' | 'UNAVAILABLE' | 'PAUSED' | 'UNKNOWN'

/** Stored states of a mirror topic (semantics §3). */
export type MirrorState =
  | 'ACTIVE'
  | 'PAUSED'
  | 'FAILED'
  | 'PENDING_STOPPED'
  | 'STOPPED'
  | 'PENDING_SYNCHRONIZE'
  | 'PENDING_MIRROR'
  | 'PENDING_SETUP_FOR_RESTORE'
  | 'PENDING_RESTORE'

/** What is shown: stored states plus those that stand in for ACTIVE while they last. */
export type MirrorStatus = MirrorState | 'LINK_PAUSED' | 'LINK_FAILED' | 'SOURCE_UNAVAILABLE'

export type MirrorSelection = { readonly names: readonly string[] } | { readonly pattern: string }

/** A sync task of a link. */
export interface TaskView {
  readonly name: string
  readonly state: string
  readonly errors: readonly { readonly code: string; readonly message: string }[]
  /** Wall clock of the end of the last run without errors; null = none since the node started. */
  readonly lastSuccessMs: number | null
  /** Why it is NOT_CONFIGURED; absent in every other state. */
  readonly reason?: string
}
