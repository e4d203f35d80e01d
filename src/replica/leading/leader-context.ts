/** What a led partition needs to know of the cluster, and whom it tells that its ISR should change; ReplicaSet gives it. */
import type { IsrHolder } from './isr-proposal.ts'

export interface LeaderContext {
  /** Monotonic. */
  nowMs(): number
  /** `replica.lag.time.max.ms` */
  readonly lagTimeMaxMs: number
  /** May it join an ISR: registered under that epoch (-1 = not said), unfenced and not shutting down. */
  isEligible(brokerId: number, brokerEpoch: number): boolean
  /** As the image has it; undefined = not registered. */
  brokerEpoch(brokerId: number): number | undefined
  /** `partition.isrProposal` waits to be sent. Must not throw. */
  isrChangeWanted(partition: IsrHolder): void
}

/** Of a node without peers. */
export const withoutPeers: LeaderContext = {
  nowMs: () => 0,
  lagTimeMaxMs: Number.POSITIVE_INFINITY,
  isEligible: () => false,
  brokerEpoch: () => undefined,
  isrChangeWanted: () => {},
}
