// Watches that there are never two writable copies while the sides can talk, unless an operator split them: by a failover or a promote outside of a reverse, or by one while the other side could not be asked.
import type { MirrorVerb } from '../../../src/link/engine-api.ts'
import type { PeersWorld, SimulatedPeer } from './peers-world.ts'

/** A verb may take so long after it was asked for, also over a restart. */
const aftermathMs = 60_000

/** How long a failover waits for the other side, and what it has read of it may be old. */
const silenceMs = 15_000

/** Sides that could talk for so long have agreed who writes. */
const agreedMs = 20_000

export class ForkWatch {
  readonly #world: PeersWorld
  /** Both may be writable because of somebody's wish, at the latest so long after they were in step. */
  #splitMs = Number.NEGATIVE_INFINITY
  /** Both have been writable: a restore has to bring them together. */
  #isForked = false
  forks = 0

  constructor(world: PeersWorld) {
    this.#world = world
  }

  asked(side: SimulatedPeer, verb: MirrorVerb): void {
    if (verb !== 'failover' && verb !== 'promote') return
    const isReversing = this.#world.sides.some(
      ({ status }) => status === 'PENDING_SYNCHRONIZE' || status === 'PENDING_MIRROR',
    )
    if (!isReversing || this.#isTroubled(side)) this.#splitMs = this.#world.clock.monotonicMs()
  }

  /** To be called again and again. Throws where two copies are writable that must not be. */
  look(): void {
    const { east, west, clock } = this.#world
    const nowMs = clock.monotonicMs()
    const writers = [east, west].filter(side => side.isWritable)
    if (this.#isInStep() && nowMs - this.#splitMs > aftermathMs) this.#isForked = false
    if (writers.length < 2 || this.#isForked) return
    const isTroubled = [east, west].some(side => this.#isTroubled(side))
    const isWanted = nowMs - this.#splitMs <= aftermathMs
    if (!isTroubled && !isWanted)
      throw new Error('both copies are writable, though both sides can talk and nobody asked for that')
    this.#isForked = true
    this.forks++
    this.#world.note('both copies are writable')
  }

  #isInStep(): boolean {
    const [first, second] = this.#world.sides
    const follows = ({ status }: SimulatedPeer) => status === 'ACTIVE' || status === 'PAUSED'
    return (first.isWritable && follows(second)) || (second.isWritable && follows(first))
  }

  #isTroubled(side: SimulatedPeer): boolean {
    const last = Math.max(side.troubledMs, this.#world.other(side).troubledMs)
    return this.#world.clock.monotonicMs() - last <= Math.max(silenceMs, agreedMs)
  }
}
