/** What a ReplicaSet is made with. */
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { LogStore } from '../log/log-store.ts'
import type { ReplicaPeers } from './replica-peers.ts'

/** Where partition logs come from. */
export type PartitionLogs = Pick<
  LogStore,
  'openLog' | 'reopenLog' | 'deleteLog' | 'savedHighWatermark' | 'noteHighWatermark'
>

export interface ReplicaSetOptions {
  readonly brokerId: number
  /** Closed by its owner, after this. */
  readonly logs: PartitionLogs
  /** The server's properties file: defaults of topic configs come from it. */
  readonly file: ReadonlyMap<string, string>
  /** Topics whose logs stay offline, rather than lose what was durable, when they are damaged. */
  readonly refusesDamage?: (topic: string) => boolean
  /** Time between two background flushes of mirrored (or unacknowledged) data. */
  readonly flushIntervalMs?: number
  /** Of a joined node; default: this node is alone, and leads what it has. */
  readonly peers?: ReplicaPeers
  readonly clock: Clock
  readonly logger: Logger
}
