/** What this node's engine does for the link coordinator on another node: ends and holds fetching of what is mirrored here, and tells how it stands. The node's peer calls come here. */
import type { Timer } from '../../core/clock.ts'
import type { Uuid } from '../../core/uuid.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import type { FetchingHold, PartitionReport, PeerEngine, PeerMirror } from '../peer-ports.ts'
import type { StateLog } from '../ports.ts'

export interface PeerServiceOptions {
  readonly context: OperationContext
  readonly leadership: StateLog['leadership']
}

interface Held {
  readonly holdId: string
  readonly release: () => void
  readonly timer: Timer
}

/** Whether the caller may ask is looked at before. */
export class PeerService implements PeerEngine {
  readonly #o: PeerServiceOptions
  readonly #held = new Map<Uuid, Held>()
  readonly #unsubscribe: (() => void) | undefined

  constructor(options: PeerServiceOptions) {
    this.#o = options
    // Whoever asked for it does not decide any more. What it had decided says so in the state.
    this.#unsubscribe = options.leadership?.onChanged(() => this.#releaseAll())
  }

  /** Ends all holds. */
  stop(): void {
    this.#unsubscribe?.()
    this.#releaseAll()
  }

  async stopFetching(mirror: PeerMirror, position: number): Promise<readonly PartitionReport[]> {
    const { context, leadership } = this.#o
    await leadership?.reached(position)
    // A round that was begun before may have been told the opposite.
    await context.reconcile()
    const runtime = context.runtime(mirror.linkId)
    if (runtime?.fetches(mirror.mirrorTopic, mirror.topicId))
      throw new Error(`'${mirror.mirrorTopic}' is to be fetched, by what is decided up to offset ${position}`)
    await runtime?.stopFetching(mirror.mirrorTopic)
    return this.#reportsOf(mirror)
  }

  async holdFetching(
    mirror: PeerMirror,
    position: number,
    { id, leaseMs }: FetchingHold,
  ): Promise<readonly PartitionReport[]> {
    const { context, leadership } = this.#o
    await leadership?.reached(position)
    const runtime = context.runtime(mirror.linkId)
    if (!runtime) return []
    const before = this.#held.get(mirror.topicId)
    before?.timer.cancel()
    const release = before?.release ?? (await runtime.holdFetching(mirror.mirrorTopic))
    const timer = context.clock.after(leaseMs, () => this.#release(mirror.topicId, id))
    this.#held.set(mirror.topicId, { holdId: id, release, timer })
    return this.#reportsOf(mirror)
  }

  async releaseFetching({ topicId }: PeerMirror, holdId: string): Promise<void> {
    this.#release(topicId, holdId)
  }

  /** Why the topic is no mirror that stops now, as far as is known here; undefined = it is, and its log is still a mirror's. */
  endingProblem(topicId: Uuid): string | undefined {
    const stopping = [...this.#o.context.desired.mirrorsOfTopic(topicId)].flatMap(record => record.stopping ?? [])
    if (stopping.length === 0) return 'this node has not heard yet that the mirror stops'
    return stopping.some(({ handOver }) => handOver === undefined) ? undefined : 'the mirror has been handed over'
  }

  async reports(): Promise<readonly PartitionReport[]> {
    const { desired } = this.#o.context
    return [...desired.mirrors()].flatMap(record => this.#reportsOf(record))
  }

  #release(topicId: Uuid, holdId: string): void {
    const held = this.#held.get(topicId)
    if (held?.holdId !== holdId) return
    held.timer.cancel()
    this.#held.delete(topicId)
    held.release()
  }

  #releaseAll(): void {
    for (const [topicId, { holdId }] of this.#held) this.#release(topicId, holdId)
  }

  #reportsOf({ linkId, mirrorTopic, topicId }: PeerMirror): PartitionReport[] {
    const { runtime, destination, clock } = this.#o.context
    const topic = runtime(linkId)?.mirror(mirrorTopic)
    if (topic?.topicId !== topicId) return []
    return topic.figures
      .filter(({ partition }) => destination.leads(topicId, partition))
      .map(figures => figures.report(topicId, clock.monotonicMs()))
  }
}
