/** The checkpoint files of a data directory, in Kafka's format: what is known of its logs before they are opened; LogStore has one. */
import type { FileSystem } from './file-system.ts'
import { type LogCheckpointState, type LogState, NOTHING_DURABLE } from './log-checkpoint.ts'
import { OffsetCheckpoint } from './offset-checkpoint.ts'

/** Logs go by the names of their directories. Changes are in memory until `save`. */
export class StoreCheckpoints {
  readonly #recoveryPoints: OffsetCheckpoint
  readonly #logStarts: OffsetCheckpoint
  readonly #highWatermarks: OffsetCheckpoint
  /** First offsets that were not cleaned yet. */
  readonly #cleaned: OffsetCheckpoint

  private constructor(files: readonly [OffsetCheckpoint, OffsetCheckpoint, OffsetCheckpoint, OffsetCheckpoint]) {
    const [recoveryPoints, logStarts, highWatermarks, cleaned] = files
    this.#recoveryPoints = recoveryPoints
    this.#logStarts = logStarts
    this.#highWatermarks = highWatermarks
    this.#cleaned = cleaned
  }

  /** Loads what is said of the logs in `names`, and durably forgets all others: a later log must not inherit from them. */
  static async load(fs: FileSystem, directory: string, names: ReadonlySet<string>): Promise<StoreCheckpoints> {
    const checkpoints = new StoreCheckpoints([
      await OffsetCheckpoint.load(fs, `${directory}/recovery-point-offset-checkpoint`),
      await OffsetCheckpoint.load(fs, `${directory}/log-start-offset-checkpoint`),
      await OffsetCheckpoint.load(fs, `${directory}/replication-offset-checkpoint`),
      await OffsetCheckpoint.load(fs, `${directory}/cleaner-offset-checkpoint`),
    ])
    for (const file of checkpoints.#files) file.retain(names)
    await checkpoints.save()
    return checkpoints
  }

  get #files(): readonly OffsetCheckpoint[] {
    return [this.#recoveryPoints, this.#logStarts, this.#highWatermarks, this.#cleaned]
  }

  /** What a log is opened with. */
  state(name: string): LogCheckpointState {
    return {
      logStartOffset: this.#logStarts.offset(name) ?? 0,
      recoveryPoint: this.#recoveryPoints.offset(name) ?? NOTHING_DURABLE,
    }
  }

  /**
   * What a log is now, or will be after the cut that it is about to make. True if less of it counts as cleaned than before:
   * that must be durable before the next append.
   */
  note(name: string, { logStartOffset, logEndOffset, recoveryPoint }: LogState): boolean {
    if (recoveryPoint === NOTHING_DURABLE) this.#recoveryPoints.delete(name)
    else this.#recoveryPoints.set(name, recoveryPoint)
    this.#logStarts.set(name, logStartOffset)
    const cleaned = this.#cleaned.offset(name)
    if (cleaned === undefined) return false
    // An empty log can go on anywhere: nothing in it is clean.
    if (logEndOffset <= logStartOffset) this.#cleaned.delete(name)
    else this.#cleaned.set(name, Math.min(cleaned, logEndOffset))
    return this.#cleaned.offset(name) !== cleaned
  }

  cleanedOffset(name: string): number | undefined {
    return this.#cleaned.offset(name)
  }

  noteCleaned(name: string, offset: number): void {
    this.#cleaned.set(name, offset)
  }

  forget(name: string): void {
    for (const file of this.#files) file.delete(name)
  }

  highWatermark(name: string): number | undefined {
    return this.#highWatermarks.offset(name)
  }

  noteHighWatermark(name: string, highWatermark: number): void {
    this.#highWatermarks.set(name, highWatermark)
  }

  /** Resolves when everything noted before the call is durable; files without changes are not written. */
  async save(): Promise<void> {
    for (const file of this.#files) await file.save()
  }
}
