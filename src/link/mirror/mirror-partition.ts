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
import { findPartingPoint } from './parting-point.ts'
import type { IncidentKind, PartitionFigures } from './partition-figures.ts'
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

export class MirrorPartition implements FetchSink {
  readonly topicId: Uuid | undefined
  readonly #o: MirrorPartitionOptions
  readonly #backoff: Backoff
  #stopped = false
  #ended = false
  #reportedCut: string | undefined

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
      offset: logEndOffset,
      lastSourceEpoch: isEmpty ? undefined : this.#o.ledger.lastEpoch(logEndOffset),
    }
  }

  async onEpochEnd(answer: EpochEnd & { readonly requestedEpoch: number }): Promise<SinkDecision> {
    if (this.#stopped) return 'stop'
    const state = this.#o.log.state()
    if (state.logStartOffset === state.logEndOffset) return 'continue'
    const ranges = this.#o.ledger.ranges(state.logEndOffset)
    const divergence = divergenceOf(answer, { ...state, ranges })
    return divergence ? this.#truncated(divergence.reason) : 'continue'
  }

  async onBatches(batches: FetchedBatches): Promise<SinkDecision> {
    const { log, ledger, figures, owner } = this.#o
    if (this.#stopped) return 'stop'
    const before = log.state()
    // The log moved since this fetch was sent: the next one asks from its present end.
    if (batches.fetchOffset !== before.logEndOffset) return 'continue'
    const verified = verifyBatches(batches.records, {
      wantedOffset: before.logEndOffset,
      logIsEmpty: before.logStartOffset === before.logEndOffset,
      lastSourceEpoch: ledger.lastEpoch(before.logEndOffset),
    })
    try {
      await ledger.extend(verified.newEpochs, before)
      if (verified.bytes > 0) {
        const records = batches.records.subarray(0, verified.bytes)
        await log.append(records, { expectedEndOffset: before.logEndOffset })
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
    const { highWatermark, receivedMs } = batches
    const wallClockMs = this.#o.clock.nowMs()
    figures.answered({ highWatermark, receivedMs, wallClockMs, logEndOffset: log.state().logEndOffset })
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

  /** As far as the log allows; what is left is tried again after the next fetch. */
  async #followLogStart(sourceLogStart: number): Promise<void> {
    const { log, settings } = this.#o
    const { logStartOffset, logEndOffset } = log.state()
    const target = Math.min(sourceLogStart, logEndOffset)
    if (settings().followLogStart && target > logStartOffset) await log.raiseLogStart(target)
  }

  async #outOfRange(trouble: Extract<FetchTrouble, { kind: 'offset-out-of-range' }>): Promise<SinkDecision> {
    const { log, figures, owner, logger } = this.#o
    const { earliest, latest } = trouble
    const { logEndOffset } = log.state()
    if (trouble.fetchOffset !== logEndOffset) return 'continue'
    if (latest < logEndOffset)
      return this.#truncated(`the source ends at offset ${latest}, the mirror has data up to ${logEndOffset}`)
    // In range again: the leader that answered had just changed.
    if (earliest <= logEndOffset) return 'continue'
    const lost = earliest - logEndOffset
    const message =
      `retention at the source overtook the mirror: offsets ${logEndOffset} to ${earliest - 1}` +
      ` (${lost}) were deleted before they could be mirrored`
    try {
      await log.startAt(earliest)
      await this.#followLogStart(earliest)
    } catch (error) {
      return this.#held(error)
    }
    figures.lostOffsets += lost
    logger.warn(message, { lost })
    this.#report(owner.incident('out_of_range', message))
    return 'continue'
  }

  /** The source lost, or has other data than, what the mirror has. */
  async #truncated(reason: string): Promise<SinkDecision> {
    const { owner, settings } = this.#o
    if (settings().truncationPolicy === 'truncate') return this.#cut(reason)
    this.#report(owner.incident('truncation', reason))
    return this.#failed({ error: 'UNEXPECTED_TRUNCATION', reason: `the source was truncated: ${reason}` })
  }

  /** Cuts to the common point. The report is durable first, then the ranges, so that a crash leads here again. */
  async #cut(reason: string): Promise<SinkDecision> {
    const { log, ledger, copies, owner, logger } = this.#o
    try {
      const { logEndOffset } = log.state()
      const common = await findPartingPoint(copies, ledger.ranges(logEndOffset))
      if (common === undefined) return 'continue'
      if (typeof common === 'string') {
        const failure = `the source was truncated: ${reason}; nothing was cut, since ${common}`
        this.#report(owner.incident('truncation', failure))
        return this.#failed({ error: 'UNEXPECTED_TRUNCATION', reason: failure })
      }
      const message =
        `the source was truncated: ${reason}; the mirror's offsets ${common.offset} to ${logEndOffset - 1}` +
        ` (${logEndOffset - common.offset}) were cut off` +
        (common.verified ? '' : ', which could not be verified, since the source has deleted what is below')
      if (message !== this.#reportedCut) await owner.incident('truncation', message)
      this.#reportedCut = message
      await ledger.cutTo(common.offset)
      await log.truncateTo(common.offset)
      logger.warn(message)
      return 'continue'
    } catch (error) {
      return this.#held(error)
    }
  }

  /** An incident that is not worth waiting for. */
  #report(recorded: Promise<void>): void {
    const { logger } = this.#o
    recorded.catch(error => logger.warn('an incident could not be recorded', { error: messageOf(error) }))
  }

  async #failed(failure: { error: MirrorTopicError; reason: string }): Promise<SinkDecision> {
    this.#stopped = true
    this.#o.figures.trouble = failure.reason
    if (failure.error === 'CORRUPT_BATCH') this.#report(this.#o.owner.incident('corruption', failure.reason))
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
