/**
 * Keeps the write fence of mirrors, and the configs that follow their source, as they should be: restores what others change, counts
 * it, and gives up partitions that others made ordinary ones. Started by the engine while its node is the link coordinator.
 */
import type { Timer } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Uuid } from '../../core/uuid.ts'
import { LinkConfigs } from '../configs/link-configs.ts'
import { copiedTopicConfigs } from '../configs/topic-rules.ts'
import { mapBounded } from '../coordination/bounded.ts'
import type { IncidentKind } from '../mirror/partition-figures.ts'
import type { OperationContext } from '../operations/operation-context.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { withHistory } from '../states/transition.ts'
import { isBecomingMirror, isFenced } from './fenced-mirror.ts'

/** Topics looked at at the same time. */
const parallel = 8
/** After a failure, and between looks that nothing asked for. */
const retryMs = 1000
const periodMs = 10_000
const noKeys: ReadonlySet<string> = new Set()

interface TouchedMirror {
  readonly kind: IncidentKind
  readonly reason: string
  readonly first?: 'count' | 'note'
}

export class FenceKeeper {
  readonly #context: OperationContext
  /** Topics to look at; a topic is in it at most once. */
  #disturbed = new Set<Uuid>()
  #running: Promise<void> | undefined
  #timer: Timer | undefined
  #unsubscribe: (() => void) | undefined
  #stopped = true

  constructor(context: OperationContext) {
    this.#context = context
  }

  /** Looks at all mirrors, and from then on at those that others touch. Does nothing where there is no fence of this kind. */
  start(): void {
    const { fence } = this.#context.destination
    if (!this.#stopped || fence.parkedConfigs.size === 0) return
    this.#stopped = false
    this.#unsubscribe = fence.onDisturbed(topicIds => this.#look(topicIds))
    this.#lookAtAll()
  }

  /** Resolves when nothing is being restored any more. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#unsubscribe?.()
    this.#timer?.cancel()
    await this.#running
  }

  #lookAtAll(): void {
    this.#context.topicConfigs.forgetOthers()
    this.#look([...this.#context.desired.mirrors()].map(({ topicId }) => topicId))
    this.#timer = this.#context.clock.after(periodMs, () => this.#lookAtAll())
  }

  #look(topicIds: Iterable<Uuid>): void {
    for (const topicId of topicIds) this.#disturbed.add(topicId)
    if (this.#stopped || this.#disturbed.size === 0) return
    this.#running ??= this.#restoreAll().finally(() => {
      this.#running = undefined
    })
  }

  async #restoreAll(): Promise<void> {
    // Whoever caused the call may be waited for by the commands that follow.
    await Promise.resolve()
    while (this.#disturbed.size > 0 && !this.#stopped) {
      const topicIds = [...this.#disturbed]
      this.#disturbed = new Set()
      await mapBounded(topicIds, parallel, topicId => this.#restore(topicId))
    }
  }

  async #restore(topicId: Uuid): Promise<void> {
    const { destination, desired, topicConfigs, logger, clock } = this.#context
    const record = [...desired.mirrorsOfTopic(topicId)].find(isFenced)
    if (!record || desired.problemOf(record.linkId) !== undefined || !destination.topicById(topicId)) return
    try {
      const taken = await this.#giveUpTaken(record)
      if (taken === record.startOffsets.length) return
      const changed = await destination.fence.restore(topicId)
      if (changed.length > 0)
        await this.report(topicId, { kind: 'fence_changed', reason: `restored: ${changed.join(', ')}` })
      const link = desired.link(record.linkId)
      const owned = link && isFollowing(record) ? copiedTopicConfigs(new LinkConfigs(link.configs)) : noKeys
      const takenBack = await topicConfigs.takeBack(topicId, owned)
      if (takenBack.length > 0)
        await this.report(topicId, { kind: 'config_changed', reason: `restored: ${takenBack.join(', ')}` })
    } catch (error) {
      logger.warn('what others changed of a mirror could not be restored', {
        topic: record.mirrorTopic,
        error: messageOf(error),
      })
      clock.after(retryMs, () => this.#look([topicId]))
    }
  }

  /** Resolves to the number of partitions that others have made ordinary ones: theirs is not touched any more. */
  async #giveUpTaken(record: MirrorRecord): Promise<number> {
    const { destination, changes, incidents } = this.#context
    const { topicId } = record
    // Others lead it until the link has taken it over.
    if (isBecomingMirror(record)) return 0
    const taken = [...record.startOffsets.keys()].filter(index => destination.fence.isTakenAway(topicId, index))
    const fresh = taken.filter(partition => record.failures.every(failure => failure.partition !== partition))
    if (fresh.length === 0) return taken.length
    incidents.count('taken_away')
    const reason =
      'somebody else moved it to other brokers and away from where mirrors are led; fail it over to end the mirror'
    await changes.fail(
      record,
      fresh.map(partition => ({ partition, error: 'ILLEGAL_STATE', reason })),
    )
    return taken.length
  }

  /** Counted, and kept in the history; `first`: what has happened counts though it cannot be noted, what is tried again until it is noted counts once. */
  protected async report(topicId: Uuid, { kind, reason, first = 'count' }: TouchedMirror): Promise<void> {
    const { desired, changes, incidents, logger, clock } = this.#context
    const record = [...desired.mirrorsOfTopic(topicId)].find(isFenced)
    if (!record) return
    const note = () => changes.note(record, now => withHistory(now, { event: kind, reason, timeMs: clock.nowMs() }))
    if (first === 'note') await note()
    incidents.count(kind)
    logger.warn('somebody else touched a mirror', { topic: record.mirrorTopic, reason })
    if (first === 'count') await note()
  }
}

/** Do its configs follow the source? Those of a paused mirror stay as they are, and those of a topic that is none yet. */
const isFollowing = (record: MirrorRecord): boolean =>
  record.state !== 'PAUSED' && record.state !== 'FAILED' && !isBecomingMirror(record)
