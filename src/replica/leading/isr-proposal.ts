/** A change of an ISR on its way to the controller, and the partition that waits for it; shared by those who make, send and count it. */
import type { Uuid } from '../../core/uuid.ts'

/** An ISR that the controller is asked for: compare-and-set on both epochs. */
export interface IsrProposal {
  readonly isr: readonly number[]
  readonly leaderEpoch: number
  readonly partitionEpoch: number
  /** Of members that have fetched, their broker epochs (KIP-903). */
  readonly memberEpochs: ReadonlyMap<number, number>
}

/** The part of a led partition that has to do with its proposal. */
export interface IsrHolder {
  readonly name: string
  readonly topicId: Uuid
  readonly index: number
  readonly isrProposal: IsrProposal | undefined
  readonly unavailable: Error | undefined
  /** The controller has refused that ISR, and will never commit it. */
  isrRefused(proposal: IsrProposal): void
}
