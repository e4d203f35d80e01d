/** Third stage of the pipeline: one partition's answers from the source into its mirror log. The source's fetcher calls it. */
import { Backoff } from '../../core/backoff.ts'
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Random } from '../../core/random.ts'
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import type {
  EpochEnd,
  FetchedBatches,
  FetchPosition,
  FetchSink,
  FetchTrouble,
  MirrorLog,
  SinkDecision,
} from '../ports.ts'
import type { MirrorTopicError } from '../states/mirror-topic-error.ts'
import type { BothCopies } from './compare-batches.ts'
import { divergenceOf } from './epoch-judgement.ts'
import type { EpochLedger } from './epoch-ledger.ts'
import type { IncidentKind, PartitionFigures } from './partition-figures.ts'
import { cutToSource, type RepairParts, skipDeleted } from './repairs.ts'
import { verifyBatches } from './verify-batches.ts'

/** A failure of the whole topic at the source, which is retried for a time. */
export type TopicTrouble = Extract<
  FetchTrouble,
  { kind: 'topic-missing' | 'partition-missing' | 'topic-id-changed' | 'authorization' }
>

/** What a partition tells the topic that it belongs to. */
export interface PartitionOwner {
  /** The partition follows no more. Resolves when that is durable. */
  failed(partition: number, failure: { error: MirrorTopicError; reason: string }): Promise<void>
  /** Decides whether to go on asking. */
  troubled(trouble: TopicTrouble): Promise<'continue' | 'stop'>
  /** The source answered a fetch of this partition. */
  answered(partition: number): void
  /** Counted and kept in the history. Resolves when that is durable; rejects if it cannot be. */
  incident(kind: IncidentKind, message: string): Promise<void>
}

/** Settings of the link that may change while the partition is mirrored. */
export interface MirrorSettings {
  /** The mirror's log start follows the source's. */
  readonly followLogStart: boolean
  readonly truncationPolicy: 'fail' | 'truncate'
  /** How long a failure of the topic at the source is retried. */
  readonly retryTimeoutMs: number
}

export interface MirrorPartitionOptions {
  /** Zero below Kafka 2.8. */
  readonly sourceTopicId: Uuid
  readonly log: MirrorLog
  /** The log and its source, for comparisons. */
  readonly copies: BothCopies
  readonly ledger: EpochLedger
  readonly figures: PartitionFigures
  readonly owner: PartitionOwner
  readonly settings: () => MirrorSettings
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** How long a source must show nothing before that is believed. */
const emptyMs = 5000

export class MirrorPartition implements FetchSink {
  readonly topicId: Uuid | undefined
  readonly #o: MirrorPartitionOptions
  readonly #backoff: Backoff
  #stopped = false
  #ended = false
  #lastReport: string | undefined
  /** The source's log starts inside the batch that comes next: it can be asked for this offset only, which is above the log end. */
  #fetchFrom = 0
  #emptySince: { readonly earliest: number; readonly ms: number } | undefined

  constructor(options: MirrorPartitionOptions) {
    this.#o = options
    this.topicId = options.sourceTopicId === ZERO_UUID ? undefined : options.sourceTopicId
    this.#backoff = new Backoff({ initialMs: 100, maxMs: 10_000, random: options.random })
  }

  /** It has told the fetcher to stop for good, and the reason is durable. */
  get ended(): boolean {
    return this.#ended
  }

