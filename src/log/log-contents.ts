/** The pieces of one open log and the offsets between which it lies; PartitionLog owns it, the modules of this folder work on it. */
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { FileSystem } from './file-system.ts'
import type { IndexCache } from './index-cache.ts'
import type { LeaderEpochs } from './leader-epochs.ts'
import type { LogConfig } from './log-config.ts'
import { LogError } from './log-error.ts'
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
  /** Everything below was durable when the log was opened; NOTHING_DURABLE if not even its files' names were. */
  durableAtOpen = 0
  /** Counts cuts and swaps of cleaned segments: bytes read while it changed may be a mixture. */
  cuts = 0
  /** How far passes of cleaning got since the log was opened, also such as were given up. */
  compactedTo = 0
  /** Pending while files change places: readers wait. */
  swapping: Promise<unknown> | undefined
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

  /** Holds no batch, not even below the log start. */
  get isEmpty(): boolean {
    return this.segments.sizeBytes === 0
  }

  /** Creates an empty segment; the caller puts it in the list. */
  async createSegment(baseOffset: number): Promise<Segment> {
    const { fs, cache, clock } = this.environment
    try {
      return await Segment.create({ fs, cache, directory: this.directory, baseOffset }, clock.nowMs())
    } finally {
      // Afterwards: a flush that runs meanwhile makes only the names durable that are there already.
      this.namesChanged = true
    }
  }

  /**
   * Starts a new active segment at the log end. Until the one before and then its snapshot are durable, recovery takes a gap
   * between the two for a lost tail; that is why segments are named by the log end, not by their first batch.
   */
  async roll(): Promise<void> {
    await this.#startSegment(this.logEndOffset)
  }

  /** Starts a new active segment behind a hole: what comes before is durable, and its snapshot tells recovery so. */
  async rollPastHole(baseOffset: number): Promise<void> {
    const before = this.segments.active
    await before.finish()
    await before.save()
    try {
      await before.syncAll()
    } catch (error) {
      throw new LogError('storage', `${this.name} cannot be made durable`, { cause: error, failed: true })
    }
    this.snapshots.take(baseOffset, this.producers.encode())
    await this.snapshots.save(baseOffset)
    await this.#startSegment(baseOffset)
  }

  async #startSegment(baseOffset: number): Promise<void> {
    const before = this.segments.active
    if (before.baseOffset === baseOffset) return
    // What a failed append left must not come to light in front of the new segment.
    await before.cutTorn()
    await before.finish()
    if (!this.snapshots.has(baseOffset)) this.snapshots.take(baseOffset, this.producers.encode())
    this.segments.add(await this.createSegment(baseOffset))
    this.rolled.add(before)
    // An empty segment between two others says nothing; the first one still carries the log start.
    if (before.sizeBytes === 0 && before !== this.segments.first) await this.removeSegments([before])
  }

  /** Takes segments out of the log and removes their files, in the order given. */
  async removeSegments(condemned: readonly Segment[]): Promise<void> {
    if (condemned.length === 0) return
    this.segments.drop(condemned)
    for (const segment of condemned) {
      this.rolled.delete(segment)
      await segment.remove().finally(() => {
        this.namesChanged = true
      })
    }
  }

  /** Closes a segment whose place another one takes. */
  async closeSegment(segment: Segment): Promise<void> {
    this.segments.drop([segment])
    this.rolled.delete(segment)
    await segment.close()
  }

  /** Runs work that exchanges segments for others that hold the same offsets. */
  async whileReadersWait(work: () => Promise<void>): Promise<void> {
    this.cuts++
    const running = work().finally(() => {
      this.cuts++
      this.swapping = undefined
    })
    this.swapping = running.catch(() => {})
    await running
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
