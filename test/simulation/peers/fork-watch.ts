// Watches that there are never two writable copies while the sides can talk, unless an operator split them: by a failover or a promote outside of a reverse, or by one while the other side could not be asked. And that every fork is recorded.
import type { MirrorVerb } from '../../../src/link/engine-api.ts'
import type { PeersWorld } from './peers-world.ts'
import type { SimulatedPeer } from './simulated-peer.ts'

/** A verb may take so long after it was asked for, also over a restart. */
const aftermathMs = 60_000

/** How long a failover waits for the other side, and what it has read of it may be old. */
const silenceMs = 15_000

/** Sides that could talk for so long have agreed who writes. */
const agreedMs = 20_000

export class ForkWatch {
  readonly #world: PeersWorld
  readonly #topics: readonly TopicWatch[]

  constructor(world: PeersWorld) {
    this.#world = world
    this.#topics = world.topics.map(topic => new TopicWatch(world, topic))
  }

  get forks(): number {
    return this.#topics.reduce((sum, { forks }) => sum + forks, 0)
  }

  asked(side: SimulatedPeer, verb: MirrorVerb | 'delete link', topics: readonly string[] = this.#world.topics): void {
    for (const watch of this.#topics) if (topics.includes(watch.topic)) watch.asked(side, verb)
  }

  /** To be called again and again. Throws where two copies are writable that must not be. */
  look(): void {
    for (const watch of this.#topics) watch.look()
  }
}

class TopicWatch {
  readonly topic: string
  readonly #world: PeersWorld
  /** Both may be writable because of somebody's wish, at the latest so long after they were in step. */
  #splitMs = Number.NEGATIVE_INFINITY
  /** Both have been writable: a restore has to bring them together. */
  #isForked = false
  forks = 0

  constructor(world: PeersWorld, topic: string) {
    this.#world = world
    this.topic = topic
  }

  asked(side: SimulatedPeer, verb: MirrorVerb | 'delete link'): void {
    if (verb === 'delete link') this.#splitMs = this.#world.clock.monotonicMs()
    if (verb !== 'failover' && verb !== 'promote') return
    const states = this.#world.sides.map(of => of.status(this.topic))
    const isReversing = states.some(status => status === 'PENDING_SYNCHRONIZE' || status === 'PENDING_MIRROR')
    if (!isReversing || this.#isTroubled(side)) this.#splitMs = this.#world.clock.monotonicMs()
  }

  look(): void {
    const { clock, sides } = this.#world
    const nowMs = clock.monotonicMs()
    const writers = sides.filter(side => side.isWritable(this.topic))
    if (this.#isForked && nowMs - this.#splitMs > aftermathMs && this.#isInStep()) this.#isForked = false
    if (writers.length < 2) return
    if (this.#isForked) return
    this.#assertRecorded()
    const isTroubled = sides.some(side => this.#isTroubled(side))
    const isWanted = nowMs - this.#splitMs <= aftermathMs
    if (!isTroubled && !isWanted)
      throw new Error(`both copies of ${this.topic} are writable, though both sides can talk and nobody asked for that`)
    this.#isForked = true
    this.forks++
    this.#world.note(`both copies of ${this.topic} are writable`)
  }

  /** Whoever brings them together finds where they part. */
  #assertRecorded(): void {
    const isRecorded = this.#world.sides.some(side => {
      if (!side.isLinked || side.status(this.topic) !== 'STOPPED') return false
      return side.cluster.engine.describeMirror('twin', this.topic).stopPoints.length > 0
    })
    if (!isRecorded && this.#world.deletedLinks === 0)
      throw new Error(`both copies of ${this.topic} are writable, and nothing is recorded of where they part`)
  }

  #isInStep(): boolean {
    const [first, second] = this.#world.sides
    const follows = (side: SimulatedPeer) => ['ACTIVE', 'PAUSED'].includes(side.status(this.topic) ?? '')
    return (first.isWritable(this.topic) && follows(second)) || (second.isWritable(this.topic) && follows(first))
  }

  #isTroubled(side: SimulatedPeer): boolean {
    const last = Math.max(side.troubledMs, this.#world.other(side).troubledMs)
    return this.#world.clock.monotonicMs() - last <= Math.max(silenceMs, agreedMs)
  }
}
