/** The calls between Lockstep nodes of a cluster as they travel, by name: what is asked, and what is answered. */
import type { LogRequest, LogResult } from '../../destination/joined/peer-log-calls.ts'
import type { FetchingHold, PartitionReport, PeerMirror } from '../../link/peer-ports.ts'

export interface CallBodies {
  readonly 'stop-fetching': {
    readonly asked: { readonly mirror: PeerMirror; readonly position: number }
    readonly answer: readonly PartitionReport[]
  }
  readonly 'hold-fetching': {
    readonly asked: { readonly mirror: PeerMirror; readonly position: number; readonly hold: FetchingHold }
    readonly answer: readonly PartitionReport[]
  }
  readonly 'release-fetching': {
    readonly asked: { readonly mirror: PeerMirror; readonly holdId: string }
    readonly answer: null
  }
  readonly reports: { readonly asked: object; readonly answer: readonly PartitionReport[] }
  readonly logs: {
    readonly asked: { readonly requests: readonly LogRequest[] }
    readonly answer: readonly LogResult[]
  }
}

export type CallName = keyof CallBodies

/** Errors of REST have a message too. */
export type CallAnswer<N extends CallName> =
  | { readonly kind: 'done'; readonly answer: CallBodies[N]['answer'] }
  | { readonly kind?: 'failed'; readonly message: string }
