/** What PartitionLog is opened with. */
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { Uuid } from '../core/uuid.ts'
import type { DamagePolicy } from './damage.ts'
import type { FileSystem } from './file-system.ts'
import type { IndexCache } from './index-cache.ts'
import type { LogCheckpoint } from './log-checkpoint.ts'
import type { LogConfig } from './log-config.ts'

export interface PartitionLogOptions {
  /** The partition's own directory, absolute; created if absent. */
  readonly directory: string
  readonly topic: string
  readonly partition: number
  /** Written to `partition.metadata`; opening with another id than is there rejects with LogError 'topic-id'. */
  readonly topicId?: Uuid
  /** Read from `partition.metadata` just before; else it is read. */
  readonly storedTopicId?: Uuid
  readonly config: LogConfig
  readonly clock: Clock
  readonly logger: Logger
  /** Default: the disk. */
  readonly fs?: FileSystem
  readonly cache?: IndexCache
  /** True unless the last stop was clean: then everything from the recovery point on is verified. */
  readonly recover: boolean
  /** Where log start and recovery point are kept; LogStore gives it. */
  readonly checkpoint?: LogCheckpoint
  /** Default `cut`. With `refuse`, damage before data that was durable rejects with LogError 'corrupt'. */
  readonly damage?: DamagePolicy
  /** Batches below are held elsewhere, so that damage to their contents does not matter. */
  readonly neededFrom?: number
}
