/** Sends broker heartbeats to the active controller (BrokerHeartbeat, key 63); runs in the heartbeat thread. */
import type { Backoff } from '../../core/backoff.ts'
import { type Clock, sleep } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Uuid } from '../../core/uuid.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { BrokerHeartbeatApi } from '../../protocol/messages/63-broker-heartbeat.ts'
import type { ActiveController } from './active-controller.ts'
import type { HeartbeatMemory } from './heartbeat-memory.ts'

/** What the main thread is told of a heartbeat. */
export type HeartbeatReport =
  | {
      readonly kind: 'answered'
      /** The registration that it was about. */
      readonly brokerEpoch: number
      readonly fenced: boolean
      readonly caughtUp: boolean
      /** All leaderships are moved: the stop that was asked for may go on. It was the last heartbeat. */
      readonly shouldShutDown: boolean
      /** The main thread stood still, so this heartbeat asked to be fenced. */
      readonly hung: boolean
    }
  /** The cluster does not know this registration any more: register again. */
  | { readonly kind: 'stale'; readonly brokerEpoch: number }
  /** `error` is Kafka's name of it. */
  | { readonly kind: 'refused'; readonly error: string }
  | { readonly kind: 'unreachable'; readonly reason: string }

export interface HeartbeatLoopOptions {
  readonly active: ActiveController
  readonly memory: HeartbeatMemory
  readonly nodeId: number
  readonly directoryId: Uuid
  /** `broker.heartbeat.interval.ms`. */
  readonly intervalMs: number
  /** The main thread hangs if it gives no sign of life for so long. */
  readonly hungMs: number
  readonly timeoutMs: number
  /** Before the next try when nobody was reached: well below the interval. */
  readonly backoff: Backoff
  readonly clock: Clock
  readonly report: (report: HeartbeatReport) => void
}

const CORDON_VERSION = 2

/** A start that goes on with the session of the last life may take so long; then others shall lead. */
const START_MS_MAX = 20_000

export class HeartbeatLoop {
  readonly #options: HeartbeatLoopOptions
  readonly #closing = new AbortController()
  readonly #running: Promise<void>
  #wait = new AbortController()
  #alive: { readonly ticks: bigint; readonly atMs: number }
  /** Since when the node has been starting; undefined while it is not. */
  #startingMs: number | undefined

  constructor(options: HeartbeatLoopOptions) {
    this.#options = options
    this.#alive = { ticks: options.memory.ticks, atMs: options.clock.monotonicMs() }
    this.#running = this.#run()
  }

  /** The next heartbeat is due now: what it says has changed. */
  beatSoon(): void {
    this.#wait.abort()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#wait.abort()
    this.#options.active.close()
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock, intervalMs, memory, report, backoff } = this.#options
    while (!this.#closing.signal.aborted) {
      this.#wait = new AbortController()
      const beganMs = clock.monotonicMs()
      const outcome = memory.brokerEpoch < 0n ? undefined : await this.#beat()
      if (this.#closing.signal.aborted) return
      if (outcome) report(outcome)
      // One more heartbeat would begin a new session, and the next life would have to wait for its end.
      if (outcome?.kind === 'answered' && outcome.shouldShutDown) return
      if (outcome?.kind !== 'unreachable') backoff.reset()
      const waitMs = outcome?.kind === 'unreachable' ? backoff.nextMs() : beganMs + intervalMs - clock.monotonicMs()
      await sleep(clock, Math.max(0, waitMs), this.#wait.signal)
    }
  }

  async #beat(): Promise<HeartbeatReport> {
    const { active, memory, nodeId, directoryId, timeoutMs } = this.#options
    const { brokerEpoch, metadataOffset, cordoned } = memory
    const hung = this.#isHung()
    try {
      const leader = await active.leader()
      const version = leader.connection.versionFor(BrokerHeartbeatApi.request.apiKey)
      const directories =
        version !== undefined && version >= CORDON_VERSION ? { cordonedLogDirs: cordoned ? [directoryId] : [] } : {}
      const request = {
        brokerId: nodeId,
        brokerEpoch,
        currentMetadataOffset: metadataOffset,
        wantFence: memory.wantFence || hung,
        wantShutDown: memory.wantShutDown,
        ...directories,
      }
      const { response } = await leader.connection.send(BrokerHeartbeatApi, request, { timeoutMs }).catch(error => {
        active.lost(leader)
        throw error
      })
      const { errorCode, isFenced: fenced, isCaughtUp: caughtUp, shouldShutDown } = response
      if (errorCode === ErrorCode.NONE)
        return { kind: 'answered', brokerEpoch: Number(brokerEpoch), fenced, caughtUp, shouldShutDown, hung }
      if (errorCode === ErrorCode.NOT_CONTROLLER) {
        active.lost(leader)
        return { kind: 'unreachable', reason: 'the controller that was asked is not the active one' }
      }
      if (STALE.has(errorCode)) return { kind: 'stale', brokerEpoch: Number(brokerEpoch) }
      return { kind: 'refused', error: errorName(errorCode) }
    } catch (error) {
      return { kind: 'unreachable', reason: messageOf(error) }
    }
  }

  #isHung(): boolean {
    const { memory, clock, hungMs } = this.#options
    const ticks = memory.ticks
    const nowMs = clock.monotonicMs()
    this.#startingMs = memory.starting ? (this.#startingMs ?? nowMs) : undefined
    if (ticks !== this.#alive.ticks || this.#startingMs !== undefined) this.#alive = { ticks, atMs: nowMs }
    if (this.#startingMs !== undefined) return nowMs - this.#startingMs >= START_MS_MAX
    return nowMs - this.#alive.atMs >= hungMs
  }
}

const STALE: ReadonlySet<number> = new Set([ErrorCode.STALE_BROKER_EPOCH, ErrorCode.BROKER_ID_NOT_REGISTERED])
