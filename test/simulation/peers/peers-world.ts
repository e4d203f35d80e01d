// Two linked clusters in memory under faults: processes that die at any effect, disks that fail or answer late, a network between the sides that is cut in either direction. All from one seed.
import { ManualClock } from '../../../src/core/clock.ts'
import { type Random, seededRandom } from '../../../src/core/random.ts'
import { mirrorRequest } from '../../../src/link/fakes/engine-world.ts'
import { SimulatedPeer } from './simulated-peer.ts'

/** Whose roles change; a run has the first few of them. */
const topicNames = ['orders', 'payments', 'audit'] as const

/** A place of a topic, in words. */
export const placeOf = (topic: string, partition: number): string => `${topic}-${partition}`

export class PeersWorld {
  readonly seed: number
  readonly random: Random
  readonly clock = new ManualClock()
  readonly east: SimulatedPeer
  readonly west: SimulatedPeer
  readonly topics: readonly string[]
  readonly trace: string[] = []
  /** Links that were deleted: what is recorded of forks goes with them. */
  deletedLinks = 0

  constructor(seed: number) {
    this.seed = seed
    this.random = seededRandom(seed)
    this.topics = topicNames.slice(0, 1 + this.below(topicNames.length))
    const { clock, random } = this
    // Now and then a reverse waits longer than transactions last, now and then it has them aborted.
    const reverseTransactionWaitMs = this.random() < 0.5 ? 2000 : 60_000
    const more = { clock, random, reverseTransactionWaitMs }
    this.east = new SimulatedPeer('east', { ...more, remote: () => this.west })
    this.west = new SimulatedPeer('west', { ...more, remote: () => this.east })
  }

  get sides(): readonly [SimulatedPeer, SimulatedPeer] {
    return [this.east, this.west]
  }

  other(side: SimulatedPeer): SimulatedPeer {
    return side === this.east ? this.west : this.east
  }

  below(limit: number): number {
    return Math.floor(this.random() * limit)
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[this.below(items.length)]
  }

  note(text: string): void {
    this.trace.push(`${Math.round(this.clock.monotonicMs())} ms: ${text}`)
  }

  /** Both run and are linked, and west mirrors the topics. */
  async begin(fill: (topic: string) => void): Promise<void> {
    for (const side of this.sides) side.start()
    await this.step(1000)
    for (const side of this.sides) await this.until(side.cluster.link('twin', this.linkConfigs()))
    for (const topic of this.topics) {
      this.east.cluster.cluster.addTopic(topic, 1 + this.below(2))
      fill(topic)
      await this.until(this.west.cluster.engine.createMirror('twin', mirrorRequest(topic)))
    }
    await this.step(2000)
  }

  /** Each half syncs groups in mirrors here, in mirrors there, or both. */
  linkConfigs(): Record<string, string> {
    const types = [['LOCAL_MIRROR', 'REMOTE_MIRROR'], ['LOCAL_MIRROR'], ['REMOTE_MIRROR']]
    const topicTypes = types[Math.floor(this.random() ** 2 * types.length)] ?? []
    const groupFilters = [{ name: '*', patternType: 'LITERAL', filterType: 'INCLUDE', topicTypes }]
    return {
      'consumer.offset.sync.enable': 'true',
      'consumer.offset.sync.ms': '2000',
      'consumer.offset.group.filters': JSON.stringify({ groupFilters }),
    }
  }

  /** Time goes by, with fetches where the network lets them through. */
  async step(ms: number, look: () => void = () => {}): Promise<void> {
    const stepMs = 250
    for (let passed = 0; passed < ms; passed += stepMs) {
      for (const side of this.sides) {
        const nowMs = this.clock.monotonicMs()
        side.cluster.asSource.failure = this.other(side).isCutOff ? { failure: 'tcp', message: 'cut' } : undefined
        if (side.isDead || side.isCutOff) side.troubledMs = nowMs
        side.fetch(this.other(side).cluster)
      }
      await this.clock.advance(Math.min(stepMs, ms - passed))
      look()
    }
  }

  /** Goes on until it is answered; a process that dies never answers. */
  async until<T>(answer: Promise<T>, withinMs = 30_000): Promise<T | undefined> {
    let settled = false
    const done = answer.finally(() => {
      settled = true
    })
    done.catch(() => {})
    for (let passed = 0; passed < withinMs && !settled; passed += 250) await this.step(250)
    return settled ? await done : undefined
  }
}