  /** The destination's log end is the only resume point. */
  position(): FetchPosition {
    const { logStartOffset, logEndOffset } = this.#o.log.state()
    const isEmpty = logStartOffset === logEndOffset
    return {
      offset: Math.max(logEndOffset, this.#fetchFrom),
      lastSourceEpoch: isEmpty ? undefined : this.#o.ledger.lastEpoch(logEndOffset),
    }
  }

  async onEpochEnd(answer: EpochEnd & { readonly requestedEpoch: number }): Promise<SinkDecision> {
    if (this.#stopped) return 'stop'
    const foreign = await this.#foreignTail()
    if (foreign) return foreign
    const state = this.#o.log.state()
    if (state.logStartOffset === state.logEndOffset) return 'continue'
    const ranges = this.#o.ledger.ranges(state.logEndOffset)
    const divergence = divergenceOf(answer, { ...state, ranges })
    return divergence ? this.#truncated(divergence.reason) : 'continue'
  }

  async onBatches(batches: FetchedBatches): Promise<SinkDecision> {
    const { log, ledger, figures, owner } = this.#o
    if (this.#stopped) return 'stop'
    const foreign = await this.#foreignTail()
    if (foreign) return foreign
    const before = log.state()
    // The log moved since this fetch was sent: the next one asks from its present end.
    if (batches.fetchOffset !== this.position().offset) return 'continue'
    const verified = verifyBatches(batches.records, {
      wantedOffset: before.logEndOffset,
      logIsEmpty: before.isEmpty && before.logStartOffset === before.logEndOffset,
      lastSourceEpoch: ledger.lastEpoch(before.logEndOffset),
    })
    try {
      await ledger.extend(verified.newEpochs, before)
      if (verified.bytes > 0) {
        const records = batches.records.subarray(0, verified.bytes)
        await log.append(records, { expectedEndOffset: before.logEndOffset, leaderEpoch: before.leaderEpoch })
        figures.mirroredBytes += verified.bytes
        figures.mirroredBatches += verified.batches
      }
      await this.#followLogStart(batches.logStartOffset)
    } catch (error) {
      // The mirror falls behind while it waits, and shows it.
      figures.lag.seen(batches.highWatermark, batches.receivedMs)
      return this.#held(error)
    }
    this.#backoff.reset()
    const { highWatermark, lastStableOffset, receivedMs } = batches
    const wallClockMs = this.#o.clock.nowMs()
    const { logEndOffset } = log.state()
    figures.answered({ highWatermark, lastStableOffset, receivedMs, wallClockMs, logEndOffset })
    owner.answered(figures.partition)
    return verified.refusal ? this.#failed(verified.refusal) : 'continue'
  }

  async onTrouble(trouble: FetchTrouble): Promise<SinkDecision> {
    const { figures } = this.#o
    if (this.#stopped) return 'stop'
    switch (trouble.kind) {
      case 'offset-out-of-range':
        return this.#outOfRange(trouble)
      case 'corrupt':
        return this.#failed({ error: 'CORRUPT_BATCH', reason: trouble.message })
      case 'unreachable':
        figures.silent(trouble.message, this.#o.clock.monotonicMs())
        return 'continue'
      case 'topic-missing':
      case 'partition-missing':
      case 'topic-id-changed':
      case 'authorization':
        figures.trouble = troubleText(trouble)
        return this.#troubled(trouble)
    }
  }

  async #troubled(trouble: TopicTrouble): Promise<SinkDecision> {
    const decision = await this.#o.owner.troubled(trouble)
    this.#ended ||= decision === 'stop'
    return decision
  }

  /**
   * Undefined = the log ends with what was mirrored. Others may have led it for a moment, too short for the pipeline to be stopped.
   */
  async #foreignTail(): Promise<SinkDecision | undefined> {
    try {
      await this.#o.log.reclaim()
      return undefined
    } catch (error) {
      return this.#held(error)
    }
  }

  /** As far as the log allows; what is left is tried again after the next fetch. */
  async #followLogStart(sourceLogStart: number): Promise<void> {
    const { log, settings } = this.#o
    const { logStartOffset, logEndOffset } = log.state()
    const target = Math.min(sourceLogStart, logEndOffset)
    if (settings().followLogStart && target > logStartOffset) await log.raiseLogStart(target)
  }

  async #outOfRange(trouble: Extract<FetchTrouble, { kind: 'offset-out-of-range' }>): Promise<SinkDecision> {
    const foreign = await this.#foreignTail()
    if (foreign) return foreign
    const { log, figures, logger, settings } = this.#o
    const { earliest, latest } = trouble
    const { logEndOffset } = log.state()
    if (trouble.fetchOffset !== this.position().offset) return 'continue'
    this.#fetchFrom = 0
    if (latest < logEndOffset)
      return this.#truncated(`the source ends at offset ${latest}, the mirror has data up to ${logEndOffset}`)
    // In range again: the leader that answered had just changed.
    if (earliest <= logEndOffset) return 'continue'
    if (earliest === latest && !this.#isLastingEmpty(earliest)) return { retryAfterMs: 1000 }
    try {
      const skipped = await skipDeleted(this.#repairParts, { earliest, followLogStart: settings().followLogStart })
      this.#fetchFrom = earliest
      await this.#followLogStart(earliest)
      if (!skipped) return 'continue'
      figures.lostOffsets += skipped.lost
      logger.warn(skipped.message, { partition: figures.partition })
      return 'continue'
    } catch (error) {
      return this.#held(error)
    }
  }

  /**
   * Shows the source nothing at all, and has for a while? Right after an election a leader may not know yet how far it may be
   * read, and where the batch begins in which its log starts.
   */
  #isLastingEmpty(earliest: number): boolean {
    const nowMs = this.#o.clock.monotonicMs()
    if (this.#emptySince?.earliest !== earliest) this.#emptySince = { earliest, ms: nowMs }
    return nowMs - this.#emptySince.ms >= emptyMs
  }

  /** The source lost, or has other data than, what the mirror has. */
  async #truncated(divergence: string): Promise<SinkDecision> {
    const { settings, logger, figures } = this.#o
    const reason = `the source was truncated: ${divergence}`
    if (settings().truncationPolicy === 'fail') return this.#failedByTruncation(reason)
    try {
      const done = await cutToSource(this.#repairParts, reason)
      // Below it the source may have data again: what it does not have it says itself.
      this.#fetchFrom = 0
      if (done && 'refused' in done) return this.#failedByTruncation(done.refused)
      if (done) logger.warn(done.cut, { partition: figures.partition })
      return 'continue'
    } catch (error) {
      return this.#held(error)
    }
  }

  #failedByTruncation(reason: string): Promise<SinkDecision> {
    this.#report('truncation', reason)
    return this.#failed({ error: 'UNEXPECTED_TRUNCATION', reason })
  }

  get #repairParts(): RepairParts {
    const { copies, ledger } = this.#o
    return { copies, ledger, report: (kind, message) => this.#reported(kind, message) }
  }

  /** Counted and kept in the history; resolves when that is durable. Once for the same message. */
  async #reported(kind: IncidentKind, message: string): Promise<void> {
    const { owner, figures } = this.#o
    if (message !== this.#lastReport) await owner.incident(kind, `partition ${figures.partition}: ${message}`)
    this.#lastReport = message
  }

  /** An incident that is not worth waiting for. */
  #report(kind: IncidentKind, message: string): void {
    const { logger } = this.#o
    const failed = (error: unknown) => logger.warn('an incident could not be recorded', { error: messageOf(error) })
    this.#reported(kind, message).catch(failed)
  }

  async #failed(failure: { error: MirrorTopicError; reason: string }): Promise<SinkDecision> {
    this.#stopped = true
    this.#o.figures.trouble = failure.reason
    if (failure.error === 'CORRUPT_BATCH') this.#report('corruption', failure.reason)
    await this.#o.owner.failed(this.#o.figures.partition, failure)
    this.#ended = true
    return 'stop'
  }

  /** Something here (disk, state log, leadership) refuses for now: the source is not asked while that lasts. */
  #held(error: unknown): SinkDecision {
    const { figures, logger } = this.#o
    const retryAfterMs = this.#backoff.nextMs()
    figures.trouble = `waiting to append: ${messageOf(error)}`
    const { partition } = figures
    logger.warn('a mirror partition cannot append', { partition, error: messageOf(error), retryAfterMs })
    return { retryAfterMs }
  }
}

function troubleText(trouble: TopicTrouble): string {
  return trouble.kind === 'topic-id-changed'
    ? `the source topic has id ${trouble.found}, the mirror belongs to ${trouble.expected}: it was deleted and created anew`
    : trouble.message
}
