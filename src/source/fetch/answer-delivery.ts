/** Hands the parts of one Fetch answer to the sinks of their partitions, or to the outcomes; the fetch slots call it. */
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { FetchedBatches } from '../../link/ports.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { BrokerPool } from '../broker-pool.ts'
import { type AskedPartition, batchesOf, type PartitionAnswer } from './fetch-exchange.ts'
import type { PartitionFetch } from './partition-fetch.ts'
import type { PartitionOutcomes } from './partition-outcomes.ts'
import type { SessionAnswers } from './slot-session.ts'

export interface FetchAnswer {
  readonly brokerId: number
  readonly asked: readonly AskedPartition[]
  readonly answers: SessionAnswers
  /** A source that throttles us may leave everything out of its answer. */
  readonly isThrottled: boolean
  readonly receivedMs: number
  /** Gives the bytes back; called when no sink holds any of them. */
  readonly release: () => void
}

export interface AnswerDeliveryOptions {
  readonly outcomes: PartitionOutcomes
  readonly pool: BrokerPool
  readonly clock: Clock
  /** How long a redirect to another replica is followed before the leader is asked again (KIP-392). */
  readonly redirectMaxAgeMs: number
}

/** The sink of a partition without news hears of an answer at least this often (plus a long poll). */
const SILENCE_MS_MAX = 1000

/** Does not wait for the sinks. */
export class AnswerDelivery {
  readonly #options: AnswerDeliveryOptions

  constructor(options: AnswerDeliveryOptions) {
    this.#options = options
  }

  /** Returns the number of record bytes in the answer. */
  deliver(answer: FetchAnswer): number {
    let recordBytes = 0
    const held: Promise<void>[] = []
    for (const asked of answer.asked) {
      if (asked.partition.phase !== 'fetching') continue
      const part = answer.answers.find(asked)
      recordBytes += part?.records?.length ?? 0
      const settled = this.#deliverPart(asked, part, answer)
      if (settled) held.push(settled)
    }
    if (held.length === 0) answer.release()
    else void Promise.all(held).then(answer.release)
    return recordBytes
  }

  /** The promise resolves when the sink has let go of the bytes. */
  #deliverPart(
    asked: AskedPartition,
    part: PartitionAnswer | undefined,
    answer: FetchAnswer,
  ): Promise<void> | undefined {
    const { outcomes } = this.#options
    const { partition, fetchOffset } = asked
    const { brokerId } = answer
    if (!part && answer.isThrottled) outcomes.proceed(partition)
    else if (!part) outcomes.leftOut(partition, `Fetch of broker ${brokerId}`)
    else if (part.errorCode !== ErrorCode.NONE) outcomes.errorCode(partition, part.errorCode, { fetchOffset, brokerId })
    else if (this.#isRedirect(part, brokerId)) this.#redirect(partition, part.preferredReadReplica, brokerId)
    else return this.#deliverBatches(asked, part, answer.receivedMs)
    return undefined
  }

  #deliverBatches(asked: AskedPartition, part: PartitionAnswer, receivedMs: number): Promise<void> | undefined {
    const { outcomes } = this.#options
    const { partition } = asked
    let batches: FetchedBatches
    try {
      batches = batchesOf(part, asked, receivedMs)
    } catch (error) {
      outcomes.report(partition, { kind: 'corrupt', message: `${partition.name}: ${messageOf(error)}` })
      return undefined
    }
    partition.recovered()
    if (batches.records.length === 0 && !partition.troubled && !isNews(partition, batches)) {
      outcomes.proceed(partition)
      return undefined
    }
    partition.troubled = false
    const { highWatermark, lastStableOffset, logStartOffset, leaderEpoch } = batches
    partition.seen = { highWatermark, lastStableOffset, logStartOffset, leaderEpoch, receivedMs }
    return outcomes.deliver(partition, () => partition.sink.onBatches(batches))
  }

  #isRedirect(part: PartitionAnswer, brokerId: number): boolean {
    const { preferredReadReplica, records } = part
    return preferredReadReplica >= 0 && preferredReadReplica !== brokerId && (records?.length ?? 0) === 0
  }

  #redirect(partition: PartitionFetch, replica: number, brokerId: number): void {
    const { pool, outcomes, clock, redirectMaxAgeMs } = this.#options
    if (pool.broker(replica)) {
      partition.readReplica = { brokerId: replica, untilMs: clock.monotonicMs() + redirectMaxAgeMs }
      outcomes.proceed(partition)
    } else {
      const message = `broker ${brokerId} redirects ${partition.name} to broker ${replica}, which the source does not list`
      outcomes.report(partition, { kind: 'unreachable', failure: 'retriable', message }, 'quick')
    }
  }
}

/** Sinks hear of an empty answer when something in it is new, and now and then so that they know the source is there. */
function isNews({ seen }: PartitionFetch, batches: FetchedBatches): boolean {
  return (
    seen?.highWatermark !== batches.highWatermark ||
    seen.lastStableOffset !== batches.lastStableOffset ||
    seen.logStartOffset !== batches.logStartOffset ||
    seen.leaderEpoch !== batches.leaderEpoch ||
    batches.receivedMs - seen.receivedMs >= SILENCE_MS_MAX
  )
}
