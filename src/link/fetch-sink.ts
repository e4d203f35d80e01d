/** What the fetcher of a source and a mirror partition tell each other; part of the ports. */
import type { Uuid } from '../core/uuid.ts'
import type { SourceFailure } from './source-error.ts'

/** Where the source's data of an epoch ends; epoch and endOffset are -1 when the source does not know the epoch. */
export interface EpochEnd {
  /** The asked epoch, or the newest one below it that the source has. */
  readonly epoch: number
  readonly endOffset: number
}

/** Where a partition continues. */
export interface FetchPosition {
  /** Next offset wanted = the mirror's log end. */
  readonly offset: number
  /** Source epoch of the last mirrored batch; undefined for an empty mirror or when unknown: then no epoch check is made. */
  readonly lastSourceEpoch: number | undefined
}

/** What one fetch brought for one partition. */
export interface FetchedBatches {
  /** Whole or partly cut batches as they came (a partial batch at the end is possible). Valid until `onBatches` settles. */
  readonly records: Buffer
  /** The offset that was asked for. */
  readonly fetchOffset: number
  readonly highWatermark: number
  readonly lastStableOffset: number
  readonly logStartOffset: number
  /** Leader epoch of the source partition when it answered. */
  readonly leaderEpoch: number
  /** Monotonic time at which the answer arrived. */
  readonly receivedMs: number
}

export type FetchTrouble =
  | {
      readonly kind: 'offset-out-of-range'
      readonly fetchOffset: number
      readonly earliest: number
      readonly latest: number
    }
  | { readonly kind: 'topic-missing'; readonly message: string }
  /** The topic exists and does not have this partition. */
  | { readonly kind: 'partition-missing'; readonly message: string }
  | { readonly kind: 'topic-id-changed'; readonly expected: Uuid; readonly found: Uuid }
  | { readonly kind: 'authorization'; readonly message: string }
  | { readonly kind: 'corrupt'; readonly message: string }
  | { readonly kind: 'unreachable'; readonly failure: SourceFailure; readonly message: string }

/**
 * How the fetcher goes on with a partition. `retryAfterMs`: the sink cannot take more for that long, and holds no bytes
 * meanwhile; then the fetcher goes on from wherever `position` is.
 */
export type SinkDecision = 'continue' | 'stop' | { readonly retryAfterMs: number }

/** Receives one partition's data, in order, one call at a time. What `onX` returns decides how the fetcher goes on. */
export interface FetchSink {
  /** Source topic id that this mirror is bound to; undefined if the source has none. */
  readonly topicId: Uuid | undefined
  /** Asked before every fetch. */
  position(): FetchPosition
  /**
   * The source's answer to OffsetForLeaderEpoch(lastSourceEpoch), asked before the first fetch after every (re)connect or
   * leader change.
   */
  onEpochEnd(answer: EpochEnd & { readonly requestedEpoch: number }): Promise<SinkDecision>
  /**
   * The next fetch of this partition is not sent before this settles: that is the backpressure. Called for every answer with
   * records or with moved offsets, and about once a second for an answer without news.
   */
  onBatches(batches: FetchedBatches): Promise<SinkDecision>
  /** A problem of this partition; the fetcher backs off and retries on 'continue'. */
  onTrouble(trouble: FetchTrouble): Promise<SinkDecision>
}

/** Fetches many partitions of one source: the first stage of the pipeline. */
export interface SourceFetcher {
  /** Starts (or does nothing if already started for this key). Never throws: troubles go to the sink. */
  start(topic: string, partition: number, sink: FetchSink): void
  /** After it resolves the sink is not called any more. */
  stop(topic: string, partition: number): Promise<void>
  /** Bytes per second of all partitions together, from now on; undefined = no bound. */
  limitRate(bytesPerSecond: number | undefined): void
  /** How long fetches were held back, by that bound or by the source; those of all connections added up. */
  readonly heldBackMs: number
}
