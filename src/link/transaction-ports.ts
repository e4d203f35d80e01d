/** Open transactions as the ports tell them: of a mirror's own log, and of a partition of the source. */

export interface OpenTransaction {
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly firstOffset: number
}

/** An open transaction in a partition of the source. */
export interface SourceTransaction {
  readonly partition: number
  readonly producerId: bigint
  readonly startOffset: number
  /** undefined = its coordinator did not tell. */
  readonly transactionalId: string | undefined
}

/** What has become of transactions that were to be aborted. */
export interface AbortedTransactions {
  readonly aborted: number
  /** They end without that. */
  readonly ending: number
}
