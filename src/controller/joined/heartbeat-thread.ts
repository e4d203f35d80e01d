/** Starts and steers the thread that sends this node's heartbeats; the membership in a cluster owns one. */
import { Worker } from 'node:worker_threads'
import type { Clock, Timer } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Uuid } from '../../core/uuid.ts'
import type { QuorumAddresses } from './active-controller.ts'
import type { HeartbeatReport } from './heartbeat-loop.ts'
import { HeartbeatMemory } from './heartbeat-memory.ts'
import type { QuorumSecurity } from './quorum-connection.ts'

/** What the thread is given; plain data. */
export interface HeartbeatSetting {
  readonly clientId: string
  readonly addresses: QuorumAddresses
  readonly security: QuorumSecurity
  readonly clusterId: string | null
  readonly nodeId: number
  readonly directoryId: Uuid
  readonly intervalMs: number
  readonly hungMs: number
  readonly timeoutMs: number
}

export interface HeartbeatThreadOptions {
  readonly setting: HeartbeatSetting
  readonly clock: Clock
  readonly logger: Logger
  readonly report: (report: HeartbeatReport) => void
}

/** Several signs of life go into the time after which we count as hung. */
const TICKS_PER_HANG = 12

/** Before a thread that failed is started again; well within a session. */
const RESTART_MS = 500

export class HeartbeatThread {
  readonly memory = new HeartbeatMemory()
  readonly #options: HeartbeatThreadOptions
  #worker: Worker
  #ended: Promise<void>
  #ticking: Timer | undefined
  #restarting: Timer | undefined
  #closing = false

  constructor(options: HeartbeatThreadOptions) {
    this.#options = options
    const { setting, clock } = options
    const { worker, ended } = this.#start()
    this.#worker = worker
    this.#ended = ended
    const tick = () => {
      this.memory.tick()
      this.#ticking = clock.after(setting.hungMs / TICKS_PER_HANG, tick)
    }
    tick()
  }

  /** What the memory says is sent now. */
  beatSoon(): void {
    this.#worker.postMessage('beat')
  }

  async close(): Promise<void> {
    this.#closing = true
    this.#ticking?.cancel()
    this.#restarting?.cancel()
    this.#worker.postMessage('close')
    await this.#ended
  }

  #start(): { worker: Worker; ended: Promise<void> } {
    const { setting, clock, logger, report } = this.#options
    // Sources run as they are, a built package as JavaScript.
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const worker = new Worker(new URL(`./heartbeat-worker.${extension}`, import.meta.url), {
      workerData: { ...setting, memory: this.memory.buffer },
    })
    worker.on('message', report)
    worker.on('error', error => logger.error('the heartbeat thread failed', { reason: error.message }))
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    worker.once('exit', () => {
      resolve()
      if (this.#closing) return
      report({ kind: 'unreachable', reason: 'the heartbeat thread ended' })
      this.#restarting = clock.after(RESTART_MS, () => {
        const next = this.#start()
        this.#worker = next.worker
        this.#ended = next.ended
      })
    })
    return { worker, ended }
  }
}
