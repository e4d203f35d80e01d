/** One connection to a source broker with at most one Fetch under way, for some of the broker's partitions; made by the broker's slots. */
import { Backoff } from '../../core/backoff.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Random } from '../../core/random.ts'
import type { SourceConnectionSettings } from '../../link/ports.ts'
import type { BrokerConnection } from '../../network/broker-connection.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { FetchApi } from '../../protocol/messages/01-fetch.ts'
import type { BrokerPool } from '../broker-pool.ts'
import { sourceErrorForCode, sourceErrorOf } from '../source-error-of.ts'
import type { AnswerDelivery } from './answer-delivery.ts'
import { checkEpochs } from './epoch-check.ts'
import type { AskedPartition } from './fetch-exchange.ts'
import type { FetchThrottle } from './fetch-throttle.ts'
import { fetchVersionFor } from './fetch-version.ts'
import { FetchWindow } from './fetch-window.ts'
import type { PartitionFetch } from './partition-fetch.ts'
import type { PartitionOutcomes } from './partition-outcomes.ts'
import { SlotSession } from './slot-session.ts'

/** What all slots of a source share. */
export interface SlotContext {
  readonly settings: SourceConnectionSettings
  readonly pool: BrokerPool
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly outcomes: PartitionOutcomes
  readonly delivery: AnswerDelivery
  /** Waits until so many bytes may be in flight; resolves to the function that gives them back. */
  readonly acquire: (bytes: number, signal: AbortSignal) => Promise<() => void>
  readonly throttle: FetchThrottle
}

/** A slot at the tail waits so long for sinks that are about to end, rather than long-polling without their partitions. */
const GRACE_MS = 5
/** Long poll while a partition of the slot is with its sink: it must not miss its turn for long. Grows with its absence. */
const SHORT_POLL_MS_MIN = 10
const RECONNECT_BACKOFF_MS_MAX = 5000

/**
 * Takes whatever of its partitions is ready into each fetch. A partition that is with its sink is simply not in it, so a slow
 * sink never holds its neighbours up. Any failure of the connection gives all ready partitions to the outcomes.
 */
export class FetchSlot {
  readonly brokerId: number
  /** Partitions assigned to this slot, in whatever phase. */
  readonly members = new Set<PartitionFetch>()
  /** Resolves when the slot has ended and its connection is closed. */
  readonly ended: Promise<void>
  readonly #context: SlotContext
  readonly #window: FetchWindow
  readonly #session = new SlotSession()
  readonly #backoff: Backoff
  readonly #stopping = new AbortController()
  /** In the order in which they became ready: those that waited longest are filled first. */
  readonly #ready = new Set<PartitionFetch>()
  #wake = () => {}
  #connection: BrokerConnection | undefined
  /** Not before this: throttled by the source, or backing off. */
  #notBeforeMs = 0

  constructor(brokerId: number, context: SlotContext) {
    this.brokerId = brokerId
    this.#context = context
    const { settings, random } = context
    this.#window = new FetchWindow(settings.fetch.responseBytesMax)
    this.#backoff = new Backoff({ initialMs: settings.retryBackoffMs, maxMs: RECONNECT_BACKOFF_MS_MAX, random })
    this.ended = this.#run()
  }

  /** The partition is in the next fetch. */
  enqueue(partition: PartitionFetch): void {
    partition.enter('ready')
    this.members.add(partition)
    this.#ready.add(partition)
    this.#wake()
  }

  /** The partition moves elsewhere or ends; an answer under way for it is dropped if it is stopped, delivered if it is not. */
  remove(partition: PartitionFetch): void {
    this.members.delete(partition)
    this.#ready.delete(partition)
  }

  /** Ends the loop and closes the connection. */
  close(): void {
    this.#stopping.abort(new Error('the fetch slot is closed'))
    this.#connection?.close()
    this.#wake()
  }

