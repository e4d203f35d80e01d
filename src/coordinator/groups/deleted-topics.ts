/** Topics that were deleted: what groups have committed of them goes too, and where share groups were; the group coordinator owns one. */
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import type { Uuid } from '../../core/uuid.ts'
import type { MetadataDelta } from '../../metadata/metadata-delta.ts'
import { forgetStateOfTopics } from '../share-groups/share-offsets.ts'
import { removeOffsetsOfTopics } from './expire-offsets.ts'
import type { ServedShard } from './served-shard.ts'

export class DeletedTopics {
  readonly #logger: Logger
  /** Kept while a shard is being loaded. */
  readonly #topics = new Map<string, Uuid>()

  constructor(logger: Logger) {
    this.#logger = logger
  }

  note({ deletedTopics }: MetadataDelta): void {
    for (const topic of deletedTopics.values()) this.#topics.set(topic.name, topic.id)
  }

  /** `isComplete`: no shard is still to come. */
  forgetIn(shards: readonly ServedShard[], { isComplete }: { isComplete: boolean }): void {
    if (this.#topics.size === 0) return
    const failed = (error: unknown) =>
      this.#logger.warn('offsets of deleted topics could not be removed', { error: messageOf(error) })
    for (const shard of shards) {
      removeOffsetsOfTopics(shard, new Map(this.#topics)).catch(failed)
      try {
        forgetStateOfTopics(shard.shares, [...this.#topics.values()])
      } catch (error) {
        failed(error)
      }
    }
    if (isComplete) this.#topics.clear()
  }
}
