// Two linked clusters in memory under faults: processes that die at any effect, disks that fail or answer late, a network between the sides that is cut in either direction. All from one seed.
import { ManualClock } from '../../../src/core/clock.ts'
import { type Random, seededRandom } from '../../../src/core/random.ts'
import { batchAt, mirrorRequest } from '../../../src/link/fakes/engine-world.ts'
import { PeerCluster } from '../../../src/link/fakes/peer-clusters.ts'
import { batchesIn } from '../../../src/protocol/batches/batch-iteration.ts'
import { buildEndMarker } from '../../../src/protocol/batches/control-batch.ts'
import { type LocalFaults, SimulatedProcess, soundDisk } from '../simulated-process.ts'

export const topic = 'orders'

/** A record that a producer was told is kept; producers are told apart by their ids. */
export interface Acknowledged {
  readonly producerId: bigint
  readonly by: string
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

  constructor(name: string, world: { clock: ManualClock; random: Random; remote: () => SimulatedPeer }) {
    this.name = name
    const { clock, random } = world
    this.cluster = new PeerCluster(name, clock, {
      remote: () => world.remote().cluster,
      newLife: () => {
        const process = new SimulatedProcess({ clock, random, faults: this.faults })
        return { process, clock: process.clock }
      },
    })
  }

  get isDead(): boolean {
    return this.cluster.process.killed
  }

  /** Nobody can write to a node that is not there. */
  get isWritable(): boolean {
    return !this.isDead && this.cluster.isWritable(topic)
  }

  get status(): string | undefined {
    return this.isDead ? 'dead' : this.cluster.status(topic)
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

export class PeersWorld {
  readonly seed: number
  readonly random: Random
  readonly clock = new ManualClock()
  readonly east: SimulatedPeer
  readonly west: SimulatedPeer
  readonly acknowledged: Acknowledged[] = []
  /** Producers whose transaction is open, and where. */
  readonly open = new Map<bigint, SimulatedPeer>()
  readonly trace: string[] = []

  constructor(seed: number) {
    this.seed = seed
    this.random = seededRandom(seed)
    const { clock, random } = this
    this.east = new SimulatedPeer('east', { clock, random, remote: () => this.west })
    this.west = new SimulatedPeer('west', { clock, random, remote: () => this.east })
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

  note(text: string): void {
    this.trace.push(`${Math.round(this.clock.monotonicMs())} ms: ${text}`)
  }

  /** Both run and are linked, and west mirrors the topic. */
  async begin(): Promise<void> {
    for (const side of this.sides) side.start()
    await this.step(1000)
    for (const side of this.sides) await this.until(side.cluster.link())
    this.east.cluster.cluster.addTopic(topic, 1)
    this.east.cluster.write(topic, batchAt(0, 3))
    await this.until(this.west.cluster.engine.createMirror('twin', mirrorRequest(topic)))
    await this.step(2000)
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

  /** Somebody produces, if the side takes it. */
  produce(side: SimulatedPeer, transactional: boolean): void {
    if (!side.isWritable) return
    const producerId = BigInt(this.acknowledged.length + 100)
    side.cluster.write(topic, batchAt(side.cluster.end(topic) ?? 0, 1 + this.below(3), { producerId, transactional }))
    this.acknowledged.push({ producerId, by: side.name })
    if (transactional) this.open.set(producerId, side)
    this.note(`${side.name} takes ${producerId}${transactional ? ', in a transaction' : ''}`)
  }

  /** The coordinator of a transaction ends it, where the topic takes its marker. */
  endTransaction(producerId: bigint): void {
    const side = this.open.get(producerId)
    const found = side?.cluster.cluster.topicNamed(topic)
    const [log] = found?.logs ?? []
    if (!side || side.isDead || !found || !log) return
    const status = side.cluster.engine.writeStatus(found.topicId, topic)
    const takesMarkers = status.kind === 'writable' || (status.kind === 'mirror' && status.takesMarkers)
    if (!takesMarkers || !log.openTransactions().some(open => open.producerId === producerId)) return
    const { logEndOffset: offset, leaderEpoch } = log
    const marker = { producerId, producerEpoch: 0, coordinatorEpoch: 0, offset, timestamp: 0n, leaderEpoch }
    log.append(buildEndMarker({ type: 'commit', ...marker }))
    log.flushedOffset = log.logEndOffset
    this.open.delete(producerId)
    this.note(`${side.name} ends the transaction of ${producerId}`)
  }

  /** Producer ids of everything that is in a log of either side, or was exported from one. */
  kept(): Set<bigint> {
    const bytes = this.sides.flatMap(({ cluster: { cluster, exports } }) => [
      ...(cluster.topicNamed(topic)?.logs ?? []).flatMap(log => log.batches.map(batch => batch.bytes)),
      ...exports,
    ])
    return new Set(bytes.flatMap(part => [...batchesIn(part)].map(({ producerId }) => producerId)))
  }
}