  get #signal(): AbortSignal {
    return this.#stopping.signal
  }

  async #run(): Promise<void> {
    const { clock } = this.#context
    while (!this.#signal.aborted) {
      if (this.#ready.size === 0) {
        await this.#untilWoken()
        continue
      }
      await sleep(clock, Math.max(0, this.#notBeforeMs - clock.monotonicMs()), this.#signal)
      try {
        const connection = await this.#connected()
        await checkEpochs(this.#ready, { ...this.#context, brokerId: this.brokerId, connection, signal: this.#signal })
        await this.#grace()
        await this.#fetch(connection)
      } catch (error) {
        if (!this.#signal.aborted) this.#onFailure(error)
      }
    }
    this.#connection?.close()
  }

  #untilWoken(): Promise<void> {
    return new Promise(resolve => {
      this.#wake = resolve
      if (this.#ready.size > 0 || this.#signal.aborted) resolve()
    })
  }

  async #connected(): Promise<BrokerConnection> {
    if (this.#connection?.isOpen) return this.#connection
    this.#connection = await this.#context.pool.connectTo(this.brokerId, this.#signal)
    return this.#connection
  }

  #delivering(): PartitionFetch[] {
    return [...this.members].filter(partition => partition.phase === 'delivering')
  }

  async #grace(): Promise<void> {
    const { clock } = this.#context
    if (!this.#window.atTail || this.#delivering().length === 0) return
    const over = new AbortController()
    const timer = clock.after(GRACE_MS, () => over.abort())
    while (!over.signal.aborted && !this.#signal.aborted && this.#delivering().length > 0) {
      const woken = new Promise<void>(resolve => {
        this.#wake = resolve
        over.signal.addEventListener('abort', () => resolve(), { once: true })
      })
      await woken
    }
    timer.cancel()
  }

  /** Long, unless a partition of ours is with its sink. */
  #pollMs(): number {
    const { waitMaxMs } = this.#context.settings.fetch
    const absent = this.#delivering()
    if (absent.length === 0) return waitMaxMs
    const sinceMs = Math.min(...absent.map(partition => partition.deliveringSinceMs))
    const absentMs = this.#context.clock.monotonicMs() - sinceMs
    return Math.min(waitMaxMs, Math.max(SHORT_POLL_MS_MIN, Math.round(absentMs / 2)))
  }

  async #fetch(connection: BrokerConnection): Promise<void> {
    const { settings, clock, delivery, throttle } = this.#context
    await throttle.turn(this.#signal)
    const windowBytes = throttle.turnBytes(this.#window.bytes)
    const release = await this.#context.acquire(windowBytes, this.#signal)
    const waitMs = this.#pollMs()
    const asked = this.#take()
    if (asked.length === 0) return release()
    const { minBytes } = settings.fetch
    const partitionBytesMax = this.#window.shareBytes(asked.length, settings.fetch.partitionBytesMax)
    const limits = { waitMs, minBytes, partitionBytesMax, responseBytesMax: windowBytes }
    try {
      const topicIds = asked.map(({ route }) => route.topicId)
      const asking = fetchVersionFor(connection, topicIds)
      const answer = await connection.send(FetchApi, this.#session.requestFor(asked, limits, asking), {
        version: asking,
        timeoutMs: settings.fetch.timeoutMs + waitMs,
        signal: this.#signal,
      })
      const { version, response } = answer
      const receivedMs = clock.monotonicMs()
      const letGo = () => {
        release()
        answer.release()
      }
      if (this.#session.isLost(response)) {
        letGo()
        return this.#askAgain(asked)
      }
      if (response.errorCode !== ErrorCode.NONE)
        throw sourceErrorForCode(response.errorCode, `fetching from broker ${this.brokerId}`)
      this.#backoff.reset()
      this.#notBeforeMs = receivedMs + response.throttleTimeMs
      const answers = this.#session.answersOf(response, version, asked)
      const isThrottled = response.throttleTimeMs > 0
      throttle.heldBack(response.throttleTimeMs)
      const { brokerId } = this
      const delivered = delivery.deliver({ brokerId, asked, answers, isThrottled, receivedMs, release: letGo })
      throttle.pay(delivered)
      this.#window.record(delivered)
    } catch (error) {
      release()
      this.#session.broken()
      this.#askAgain(asked)
      throw error
    }
  }

  /** The next fetch takes them again. */
  #askAgain(asked: readonly AskedPartition[]): void {
    for (const { partition } of asked) if (partition.phase === 'fetching') this.enqueue(partition)
  }

  /** Takes the ready partitions out for a fetch. */
  #take(): AskedPartition[] {
    const asked: AskedPartition[] = []
    for (const partition of this.#ready) {
      const { route } = partition
      const position = this.#context.outcomes.positionOf(partition)
      if (!route || !position) continue
      partition.enter('fetching')
      asked.push({ partition, route, fetchOffset: position.offset })
    }
    this.#ready.clear()
    return asked
  }

  /** The connection cannot be used: everything that is ready learns why, and comes back after the backoff. */
  #onFailure(error: unknown): void {
    const { clock, outcomes, logger } = this.#context
    const failure = sourceErrorOf(error)
    this.#connection?.close()
    this.#connection = undefined
    const delayMs = this.#backoff.nextMs()
    this.#notBeforeMs = clock.monotonicMs() + delayMs
    logger.debug(`fetching from source broker ${this.brokerId} failed`, { error: failure.message, retryInMs: delayMs })
    const affected = [...this.#ready]
    this.#ready.clear()
    for (const partition of affected) outcomes.unreachable(partition, failure, delayMs)
  }
}
