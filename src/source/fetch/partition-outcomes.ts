/** What follows when a partition's fetch did not bring data: tells the sink, waits, sends the partition on; slots and routing call it. */
import { type Clock, sleep } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { FetchPosition, FetchTrouble, SinkDecision, SourceError } from '../../link/ports.ts'
import { errorName } from '../../protocol/errors.ts'
import type { LeaderQuestions } from '../leader-questions.ts'
import { sourceErrorForCode, sourceErrorOf } from '../source-error-of.ts'
import type { PartitionFetch } from './partition-fetch.ts'
import { reactionTo } from './partition-reaction.ts'

/** How the fetcher goes on with a partition. */
export interface PartitionFlow {
  /** Fetch it again as soon as possible, from whoever leads it by what is known. */
  proceed(partition: PartitionFetch): void
  /** Look at the metadata anew, then fetch it. */
  lookAgain(partition: PartitionFetch): void
  /** Its sink does not want more. */
  end(partition: PartitionFetch): void
}

export interface PartitionOutcomesOptions {
  readonly flow: PartitionFlow
  readonly leaders: LeaderQuestions
  readonly clock: Clock
  readonly logger: Logger
}

/** Leadership changes are everyday: the sink hears of one only when it lasts for more attempts than this. */
const QUIET_ATTEMPTS = 3

type Pace = 'slow' | 'quick' | number

/** No method throws or rejects; each takes a partition out of its slot's hands and gives it back through the flow. */
export class PartitionOutcomes {
  readonly #options: PartitionOutcomesOptions

  constructor(options: PartitionOutcomesOptions) {
    this.#options = options
  }

  /** Calls the sink with good news; resolves when it has settled. The partition goes on as the sink decides. */
  async deliver(partition: PartitionFetch, call: () => Promise<SinkDecision>): Promise<void> {
    const outcome = await partition.deliver(call)
    this.#settle(partition, outcome, () => this.#options.flow.proceed(partition))
  }

  /** Fetches again at once. */
  proceed(partition: PartitionFetch): void {
    if (!partition.isStopped) this.#options.flow.proceed(partition)
  }

  /** Where the sink wants to go on; undefined if it failed to say, which has been dealt with. */
  positionOf(partition: PartitionFetch): FetchPosition | undefined {
    try {
      return partition.sink.position()
    } catch (failed) {
      this.#settle(partition, { failed }, () => {})
      return undefined
    }
  }

  /** An error code in the partition's part of an answer. */
  errorCode(partition: PartitionFetch, code: number, context: { fetchOffset: number; brokerId: number }): void {
    const fromLeader = partition.route?.leader === context.brokerId
    partition.readReplica = undefined
    const what = `${errorName(code)} for ${partition.name} from broker ${context.brokerId}`
    const error = sourceErrorForCode(code, `fetching ${partition.name} from broker ${context.brokerId}`)
    switch (reactionTo(code)) {
      case 'leader':
      case 'topic':
        this.#options.logger.debug(what)
        if (partition.failures < QUIET_ATTEMPTS) void this.#wait(partition, 'quick')
        else this.report(partition, { kind: 'unreachable', failure: 'retriable', message: error.message }, 'quick')
        return
      case 'range':
        if (fromLeader) this.#outOfRange(partition, context.fetchOffset)
        else void this.#wait(partition, 'quick')
        return
      case 'authorization':
        return this.report(partition, { kind: 'authorization', message: error.message })
      case 'corrupt':
        return this.report(partition, { kind: 'corrupt', message: error.message })
      case 'retry':
        return this.report(partition, { kind: 'unreachable', failure: error.failure, message: error.message })
    }
  }

  /** The connection to its broker failed, or could not be made; `pace` says when the broker may be tried again. */
  unreachable(partition: PartitionFetch, error: SourceError, pace: Pace = 'quick'): void {
    partition.readReplica = undefined
    this.report(partition, { kind: 'unreachable', failure: error.failure, message: error.message }, pace)
  }

