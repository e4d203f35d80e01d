/** Where a mirror ended, and how it changed roles with its source, as REST sees it; part of engine-api. */

export interface StopPoint {
  readonly partition: number
  /** End of what came from the source, before any marker of ours. */
  readonly stopOffset: number
  readonly lastSourceEpoch: number | null
  readonly stopTimeMs: number
}

export interface ReversalView {
  /** What it was when the reverse began. */
  readonly role: 'MIRROR' | 'SOURCE'
  /** State of the counterpart as read last; null = it is an ordinary topic, UNKNOWN = it was not read. */
  readonly peerStatus: string | null
  readonly peerReason: string | null
  /** How long nobody could write either of both; null = not over. */
  readonly readOnlyMs: number | null
  /** Transactions that were open at the old source, and were aborted. */
  readonly abortedTransactions: number
}
