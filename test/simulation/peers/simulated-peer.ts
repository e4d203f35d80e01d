// One of the two sides of the simulation: a cluster, its process that may be dead, and the network towards the other one.
import type { ManualClock } from '../../../src/core/clock.ts'
import type { Random } from '../../../src/core/random.ts'
import type { FakePartition } from '../../../src/link/fakes/fake-mirror-log.ts'
import { PeerCluster } from '../../../src/link/fakes/peer-clusters.ts'
import { type LocalFaults, SimulatedProcess, soundDisk } from '../simulated-process.ts'

export interface SimulatedPeerOptions {
  readonly clock: ManualClock
  readonly random: Random
  readonly remote: () => SimulatedPeer
  readonly reverseTransactionWaitMs: number
}

export class SimulatedPeer {
  readonly name: string
  readonly cluster: PeerCluster
  readonly faults: LocalFaults = { ...soundDisk }
  lives = 0
  /** What it fetches is on its way, or nobody is there any more who would take it. */
  #fetching: number | undefined
  /** The other side cannot be reached from here. */
  isCutOff = false
  /** When it was last down or cut off, in the time of the simulation. */
  troubledMs = Number.NEGATIVE_INFINITY

  constructor(name: string, { clock, random, remote, reverseTransactionWaitMs }: SimulatedPeerOptions) {
    this.name = name
    this.cluster = new PeerCluster(name, clock, {
      remote: () => remote().cluster,
      newLife: () => {
        const process = new SimulatedProcess({ clock, random, faults: this.faults })
        return { process, clock: process.clock }
      },
      reverseTransactionWaitMs,
    })
  }

  get isDead(): boolean {
    return this.cluster.process.killed
  }

  get isLinked(): boolean {
    return !this.isDead && this.cluster.engine.listLinks().length > 0
  }

  /** Nobody can write to a node that is not there. */
  isWritable(topic: string): boolean {
    return !this.isDead && this.cluster.isWritable(topic)
  }

  status(topic: string): string | undefined {
    if (this.isDead) return 'dead'
    return this.isLinked ? this.cluster.status(topic) : undefined
  }

  logs(topic: string): readonly FakePartition[] {
    return this.cluster.cluster.topicNamed(topic)?.logs ?? []
  }

  /** May markers of transactions be written? */
  takesMarkers(topic: string): boolean {
    const found = this.cluster.cluster.topicNamed(topic)
    if (this.isDead || !found) return false
    const status = this.cluster.engine.writeStatus(found.topicId, topic)
    return status.kind === 'writable' || (status.kind === 'mirror' && status.takesMarkers)
  }

  /** One answer to everything that it fetches; the next one when it has taken this one. */
  fetch(source: PeerCluster): void {
    if (this.isDead || this.isCutOff || this.#fetching === this.lives) return
    const { lives } = this
    this.#fetching = lives
    const taken = () => {
      if (this.#fetching === lives) this.#fetching = undefined
    }
    source.asSource.deliver().then(taken, taken)
  }

  /** Goes on as time does. */
  start(): void {
    this.lives++
    this.cluster.start().catch(() => {})
  }
}
