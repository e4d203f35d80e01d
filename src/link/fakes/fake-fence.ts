/** The write fence of a cluster in memory: by default like a standalone node's, with `park` like that of a node among other brokers. */
import type { Uuid } from '../../core/uuid.ts'
import type { ReleaseOutlook, WriteFence } from '../ports.ts'
import type { CrashingProcess } from './crashing-process.ts'
import type { FakePartition } from './fake-mirror-log.ts'

interface FencedTopic {
  readonly topicId: Uuid
  configs: ReadonlyMap<string, string>
  readonly logs: readonly FakePartition[]
}

export class FakeFence {
  /** What is in the way of a release, by partition. */
  readonly obstacles = new Map<number, string>()
  /** Partitions that somebody else made ordinary ones, as `topicId/partition`. */
  readonly takenAway = new Set<string>()
  warnings: readonly string[] = []
  /** What a copy of a topic here waits for, while there are other brokers. */
  copying: string | undefined
  /** Topics of others that were copied here, and have not been given back. */
  readonly taken = new Set<Uuid>()
  #parked: ReadonlyMap<string, string> = new Map()
  readonly #topics: ReadonlyMap<Uuid, FencedTopic>
  readonly #listeners = new Set<(topicIds: readonly Uuid[]) => void>()

  constructor(topics: ReadonlyMap<Uuid, FencedTopic>) {
    this.#topics = topics
  }

  /** From now on mirrors have these values for these configs. */
  park(configs: ReadonlyMap<string, string>): void {
    this.#parked = configs
  }

  /** Configs of a new mirror that is to have these. */
  configsOf(wanted: ReadonlyMap<string, string>): ReadonlyMap<string, string> {
    return new Map([...wanted, ...this.#parked])
  }

  /** Somebody changes configs behind the link's back. */
  disturb(topicId: Uuid, changes: ReadonlyMap<string, string>): void {
    const topic = this.#topics.get(topicId)
    if (!topic) throw new Error(`topic ${topicId} does not exist`)
    topic.configs = new Map([...topic.configs, ...changes])
    for (const listener of this.#listeners) listener([topicId])
  }

  /** The process that listened is gone. */
  forget(): void {
    this.#listeners.clear()
  }

  of(process: CrashingProcess): WriteFence {
    const fence = this
    return {
      get parkedConfigs() {
        return new Set(fence.#parked.keys())
      },
      restore: async topicId => {
        const topic = this.#topics.get(topicId)
        const changed = [...this.#parked].filter(([key, value]) => topic && topic.configs.get(key) !== value)
        if (!topic || changed.length === 0) return []
        return await process.effect('restore fence', () => {
          topic.configs = new Map([...topic.configs, ...this.#parked])
          return changed.map(([key]) => key)
        })
      },
      forget: async () => {},
      stage: topicId =>
        process.effect('stage', () => {
          this.taken.add(topicId)
          return this.copying
        }),
      unstage: ({ topicId }) => process.effect('unstage', () => void this.taken.delete(topicId)),
      shut: topicId => process.effect('shut', () => this.#close(topicId)),
      enclose: topicId =>
        process.effect('enclose', () => {
          if (this.copying !== undefined) throw new Error(this.copying)
          this.taken.add(topicId)
          this.#close(topicId)
          for (const log of this.#topics.get(topicId)?.logs ?? []) log.leaderEpoch++
        }),
      onDisturbed: listener => {
        this.#listeners.add(listener)
        return () => this.#listeners.delete(listener)
      },
      get hasOtherLeaders() {
        return fence.#parked.size > 0
      },
      isTakenAway: (topicId, partition) => this.takenAway.has(`${topicId}/${partition}`),
      outlook: async (): Promise<ReleaseOutlook> => ({ obstacles: this.obstacles, warnings: this.warnings }),
      plan: topicId => `plan of ${topicId}`,
      release: ({ topicId, configs }) =>
        process.effect('release', () => {
          this.taken.delete(topicId)
          const topic = this.#topics.get(topicId)
          if (topic && this.#parked.size > 0)
            topic.configs = new Map([...[...topic.configs].filter(([key]) => !this.#parked.has(key)), ...configs])
          for (const log of topic?.logs ?? []) log.leaderEpoch++
          return this.warnings
        }),
    }
  }

  #close(topicId: Uuid): void {
    const topic = this.#topics.get(topicId)
    if (topic && this.#parked.size > 0) topic.configs = this.configsOf(topic.configs)
  }
}