  /** The broker answered, but not about this partition. */
  leftOut(partition: PartitionFetch, answer: string): void {
    const message = `the answer to ${answer} leaves ${partition.name} out`
    this.report(partition, { kind: 'unreachable', failure: 'protocol', message })
  }

  /** Tells the sink, waits, looks at the metadata anew. */
  report(partition: PartitionFetch, trouble: FetchTrouble, pace: Pace = 'slow'): void {
    partition.troubled = true
    const told = partition.deliver(() => partition.sink.onTrouble(trouble))
    void told.then(outcome => this.#settle(partition, outcome, () => void this.#wait(partition, pace)))
  }

  /** The leader says that the offset is not in its log: what is? */
  #outOfRange(partition: PartitionFetch, fetchOffset: number): void {
    let moved = false
    const told = partition.deliver(async () => {
      const trouble = await this.#rangeTrouble(partition, fetchOffset)
      if (partition.isStopped) return undefined
      if (!trouble) return 'continue'
      partition.troubled = true
      const decision: SinkDecision = await partition.sink.onTrouble(trouble)
      moved = partition.sink.position().offset !== fetchOffset
      return decision
    })
    const goOn = () => (moved ? this.#options.flow.proceed(partition) : void this.#wait(partition, 'slow'))
    void told.then(outcome => this.#settle(partition, outcome, goOn))
  }

  /** Undefined if the offset is in the log by now. */
  async #rangeTrouble(partition: PartitionFetch, fetchOffset: number): Promise<FetchTrouble | undefined> {
    try {
      const ask = (spec: 'earliest' | 'latest') =>
        this.#options.leaders.listOffsets(partition.topic, [partition.partition], {
          spec,
          isolation: 'read_uncommitted',
          signal: partition.signal,
        })
      const [earliest, latest] = await Promise.all([ask('earliest'), ask('latest')])
      const bounds = { earliest: earliest.get(partition.partition) ?? 0, latest: latest.get(partition.partition) ?? 0 }
      if (fetchOffset >= bounds.earliest && fetchOffset <= bounds.latest) return undefined
      return { kind: 'offset-out-of-range', fetchOffset, ...bounds }
    } catch (error) {
      const { failure, message } = sourceErrorOf(error)
      return {
        kind: 'unreachable',
        failure,
        message: `offset ${fetchOffset} of ${partition.name} is out of range: ${message}`,
      }
    }
  }

  /** Acts on the decision of a sink; `next` says how to go on with 'continue'. */
  #settle(partition: PartitionFetch, outcome: Awaited<ReturnType<PartitionFetch['deliver']>>, next: () => void): void {
    if (outcome === undefined || partition.isStopped) return
    if (outcome === 'stop') this.#options.flow.end(partition)
    else if (outcome === 'continue') next()
    else if ('retryAfterMs' in outcome) void this.#hold(partition, outcome.retryAfterMs)
    else {
      this.#options.logger.error(`the sink of ${partition.name} failed`, { error: messageOf(outcome.failed) })
      void this.#wait(partition, 'slow')
    }
  }

  /** The sink asked for a pause; nothing of the source's failed. */
  async #hold(partition: PartitionFetch, delayMs: number): Promise<void> {
    partition.enter('waiting')
    await sleep(this.#options.clock, delayMs, partition.signal)
    this.proceed(partition)
  }

  /** A number is that many milliseconds; it counts as a failure too. */
  async #wait(partition: PartitionFetch, pace: Pace): Promise<void> {
    if (partition.isStopped) return
    partition.enter('waiting')
    const delayMs = partition.nextDelayMs(pace === 'slow' ? 'slow' : 'quick')
    await sleep(this.#options.clock, typeof pace === 'number' ? pace : delayMs, partition.signal)
    if (!partition.isStopped) this.#options.flow.lookAgain(partition)
  }
}
