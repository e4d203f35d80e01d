/** What a coordinator tells StatePartitions about its state: how it comes out of records, and who is told when it comes and goes. */
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import type { BatchHeader, Compression } from '../../protocol/batches/batch-header.ts'
import type { ReplicaSet } from '../../replica/replica-set.ts'
import type { InternalTopic } from './internal-topics.ts'
import type { StateRecord, TransactionMarker } from './load-records.ts'

/** The state of a partition from one loading to the next; whoever keeps it asks `current` before relying on it. */
export interface Loaded<S> {
  readonly partition: number
  readonly state: S
  /** False once the state was thrown away: after a failed write, or because another node leads the partition. */
  readonly current: boolean
}

/** For `brokerId`: no partition has such a leader. In a cluster that this node has joined the other brokers coordinate. */
export const COORDINATES_NOTHING = -3

export interface StatePartitionsOptions<S> {
  readonly brokerId: number
  /** The topic, and how it is created when it is first needed. */
  readonly definition: InternalTopic
  /** Of the batches that are written. Default: none. */
  readonly compression?: Compression
  createState(partition: number): S
  /** One record of the log. Throws where it cannot be understood and may not be passed over: the partition is not loaded then. */
  replay(state: S, record: StateRecord, batch: BatchHeader): void
  replayMarker?(state: S, marker: TransactionMarker): void
  /** The state is complete and served from now on. */
  loaded?(loaded: Loaded<S>): void
  /** The state counts no more: release what waits, stop its timers. */
  unloaded?(loaded: Loaded<S>): void
  readonly replicas: Pick<ReplicaSet, 'lookup' | 'storageFailed'>
  readonly controller: Pick<Controller, 'image' | 'createTopics'>
  readonly clock: Clock
  readonly logger: Logger
}
