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
  'topic-id-changed': 'SOURCE_TOPIC_ID_CHANGED',
  authorization: 'AUTHORIZATION_ERROR',
} as const satisfies Record<TopicTrouble['kind'], MirrorTopicError>

export interface TopicTroublesOptions {
  readonly record: MirrorRecord
  readonly source: SourceCluster
  readonly changes: MirrorChanges
  /** `cluster.link.retry.timeout.ms` */
  readonly retryTimeoutMs: number
  readonly clock: Clock
  readonly logger: Logger
}

export class TopicTroubles {
  readonly #id: MirrorId
  readonly #o: TopicTroublesOptions
  /** Since when each kind lasts (wall clock), as far as this node knows. */
  readonly #since: Map<string, number>
  #clearing: Promise<void> | undefined

  constructor(id: MirrorId, options: TopicTroublesOptions) {
    this.#id = id
    this.#o = options
    this.#since = new Map(options.record.troubles.map(({ kind, sinceMs }) => [kind, sinceMs]))
  }

  /** A partition met the trouble. undefined = go on asking; else why the topic fails now. */
  async seen(trouble: TopicTrouble): Promise<{ error: MirrorTopicError; reason: string } | undefined> {
    const { clock, retryTimeoutMs } = this.#o
    const known = this.#since.get(trouble.kind)
    const sinceMs = known ?? clock.nowMs()
    if (known === undefined) {
      this.#since.set(trouble.kind, sinceMs)
      await this.#store()
    }
    const lastedMs = clock.nowMs() - sinceMs
    if (lastedMs < retryTimeoutMs) return undefined
    if (trouble.kind === 'topic-missing' && !(await this.#isReallyMissing())) return undefined
    const text =
      trouble.kind === 'topic-id-changed'
        ? `the source topic has id ${trouble.found} instead of ${trouble.expected}: it was deleted and created anew`
        : trouble.message
    return { error: errors[trouble.kind], reason: `${text} (for ${Math.round(lastedMs / 1000)} s)` }
  }

  /** The source answered a fetch: whatever lasted is over. */
  over(): void {
    if (this.#since.size === 0) return
    this.#since.clear()
    this.#clearing ??= this.#store().finally(() => {
      this.#clearing = undefined
    })
  }

  /** A deletion is believed only when a listing of its own shows it too. */
  async #isReallyMissing(): Promise<boolean> {
    try {
      const found = await this.#o.source.describeTopics([this.#o.record.sourceTopic])
      return found.length === 0
    } catch {
      return false
    }
  }

  async #store(): Promise<void> {
    const troubles = [...this.#since].map(([kind, sinceMs]) => ({ kind, sinceMs }))
    try {
      await this.#o.changes.update(this.#id, record => ({ ...record, troubles }))
    } catch (error) {
      this.#o.logger.warn('a trouble of a mirror could not be recorded', { error: messageOf(error) })
    }
  }
}
