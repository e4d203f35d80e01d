/** Everything that outlives a process in the simulation, and the process that runs now. */
import { ManualClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { type Random, seededRandom } from '../../src/core/random.ts'
import { Engine } from '../../src/link/engine.ts'
import { FakeCluster } from '../../src/link/fakes/fake-cluster.ts'
import type { StateRecord } from '../../src/link/ports.ts'
import type { NetworkFaults } from './simulated-fetch.ts'
import { type LocalFaults, SimulatedProcess, soundDisk } from './simulated-process.ts'
import { simulatedSource } from './simulated-source.ts'
import { simulatedStateLog } from './simulated-state-log.ts'
import { SourceModel } from './source-model.ts'

export const soundNetwork: NetworkFaults = { lostAnswerRate: 0, latencyMsMax: 5 }

export class World {
  readonly seed: number
  readonly random: Random
  readonly clock = new ManualClock()
  readonly source = new SourceModel()
  readonly cluster = new FakeCluster()
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
    this.process = this.#newProcess()
    this.engine = this.#newEngine()
    void this.engine.start()
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
    const { process, source: model, networkFaults: faults } = this
    return new Engine({
      stateLog: simulatedStateLog(this.stateRecords, process, 'append state'),
      statusLog: simulatedStateLog(this.cluster.statusRecords, process, 'append status'),
      destination: this.cluster.destination(process),
      sources: simulatedSource({ model, process, faults }),
      clock: process.clock,
      random: process.random,
      logger: silentLogger,
    })
  }
}
