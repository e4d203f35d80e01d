/** The write fences of mirrors as the rest of the node sees them: kept while this node is the link coordinator, and asked about always. Part of the engine. */
import type { Uuid } from '../../core/uuid.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import { FenceKeeper } from './fence-keeper.ts'
import { isBecomingMirror, isFenced } from './fenced-mirror.ts'

export type MirrorLeadership =
  /** The state has not been replayed yet. */
  | { readonly kind: 'unknown' }
  /** No mirror, none any more, or none yet: led like every partition. */
  | { readonly kind: 'ordinary' }
  /** Only what was written in these leader epochs of this cluster came from its source. */
  | { readonly kind: 'mirror'; readonly ledEpochs: ReadonlySet<number> }

export class MirrorFences extends FenceKeeper {
  readonly #context: OperationContext
  readonly #isReplayed: () => boolean

  constructor(context: OperationContext, isReplayed: () => boolean) {
    super(context)
    this.#context = context
    this.#isReplayed = isReplayed
  }

  /** May this node lead that partition as a mirror? To be asked before it does; answers from memory. */
  leadershipOf(
    topicId: Uuid,
    { topic, partition }: { readonly topic: string; readonly partition: number },
  ): MirrorLeadership {
    const { desired } = this.#context
    if (!this.#isReplayed()) return { kind: 'unknown' }
    const all = [...desired.mirrorsOfTopic(topicId)]
    if (all.some(isBecomingMirror)) return { kind: 'ordinary' }
    const records = all.filter(isFenced)
    if (records.length === 0 && desired.creationOf(topic) === undefined) return { kind: 'ordinary' }
    const ledEpochs = records.flatMap(record => desired.ledEpochs(topicId, partition, record.sourceClusterId))
    return { kind: 'mirror', ledEpochs: new Set(ledEpochs) }
  }

  /** Is it a mirror for the time being, neither becoming nor ceasing to be one? */
  isMirroring(topicId: Uuid): boolean {
    const records = [...this.#context.desired.mirrorsOfTopic(topicId)]
    return this.#isReplayed() && records.some(({ state }) => state === 'ACTIVE' || state === 'PAUSED')
  }

  /** What configs of a mirror are meant to be where the write fence has values of its own (null = no override); undefined = as they are shown. */
  trueConfigs(topicId: Uuid): ReadonlyMap<string, string | null> | undefined {
    return this.#context.topicConfigs.parkedOf(topicId)
  }

  /** A partition has what did not come from its source: it is led by others again, and the mirror fails. */
  async writtenByOthers(
    topicId: Uuid,
    { partition, reason }: { readonly partition: number; readonly reason: string },
  ): Promise<void> {
    const { desired, changes, incidents } = this.#context
    const record = [...desired.mirrorsOfTopic(topicId)].find(isFenced)
    if (!record) return
    // Tried again until it can be written: counted once.
    await changes.fail(record, [{ partition, error: 'ILLEGAL_STATE', reason }])
    incidents.count('foreign_write')
  }

  /** Markers of others behind the mirrored records are cut when this has resolved. */
  async markersCut(
    topicId: Uuid,
    { partition, reason }: { readonly partition: number; readonly reason: string },
  ): Promise<void> {
    await this.report(topicId, { kind: 'fork', reason: `partition ${partition}: ${reason}`, first: 'note' })
  }
}
