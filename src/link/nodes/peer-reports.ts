/** What other nodes said last of the partitions that they lead; the link coordinator asks them all now and then. Read by the views. */
import type { Clock, Timer } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Uuid } from '../../core/uuid.ts'
import type { PartitionReport, Peers } from '../peer-ports.ts'

export interface PeerReportsOptions {
  readonly peers?: Peers | undefined
  readonly clock: Clock
  readonly logger: Logger
}

const PERIOD_MS = 2000
/** What was said longer ago tells nothing of the present. */
const FRESH_MS = 10_000

interface Known {
  readonly report: PartitionReport
  readonly atMs: number
}

export class PeerReports {
  readonly #o: PeerReportsOptions
  readonly #known = new Map<string, Known>()
  /** Nodes that are being asked. */
  readonly #asking = new Map<number, Promise<void>>()
  /** Why nodes did not answer, as it was logged. */
  readonly #troubles = new Map<number, string>()
  #timer: Timer | undefined

  constructor(options: PeerReportsOptions) {
    this.#o = options
  }

  /** As its leader said in the last seconds; undefined = it did not. */
  of(topicId: Uuid, partition: number): PartitionReport | undefined {
    const known = this.#known.get(nameOf(topicId, partition))
    return known && this.#o.clock.monotonicMs() - known.atMs <= FRESH_MS ? known.report : undefined
  }

  told(reports: readonly PartitionReport[]): void {
    const atMs = this.#o.clock.monotonicMs()
    for (const report of reports) this.#known.set(nameOf(report.topicId, report.partition), { report, atMs })
  }

  /** Asks all nodes again and again; idempotent. */
  start(): void {
    if (this.#o.peers === undefined || this.#timer) return
    this.#look(this.#o.peers)
  }

  /** Forgets everything; resolves when nobody is being asked. */
  async stop(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#known.clear()
    await Promise.all(this.#asking.values())
  }

  #look(peers: Peers): void {
    this.#timer = this.#o.clock.after(PERIOD_MS, () => this.#look(peers))
    const nowMs = this.#o.clock.monotonicMs()
    for (const [name, { atMs }] of this.#known) if (nowMs - atMs > FRESH_MS) this.#known.delete(name)
    for (const node of peers.all()) {
      // A node that is slow to answer is not asked twice.
      if (this.#asking.has(node)) continue
      this.#asking.set(
        node,
        this.#ask(peers, node).finally(() => this.#asking.delete(node)),
      )
    }
  }

  /** A node that does not answer leaves its figures unknown; that is no error. */
  async #ask(peers: Peers, node: number): Promise<void> {
    try {
      const reports = await peers.engine(node).reports()
      if (this.#timer) this.told(reports)
      this.#troubles.delete(node)
    } catch (error) {
      const trouble = messageOf(error)
      if (this.#troubles.get(node) !== trouble)
        this.#o.logger.warn('another node does not tell its figures', { node, trouble })
      this.#troubles.set(node, trouble)
    }
  }
}

const nameOf = (topicId: Uuid, partition: number): string => `${topicId}-${partition}`
