/** Follows one leader: fetches all partitions of it that this node follows, over a connection of its own, one request at a time. ReplicaFetchers owns one per leader. */
import { Backoff } from '../../core/backoff.ts'
import { forEachBounded } from '../../core/bounded-work.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { systemRandom } from '../../core/random.ts'
import { ConnectionError } from '../../network/connection-error.ts'
import { BatchError } from '../../protocol/batches/batch-error.ts'
import { isStorageFailure } from '../log-failure.ts'
import { takeAnswer } from './follow-answer.ts'
import {
  type AskedPartition,
  type FollowerIdentity,
  type FollowLimits,
  fetchFrom,
  type LeaderConnection,
  leaderOffset,
  type PartitionAnswer,
} from './follow-request.ts'
import type { FollowedPartition } from './followed-partition.ts'

export interface FetcherOptions {
  readonly connections: {
    open(brokerId: number, options: { readonly signal: AbortSignal }): Promise<LeaderConnection>
  }
  readonly identity: () => FollowerIdentity
  readonly limits: FollowLimits
  /** `replica.fetch.backoff.ms`: before a partition is asked for again that could not be fetched. */
  readonly backoffMs: number
  /** The disk failed under a partition. */
  readonly storageFailed: (partition: FollowedPartition, error: unknown) => void
  readonly flushSoon: (partition: FollowedPartition) => void
  readonly clock: Clock
  readonly logger: Logger
}

const RECONNECT_MS = 100
const RECONNECT_MS_MAX = 2000
/** Logs written at the same time. */
const PARALLEL_APPENDS = 8

export class LeaderFetcher {
  readonly #o: FetcherOptions
  readonly #leaderId: number
  readonly #logger: Logger
  /** In the order in which they are asked for, with the time from which on they may be. */
  readonly #partitions = new Map<FollowedPartition, number>()
  readonly #closing = new AbortController()
  readonly #backoff = new Backoff({ initialMs: RECONNECT_MS, maxMs: RECONNECT_MS_MAX, random: systemRandom })
  #connection: LeaderConnection | undefined
  #wake: (() => void) | undefined
  readonly #running: Promise<void>

  constructor(leaderId: number, options: FetcherOptions) {
    this.#o = options
    this.#leaderId = leaderId
    this.#logger = options.logger.child({ component: 'follower', leader: leaderId })
    this.#running = this.#run()
  }

  get size(): number {
    return this.#partitions.size
  }

  /** Also for one that is there already: a new leader epoch ends its wait. */
  add(partition: FollowedPartition): void {
    this.#partitions.set(partition, 0)
    this.#wake?.()
  }

  remove(partition: FollowedPartition): void {
    this.#partitions.delete(partition)
  }

  /** Resolves when nothing is appended any more. */
  async close(): Promise<void> {
    this.#closing.abort()
    this.#connection?.close()
    this.#wake?.()
    await this.#running
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing
    while (!signal.aborted) {
      const due = this.#due()
      if (due.length === 0) {
        await this.#idle()
        continue
      }
      try {
        await this.#round(await this.#connected(), due)
        this.#backoff.reset()
      } catch (error) {
        if (signal.aborted) return
        this.#lost(due, error)
        await sleep(this.#o.clock, this.#backoff.nextMs(), signal)
      }
    }
  }

  async #round(connection: LeaderConnection, due: readonly FollowedPartition[]): Promise<void> {
    const { signal } = this.#closing
    const { limits, identity } = this.#o
    const asked = due.map(partition => ({ partition, from: partition.position }))
    const { answers, release } = await fetchFrom(connection, asked, { identity: identity(), limits, signal })
    try {
      await forEachBounded(asked, PARALLEL_APPENDS, async one => {
        const answer = answers.get(one.partition)
        if (answer) await this.#take(connection, one, answer)
        else this.#delay(one.partition, 'the leader does not answer for it')
      })
    } finally {
      release()
    }
  }

  /** Rejects only where the connection is of no use any more. */
  async #take(connection: LeaderConnection, asked: AskedPartition, answer: PartitionAnswer): Promise<void> {
    const { partition, from } = asked
    const { signal } = this.#closing
    const { brokerId } = this.#o.identity()
    try {
      const bytes = await takeAnswer(asked, answer, {
        offset: (one, which) => leaderOffset(connection, one, { which, brokerId, signal }),
      })
      if (partition.tellProblem(undefined))
        this.#logger.info('a partition is followed again', { partition: partition.name })
      if (bytes === 0) return
      this.#o.flushSoon(partition)
      // Who brought data comes last next time.
      if (this.#partitions.delete(partition)) this.#partitions.set(partition, 0)
    } catch (error) {
      if (error instanceof ConnectionError) throw error
      // Moved or deleted meanwhile: its answer is of no interest.
      if (partition.unavailable || partition.leaderEpoch !== from.leaderEpoch || signal.aborted) return
      if (!(error instanceof BatchError) && isStorageFailure(error)) this.#o.storageFailed(partition, error)
      this.#delay(partition, messageOf(error))
    }
  }

  #due(): FollowedPartition[] {
    const nowMs = this.#o.clock.monotonicMs()
    const due: FollowedPartition[] = []
    for (const [partition, dueMs] of this.#partitions) if (dueMs <= nowMs && !partition.unavailable) due.push(partition)
    return due
  }

  #delay(partition: FollowedPartition, problem: string): void {
    if (this.#partitions.has(partition))
      this.#partitions.set(partition, this.#o.clock.monotonicMs() + this.#o.backoffMs)
    if (partition.tellProblem(problem))
      this.#logger.warn('a partition cannot be followed at present', { partition: partition.name, problem })
  }

  /** Until a partition comes, or one has waited long enough. */
  async #idle(): Promise<void> {
    const { clock } = this.#o
    const nextMs = Math.min(...this.#partitions.values())
    const waitMs = Math.max(1, nextMs - clock.monotonicMs())
    await new Promise<void>(resolve => {
      const timer = Number.isFinite(waitMs) ? clock.after(waitMs, resolve) : undefined
      this.#wake = () => {
        timer?.cancel()
        resolve()
      }
      if (this.#closing.signal.aborted) this.#wake()
    })
    this.#wake = undefined
  }

  async #connected(): Promise<LeaderConnection> {
    if (this.#connection?.isOpen) return this.#connection
    const { signal } = this.#closing
    this.#connection = await this.#o.connections.open(this.#leaderId, { signal })
    if (signal.aborted) this.#connection.close()
    return this.#connection
  }

  #lost(due: readonly FollowedPartition[], error: unknown): void {
    this.#connection?.close()
    this.#connection = undefined
    const problem = messageOf(error)
    const isNews = due.filter(partition => partition.tellProblem(problem)).length > 0
    if (isNews) this.#logger.warn('a leader cannot be followed at present', { partitions: due.length, problem })
  }
}
