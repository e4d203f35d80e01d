/** The pieces of one open log and the offsets between which it lies; PartitionLog owns it, the modules of this folder work on it. */
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { FileSystem } from './file-system.ts'
import type { IndexCache } from './index-cache.ts'
import type { LeaderEpochs } from './leader-epochs.ts'
import type { LogConfig } from './log-config.ts'
import type { ProducerState } from './producer-state.ts'
import { Segment } from './segment.ts'
import type { SegmentList } from './segment-list.ts'
import type { SnapshotFiles } from './snapshot-files.ts'

/** What a log needs from its node. */
export interface LogEnvironment {
  readonly fs: FileSystem
  /** Shared by all logs of a node. */
  readonly cache: IndexCache
  readonly clock: Clock
  readonly logger: Logger
}

export class LogContents {
  readonly environment: LogEnvironment
  readonly directory: string
  /** `orders-3`, for messages. */
  readonly name: string
  readonly segments: SegmentList
  readonly epochs: LeaderEpochs
  readonly producers: ProducerState
  readonly snapshots: SnapshotFiles
  config: LogConfig
  logStartOffset = 0
  logEndOffset = 0
  /** Counts cuts: bytes read while it changed may be a mixture. */
  cuts = 0
  /** Segments that no append goes to any more and that are not durable yet, indexes included. */
  readonly rolled = new Set<Segment>()
  /** Files were created or removed since the directory was last made durable. */
  namesChanged = false

  constructor(parts: {
    environment: LogEnvironment
    directory: string
    name: string
    segments: SegmentList
    epochs: LeaderEpochs
    producers: ProducerState
    snapshots: SnapshotFiles
    config: LogConfig
  }) {
    this.environment = parts.environment
    this.directory = parts.directory
    this.name = parts.name
    this.segments = parts.segments
    this.epochs = parts.epochs
    this.producers = parts.producers
    this.snapshots = parts.snapshots
    this.config = parts.config
  }

  /** Creates an empty segment; the caller puts it in the list. */
  createSegment(baseOffset: number): Promise<Segment> {
    const { fs, cache, clock } = this.environment
    this.namesChanged = true
    return Segment.create({ fs, cache, directory: this.directory, baseOffset }, clock.nowMs())
  }

  /** Starts a new active segment at `baseOffset`, which lies at or above the log end. */
  async roll(baseOffset: number): Promise<void> {
    const before = this.segments.active
    if (before.baseOffset === baseOffset) return
    await before.finish()
    this.snapshots.take(baseOffset, this.producers.encode())
    this.segments.add(await this.createSegment(baseOffset))
    this.rolled.add(before)
    // An empty segment between two others says nothing; the first one still carries the log start.
    if (before.sizeBytes === 0 && before !== this.segments.first) await this.removeSegments([before])
  }

  /** Takes segments out of the log and removes their files, in the order given. */
  async removeSegments(condemned: readonly Segment[]): Promise<void> {
    this.segments.drop(condemned)
    this.namesChanged = true
    for (const segment of condemned) {
      this.rolled.delete(segment)
      await segment.remove()
    }
  }

  async syncNames(): Promise<void> {
    if (!this.namesChanged) return
    this.namesChanged = false
    try {
      await this.environment.fs.syncDirectory(this.directory)
    } catch (error) {
      this.namesChanged = true
      throw error
    }
  }
}
