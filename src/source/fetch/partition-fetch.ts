/** One partition that is being fetched: where it stands, and its sink, which is called by one caller at a time; owned by the fetcher. */
import { Backoff } from '../../core/backoff.ts'
import type { Clock } from '../../core/clock.ts'
import type { Random } from '../../core/random.ts'
import type { Uuid } from '../../core/uuid.ts'
import type { FetchSink, SinkDecision } from '../../link/ports.ts'
import type { BrokerConnection } from '../../network/broker-connection.ts'

/** Where the partition is led, as the fetcher last routed it. */
export interface Route {
  readonly leader: number
  readonly leaderEpoch: number
  /** Zero uuid if the source has none. */
  readonly topicId: Uuid
}

/**
 * waiting = for metadata or for the end of a backoff; ready = the next fetch of its slot takes it; fetching = in a request;
 * delivering = its sink is working; stopped = for good.
 */
export type FetchPhase = 'waiting' | 'ready' | 'fetching' | 'delivering' | 'stopped'

/** Positions of the source's log as last told to the sink, and when. */
export interface SeenPositions {
  readonly receivedMs: number
  readonly highWatermark: number
  readonly lastStableOffset: number
  readonly logStartOffset: number
  readonly leaderEpoch: number
}

const BACKOFF_MS_MAX = 10_000

/** A partition is in exactly one phase; only `stopped` is final. An object is used for one start: a new start makes a new one. */
export class PartitionFetch {
  readonly topic: string
  readonly partition: number
  readonly sink: FetchSink
  route: Route | undefined
  /** The source redirects its readers to this replica until then (KIP-392). */
  readReplica: { readonly brokerId: number; readonly untilMs: number } | undefined
  /** The connection and leader epoch for which the source was asked for the end of our epoch. */
  checkedFor: { readonly connection: BrokerConnection; readonly leaderEpoch: number } | undefined
  seen: SeenPositions | undefined
  /** The sink was told of a trouble and of no success since. */
  troubled = false
  /** Since when the sink is working. */
  deliveringSinceMs = 0
  readonly #clock: Clock
  readonly #quickBackoff: Backoff
  readonly #slowBackoff: Backoff
  #phase: FetchPhase = 'waiting'
  readonly #stopping = new AbortController()
  #call: Promise<void> = Promise.resolve()

  constructor(
    target: { topic: string; partition: number; sink: FetchSink },
    options: { clock: Clock; random: Random; retryBackoffMs: number; fetchBackoffMs: number },
  ) {
    this.topic = target.topic
    this.partition = target.partition
    this.sink = target.sink
    this.#clock = options.clock
    const { random, retryBackoffMs, fetchBackoffMs } = options
    this.#quickBackoff = new Backoff({ initialMs: retryBackoffMs, maxMs: BACKOFF_MS_MAX, random })
    this.#slowBackoff = new Backoff({
      initialMs: fetchBackoffMs,
      maxMs: Math.max(BACKOFF_MS_MAX, fetchBackoffMs),
      random,
    })
  }

  get name(): string {
    return `${this.topic}-${this.partition}`
  }

  get phase(): FetchPhase {
    return this.#phase
  }

  get isStopped(): boolean {
    return this.#phase === 'stopped'
  }

  /** Ignored once the partition is stopped. */
  enter(phase: Exclude<FetchPhase, 'stopped'>): void {
    if (!this.isStopped) this.#phase = phase
  }

  /** Consecutive failures. */
  get failures(): number {
    return this.#quickBackoff.attempts + this.#slowBackoff.attempts
  }

  /** Counts a failure and says how long to wait. quick = from the retry backoff on, slow = from the fetch backoff on. */
  nextDelayMs(pace: 'quick' | 'slow'): number {
    return (pace === 'quick' ? this.#quickBackoff : this.#slowBackoff).nextMs()
  }

  /** A fetch succeeded. */
  recovered(): void {
    this.#quickBackoff.reset()
    this.#slowBackoff.reset()
  }

  /** Aborted by stop(): for questions asked on the sink's behalf. */
  get signal(): AbortSignal {
    return this.#stopping.signal
  }

  /**
   * Runs `work`, which calls the sink unless the partition was stopped meanwhile. Resolves to the sink's decision, to the
   * error that `work` threw, or to undefined if the partition is stopped now. Never rejects.
   */
  async deliver(
    work: () => Promise<SinkDecision | undefined>,
  ): Promise<SinkDecision | { readonly failed: unknown } | undefined> {
    if (this.isStopped) return undefined
    this.enter('delivering')
    this.deliveringSinceMs = this.#clock.monotonicMs()
    const outcome = (async () => await work())().catch((failed: unknown) => ({ failed }))
    this.#call = outcome.then(() => {})
    const decision = await outcome
    return this.isStopped ? undefined : decision
  }

  /** Resolves when the sink is not being called and never will be again. */
  async stop(): Promise<void> {
    this.#phase = 'stopped'
    this.#stopping.abort(new Error(`the fetch of ${this.name} was stopped`))
    await this.#call
  }
}
