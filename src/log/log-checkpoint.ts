/** Port of one log to the checkpoints of its data directory; LogStore implements it. */

/** What the data directory remembers of one log. */
export interface LogCheckpointState {
  /** Log start, which may lie inside the first segment. */
  readonly logStartOffset: number
  /** Everything below is durable and need not be verified after a crash; NOTHING_DURABLE if that was never saved. */
  readonly recoveryPoint: number
}

/** What a log says of itself. */
export interface LogState extends LogCheckpointState {
  readonly logEndOffset: number
}

/** The recovery point of a log of which nothing is known, not even that its files will be there after a power failure. */
export const NOTHING_DURABLE = -1

export interface LogCheckpoint {
  /** What was saved last. */
  load(): LogCheckpointState
  /** Where the last pass of cleaning ended, undefined if there was none. */
  cleanedOffset(): number | undefined
  /** A pass of cleaning has ended there; saving that may wait. */
  cleaned(offset: number): void
  /** Resolves when the log's present state is durable: before a cut, so that a crash on the way is seen through. */
  save(): Promise<void>
  /** The state has changed; saving it may wait. */
  changed(): void
  /** The recovery point has moved on; saving that may wait for long: it only makes the next recovery shorter. */
  flushed(): void
}

/** For a log outside of a LogStore: everything is verified after a crash, and the log starts with its first segment. */
export const noCheckpoint: LogCheckpoint = {
  load: () => ({ logStartOffset: 0, recoveryPoint: NOTHING_DURABLE }),
  cleanedOffset: () => undefined,
  cleaned: () => {},
  save: async () => {},
  changed: () => {},
  flushed: () => {},
}
