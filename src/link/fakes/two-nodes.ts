/** Two engines over one cluster and one source: one coordinates, each mirrors the partitions that it leads; what the other has read of the state can be held back. */
import { ManualClock, sleep } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { seededRandom } from '../../core/random.ts'
import { Engine } from '../engine.ts'
import type { PeerEngine, Peers } from '../peer-ports.ts'
import { type Destination, NotLinkCoordinator, type StateLog, type StateProposal, type StateRecord } from '../ports.ts'
import { CrashingProcess } from './crashing-process.ts'
import { FakeCluster } from './fake-cluster.ts'
import { FakeSource } from './fake-source.ts'

const NODES = [1, 2] as const
type NodeId = (typeof NODES)[number]

/** The state as one node has it. */
interface Reader {
  onRecords: ((records: readonly StateRecord[]) => void) | undefined
  replayed: number
  onProposal: ((proposal: StateProposal) => Promise<void>) | undefined
  readonly listeners: Set<() => void>
  readonly waiting: Set<() => void>
}

const newReader = (): Reader => ({
  onRecords: undefined,
  replayed: 0,
  onProposal: undefined,
  listeners: new Set(),
  waiting: new Set(),
})

const other = (node: NodeId): NodeId => (node === 1 ? 2 : 1)

export class TwoNodes {
  readonly clock = new ManualClock()
  readonly source = new FakeSource(this.clock)
  readonly cluster = new FakeCluster()
  /** Index = partition; partitions beyond are led in turn. */
  readonly leaders: NodeId[] = []
  /** Nodes that read nothing more of the state for now. */
  readonly behind = new Set<NodeId>()
  /** Nodes that answer no calls. */
  readonly silent = new Set<NodeId>()
  /** Calls to other nodes, in order. */
  readonly calls: string[] = []
  readonly #batches: (readonly StateRecord[])[] = []
  readonly #readers = new Map(NODES.map(node => [node, newReader()]))
  #coordinator: NodeId = 1
  #term = 1
  readonly engines: Readonly<Record<NodeId, Engine>> = { 1: this.#newEngine(1), 2: this.#newEngine(2) }

  async start(): Promise<void> {
    for (const node of NODES) await this.engines[node].start()
    await this.settle()
  }

  async stop(): Promise<void> {
    this.silent.clear()
    for (const node of NODES) await this.engines[node].stop()
  }

  async settle(): Promise<void> {
    for (let turn = 0; turn < 30; turn++) await new Promise<void>(resolve => setImmediate(resolve))
  }

  /** Fetches until nothing new comes. */
  async mirrorAll(): Promise<void> {
    for (let round = 0; round < 3; round++) {
      await this.settle()
      await this.source.deliver()
    }
    await this.settle()
  }

  async advance(ms: number): Promise<void> {
    await this.settle()
    await this.clock.advance(ms)
    await this.settle()
  }

  /** A node that was behind reads everything. */
  catchUp(node: NodeId): void {
    this.behind.delete(node)
    this.#deliver(node)
  }

  changeCoordinator(): void {
    this.#coordinator = other(this.#coordinator)
    this.#term++
    for (const { listeners } of this.#readers.values()) for (const listener of listeners) listener()
  }

  #leader(partition: number): NodeId {
    return this.leaders[partition] ?? (partition % 2 === 0 ? 1 : 2)
  }

  #newEngine(node: NodeId): Engine {
    return new Engine({
      stateLog: this.#stateLog(node),
      destination: this.#destination(node),
      peers: this.#peers(node),
      sources: this.source,
      clock: this.clock,
      random: seededRandom(node),
      logger: silentLogger,
    })
  }

  #destination(node: NodeId): Destination {
    const destination = this.cluster.destination(new CrashingProcess())
    const leads = (_topicId: string, partition: number) => this.#leader(partition) === node
    return Object.assign(destination, { leads })
  }

  #peers(node: NodeId): Peers {
    const engine = (asked: number): PeerEngine => {
      const to = asked as NodeId
      const call = async <T>(name: string, ask: (service: PeerEngine) => Promise<T>): Promise<T> => {
        this.calls.push(`${to} ${name}`)
        await Promise.resolve()
        if (this.silent.has(to)) throw new Error(`node ${to} does not answer`)
        return await ask(this.engines[to].peerService)
      }
      return {
        stopFetching: (...of) => call('stop', service => service.stopFetching(...of)),
        holdFetching: (...of) => call('hold', service => service.holdFetching(...of)),
        releaseFetching: (...of) => call('release', service => service.releaseFetching(...of)),
        reports: () => call('reports', service => service.reports()),
      }
    }
    return { leading: () => [other(node)], all: () => [other(node)], engine, close: () => {} }
  }

  #stateLog(node: NodeId): StateLog {
    const nodes = this
    const reader = this.#reader(node)
    const isCoordinator = () => this.#coordinator === node
    return {
      open: async onRecords => {
        reader.onRecords = onRecords
        this.#deliver(node)
      },
      append: async records => {
        await Promise.resolve()
        if (!isCoordinator()) throw new NotLinkCoordinator(`node ${node} is not the link coordinator`)
        this.#batches.push(records)
        for (const one of NODES) this.#deliver(one)
      },
      propose: async records => {
        const leads = (_topicId: string, partition: number) => this.#leader(partition) === node
        const proposal = { sender: `node ${node}`, records, isCurrent: () => true, leads }
        await this.#reader(this.#coordinator).onProposal?.(proposal)
      },
      onProposal: listener => {
        reader.onProposal = listener
      },
      leadership: {
        get term() {
          return isCoordinator() ? nodes.#term : undefined
        },
        vacancy: undefined,
        onChanged: listener => {
          reader.listeners.add(listener)
          return () => reader.listeners.delete(listener)
        },
        lateRequestsMs: 0,
        get position() {
          return reader.replayed
        },
        reached: position => this.#reached(reader, position),
      },
      close: async () => {},
    }
  }

  #reader(node: NodeId): Reader {
    const reader = this.#readers.get(node)
    if (!reader) throw new RangeError(`there is no node ${node}`)
    return reader
  }

  #deliver(node: NodeId): void {
    const reader = this.#reader(node)
    if (!reader.onRecords || this.behind.has(node)) return
    for (const batch of this.#batches.slice(reader.replayed)) {
      reader.replayed++
      reader.onRecords(batch)
    }
    for (const look of reader.waiting) look()
  }

  async #reached(reader: Reader, position: number): Promise<void> {
    const reached = new AbortController()
    const look = () => reader.replayed >= position && reached.abort()
    reader.waiting.add(look)
    look()
    await sleep(this.clock, 8000, reached.signal)
    reader.waiting.delete(look)
    if (!reached.signal.aborted) throw new Error('this node is behind')
  }
}
