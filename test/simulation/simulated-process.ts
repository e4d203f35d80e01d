/** One life of our node in the simulation: every effect takes time, may fail, may happen without its answer arriving, or never end. */
import type { Clock, ManualClock, Timer } from '../../src/core/clock.ts'
import { sleep } from '../../src/core/clock.ts'
import type { Random } from '../../src/core/random.ts'
import { CrashingProcess } from '../../src/link/fakes/crashing-process.ts'
import { NotLinkCoordinator } from '../../src/link/ports.ts'

/** What is wrong with our own disks at the moment; rates are per effect. */
export interface LocalFaults {
  /** Effects fail without having happened. */
  failureRate: number
  /** Effects happen, and whoever asked is told that they failed. */
  lostAnswerRate: number
  /** Longest time of an effect. */
  latencyMsMax: number
}

export const soundDisk: LocalFaults = { failureRate: 0, lostAnswerRate: 0, latencyMsMax: 5 }

/** After `kill` nothing of it goes on: its timers never fire, its effects never happen, its promises never settle. */
export class SimulatedProcess extends CrashingProcess {
  readonly clock: Clock
  readonly random: Random
  readonly #faults: LocalFaults
  #deposed = false

  constructor(options: { clock: ManualClock; random: Random; faults: LocalFaults }) {
    super()
    this.clock = clockOf(options.clock, this)
    this.random = options.random
    this.#faults = options.faults
  }

  /** Another process took over the state topic and leads the logs; what this one has begun elsewhere still happens. */
  depose(): void {
    this.#deposed = true
  }

  override async effect<T>(name: string, happen: () => T): Promise<T> {
    await this.pass()
    if (this.#deposed && !unfenced.has(name)) throw new NotLinkCoordinator(`simulated: ${name} of a deposed process`)
    if (this.random() < this.#faults.failureRate) throw new Error(`simulated: ${name} failed`)
    // Whoever is killed at this very moment must not learn of anything.
    const result = await super
      .effect(name, happen)
      .catch((error: unknown) => (this.killed ? forever() : Promise.reject(error)))
    await this.pass()
    if (this.random() < this.#faults.lostAnswerRate) throw new Error(`simulated: the answer to ${name} was lost`)
    return result
  }

  /** Time that an effect takes. */
  async pass(): Promise<void> {
    await sleep(this.clock, Math.round(this.random() ** 3 * this.#faults.latencyMsMax))
  }
}

/** What no leader epoch protects from a process that was the link coordinator a moment ago. */
const unfenced: ReadonlySet<string> = new Set([
  'commit group offsets',
  'create ACLs',
  'delete ACLs',
  'alter topic configs',
  'raise producer ids',
])

const forever = () => new Promise<never>(() => {})

/** The clock as one process sees it. */
function clockOf(clock: ManualClock, process: { readonly killed: boolean }): Clock {
  return {
    nowMs: () => clock.nowMs(),
    monotonicMs: () => clock.monotonicMs(),
    after(delayMs: number, action: () => void): Timer {
      if (process.killed) return { cancel: () => {} }
      return clock.after(delayMs, () => {
        if (!process.killed) action()
      })
    },
  }
}
