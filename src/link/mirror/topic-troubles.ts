/** Failures of a whole source topic that are retried for a time: since when each lasts is durable, so that restarts do not reset it. */
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { MirrorChanges, MirrorId } from '../coordination/mirror-changes.ts'
import type { SourceCluster } from '../ports.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import type { MirrorTopicError } from '../states/mirror-topic-error.ts'
import type { TopicTrouble } from './mirror-partition.ts'

const errors = {
  'topic-missing': 'SOURCE_TOPIC_MAY_BE_DELETED',
  'partition-missing': 'SOURCE_PARTITIONS_DECREASED',
  'topic-id-changed': 'SOURCE_TOPIC_ID_CHANGED',
  authorization: 'AUTHORIZATION_ERROR',
} as const satisfies Record<TopicTrouble['kind'], MirrorTopicError>

export interface TopicTroublesOptions {
  readonly record: MirrorRecord
  readonly source: SourceCluster
  readonly changes: MirrorChanges
  /** How many partitions the mirror has now. */
  readonly partitions: () => number
  /** `cluster.link.retry.timeout.ms` */
  readonly retryTimeoutMs: () => number
  readonly clock: Clock
  readonly logger: Logger
}

/** By the wall clock, as it is recorded, and by the one that never jumps, which decides: a clock that is set must not fail a mirror. */
interface Since {
  readonly wallMs: number
  readonly monotonicMs: number
}

export class TopicTroubles {
  readonly #id: MirrorId
  readonly #o: TopicTroublesOptions
  /** Since when each kind lasts, as far as this node knows. */
  readonly #since: Map<string, Since>
  /** What is recorded differs from `#since`. */
  #dirty = false
  #storing: Promise<void> | undefined

  constructor(id: MirrorId, options: TopicTroublesOptions) {
    this.#id = id
    this.#o = options
    const { clock, record } = options
    this.#since = new Map(
      record.troubles.map(({ kind, sinceMs }) => {
        const lastedMs = Math.max(0, clock.nowMs() - sinceMs)
        return [kind, { wallMs: sinceMs, monotonicMs: clock.monotonicMs() - lastedMs }]
      }),
    )
  }

  /** A partition met the trouble. undefined = go on asking; else why the topic fails now. */
  async seen(trouble: TopicTrouble): Promise<{ error: MirrorTopicError; reason: string } | undefined> {
    const { clock } = this.#o
    const known = this.#since.get(trouble.kind)
    const since = known ?? { wallMs: clock.nowMs(), monotonicMs: clock.monotonicMs() }
    if (known === undefined) {
      this.#since.set(trouble.kind, since)
      await this.#store()
    }
    const lastedMs = clock.monotonicMs() - since.monotonicMs
    if (lastedMs < this.#o.retryTimeoutMs()) return undefined
    if (!(await this.#isConfirmed(trouble.kind))) return undefined
    const text =
      trouble.kind === 'topic-id-changed'
        ? `the source topic has id ${trouble.found} instead of ${trouble.expected}: it was deleted and created anew`
        : trouble.message
    return { error: errors[trouble.kind], reason: `${text} (for ${Math.round(lastedMs / 1000)} s)` }
  }

  /** A fetch of this partition was answered: what lasted is over. */
  answered(partition: number): void {
    for (const kind of [...this.#since.keys()]) {
      // Partitions go missing from the end, and while the last one is missing the answers of the others prove nothing.
      if (kind === 'partition-missing' && partition !== this.#o.partitions() - 1) continue
      this.#since.delete(kind)
      this.#dirty = true
    }
    if (this.#dirty) void this.#store()
  }

  /** The record was changed by somebody who decided that the troubles are over (a resume). */
  forget(): void {
    this.#since.clear()
  }

  /** Believed only when a listing of its own shows it too. */
  async #isConfirmed(kind: TopicTrouble['kind']): Promise<boolean> {
    if (kind !== 'topic-missing' && kind !== 'partition-missing') return true
    try {
      const [found] = await this.#o.source.describeTopics([this.#o.record.sourceTopic])
      return kind === 'topic-missing' ? found === undefined : (found?.partitions.length ?? 0) < this.#o.partitions()
    } catch {
      return false
    }
  }

  /** Writes what lasts now; tried again with the next change or answer if it fails. */
  async #store(): Promise<void> {
    this.#dirty = true
    this.#storing ??= this.#write().finally(() => {
      this.#storing = undefined
    })
    await this.#storing
  }

  async #write(): Promise<void> {
    while (this.#dirty) {
      this.#dirty = false
      try {
        await this.#o.changes.note(this.#id, record => {
          const troubles = [...this.#since].map(([kind, { wallMs }]) => ({ kind, sinceMs: wallMs }))
          return troubles.length === 0 && record.troubles.length === 0 ? record : { ...record, troubles }
        })
      } catch (error) {
        this.#dirty = true
        this.#o.logger.warn('a trouble of a mirror could not be recorded', { error: messageOf(error) })
        return
      }
    }
  }
}
