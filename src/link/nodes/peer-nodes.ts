/** Other nodes as the link coordinator uses them: what they fetch is ended and held by it, what they say is kept. Nothing to do where there are none. Made by the engine. */
import { randomUuid } from '../../core/uuid.ts'
import type { PartitionReport, PeerMirror } from '../peer-ports.ts'
import { PeerReports, type PeerReportsOptions } from './peer-reports.ts'

export interface PeerNodesOptions extends PeerReportsOptions {
  /** Everything below it in the state is known here. */
  readonly position: () => number
}

/** How long a node that is asked to hold holds, if it hears nothing more; longer than a durable write may take. */
const LEASE_MS = 60_000
/** By then what is decided while others hold must be on its way. */
const DECIDED_MS = 20_000

export class PeerNodes {
  readonly reports: PeerReports
  readonly #o: PeerNodesOptions

  constructor(options: PeerNodesOptions) {
    this.#o = options
    this.reports = new PeerReports(options)
  }

  /** Resolves when no other node fetches the mirror any more, by what is decided now; rejects where one is not known not to. */
  async stopFetching(mirror: PeerMirror): Promise<void> {
    const { peers, position } = this.#o
    if (!peers) return
    const decided = position()
    const stopped = peers.leading(mirror.topicId).map(node => peers.engine(node).stopFetching(mirror, decided))
    this.#told(await Promise.all(stopped))
  }

  /** Nothing is fetched by other nodes from when it resolves until `release` is called. */
  async holdFetching(mirror: PeerMirror): Promise<HeldPeers> {
    const { peers, position, clock } = this.#o
    const nodes = peers?.leading(mirror.topicId) ?? []
    const id = randomUuid()
    const untilMs = clock.monotonicMs() + DECIDED_MS
    // Not waited for: whoever does not hear it lets go by itself.
    const release = () => {
      for (const node of nodes)
        peers
          ?.engine(node)
          .releaseFetching(mirror, id)
          .catch(() => {})
    }
    try {
      const hold = { id, leaseMs: LEASE_MS }
      const held = nodes.map(node => peers?.engine(node).holdFetching(mirror, position(), hold) ?? [])
      this.#told(await Promise.all(held))
    } catch (error) {
      release()
      throw error
    }
    return { release, lasts: () => nodes.length === 0 || clock.monotonicMs() < untilMs }
  }

  #told(answers: readonly (readonly PartitionReport[])[]): void {
    for (const reports of answers) this.reports.told(reports)
  }
}

export interface HeldPeers {
  readonly release: () => void
  /** Is there time enough to decide something that relies on it? */
  readonly lasts: () => boolean
}
