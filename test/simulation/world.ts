/** Everything that outlives a process in the simulation, and the process that runs now. */
import { ManualClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { type Random, seededRandom } from '../../src/core/random.ts'
import { Engine } from '../../src/link/engine.ts'
import type { StateRecord } from '../../src/link/ports.ts'
import { linkOf } from './link-names.ts'
import { SimulatedCluster } from './simulated-cluster.ts'
import type { NetworkFaults } from './simulated-fetch.ts'
import { type LocalFaults, SimulatedProcess, soundDisk } from './simulated-process.ts'
import { simulatedSources } from './simulated-source.ts'
import { simulatedStateLog } from './simulated-state-log.ts'
import { SourceModel } from './source-model.ts'
import { Witness } from './witness.ts'

export const soundNetwork: NetworkFaults = { lostAnswerRate: 0, latencyMsMax: 5 }

export class World {
  readonly seed: number
  readonly random: Random
  readonly clock = new ManualClock()
  /** What link `west` and link `east` mirror. */
  readonly source = new SourceModel('source-cluster')
  readonly east = new SourceModel('east-cluster')
  readonly sources = [this.source, this.east] as const
  readonly witness: Witness
  readonly cluster: SimulatedCluster
  readonly stateRecords: StateRecord[] = []
  readonly localFaults: LocalFaults = { ...soundDisk }
  readonly networkFaults: NetworkFaults = { ...soundNetwork }
  process: SimulatedProcess
  engine: Engine
  isStopping = false
  /** How many processes there were. */
  lives = 0
  effects = 0
  /** Batches appended at the source so far. */
  batches = 0
  /** What was done, for reports. */
  readonly trace: string[] = []

  constructor(seed: number) {
    this.seed = seed
    this.random = seededRandom(seed)
    this.witness = new Witness(this.clock, this.sources)
    this.cluster = new SimulatedCluster(this.witness)
    this.process = this.#newProcess()
    this.engine = this.#newEngine()
  }

  /** An orderly stop, which may be under way when the machine loses its power. */
  stop(): void {
    this.isStopping = true
    void this.engine.stop()
  }

  /** The machine loses its power: of what was not flushed any part may be gone. Another process starts. */
  kill(): void {
    this.isStopping = false
    this.process.kill()
    this.effects += this.process.effects.length
    for (const topic of this.cluster.topics.values())
      for (const log of topic.logs) {
        const unflushed = log.batches.filter(batch => batch.header.lastOffset >= log.flushedOffset)
        const survivor = unflushed[Math.floor(this.random() * (unflushed.length + 1)) - 1]
        if (survivor) log.flushedOffset = survivor.header.lastOffset + 1
      }
    this.cluster.loseUnflushed()
    this.#startAnew()
  }

  /** Another process takes over while this one still runs, for a while; nothing on disks is lost. */
  takeOver(zombieMs: number): void {
    const deposed = this.process
    deposed.depose()
    this.witness.zombieUntilMs = Math.max(this.witness.zombieUntilMs, this.clock.monotonicMs() + zombieMs)
    this.clock.after(zombieMs, () => deposed.kill())
    this.effects += deposed.effects.length
    this.#startAnew()
  }

  /** A restart after which the same things may be asked again. */
  #startAnew(): void {
    this.isStopping = false
    this.cluster.forgetAdoptions()
    this.process = this.#newProcess()
    this.engine = this.#newEngine()
    void this.engine.start()
  }

  /** The source of a link's mirrors. */
  modelOf(clusterId: string): SourceModel {
    return clusterId === this.east.clusterId ? this.east : this.source
  }

  /** The source of a topic's mirror. */
  modelOfTopic(topic: string): SourceModel {
    return linkOf(topic) === 'east' ? this.east : this.source
  }

  /** Disks or network changed. */
  slow(): void {
    const isSlow = Math.max(this.localFaults.latencyMsMax, this.networkFaults.latencyMsMax) > soundDisk.latencyMsMax
    if (isSlow) this.witness.slowUntilMs = Number.POSITIVE_INFINITY
    else if (this.witness.slowUntilMs === Number.POSITIVE_INFINITY)
      this.witness.slowUntilMs = this.clock.monotonicMs() + 15_000
  }

  note(text: string): void {
    this.trace.push(`${this.clock.monotonicMs()} ms: ${text}`)
  }

  /** A whole number below `bound`. */
  below(bound: number): number {
    return Math.floor(this.random() * bound)
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[this.below(items.length)]
  }

  #newProcess(): SimulatedProcess {
    this.lives++
    const random = seededRandom(this.seed * 1000 + this.lives)
    return new SimulatedProcess({ clock: this.clock, random, faults: this.localFaults })
  }

  #newEngine(): Engine {
    const { process, networkFaults: faults } = this
    return new Engine({
      stateLog: simulatedStateLog(this.stateRecords, process, {
        effect: 'append state',
        decided: records => this.witness.decided(records),
      }),
      statusLog: simulatedStateLog(this.cluster.statusRecords, process, { effect: 'append status' }),
      destination: this.cluster.destination(process),
      sources: simulatedSources({ process, faults }, address => (address.startsWith('east') ? this.east : this.source)),
      clock: process.clock,
      random: process.random,
      logger: silentLogger,
    })
  }
}
