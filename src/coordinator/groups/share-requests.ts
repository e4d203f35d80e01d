/** The APIs that share groups of KIP-932 have for themselves; the group coordinator owns one, the handlers and the destination of links call it. */
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'
import { type DescribedShareGroup, describeShareGroup } from '../share-groups/describe-share-group.ts'
import {
  type ShareHeartbeat,
  type ShareHeartbeatAnswer,
  shareHeartbeat,
  shareHeartbeatFailure,
} from '../share-groups/share-heartbeat.ts'
import type { ShareMembership } from '../share-groups/share-membership.ts'
import {
  type AlteredStart,
  alterShareOffsets,
  type DeletedOffsets,
  type DescribedStart,
  deleteShareOffsets,
  describeShareOffsets,
  type TopicWithPartitions,
} from '../share-groups/share-offsets.ts'
import { shareProtocolLevel } from '../share-groups/share-settings.ts'
import type { ServedShard } from './served-shard.ts'

export interface ShareRequestsContext {
  image(): MetadataImage
  /** The shard of the group. Throws CoordinatorError. */
  shard(groupId: string): ServedShard
  /** The code to answer for anything that was thrown. */
  codeOf(error: unknown): number
}

/** Of the whole request; the topics are empty if there is one. */
export interface ShareOffsetsAnswer<T> {
  readonly errorCode: number
  readonly errorMessage: string | null
  readonly topics: readonly T[]
}

export class ShareRequests {
  readonly #context: ShareRequestsContext

  constructor(context: ShareRequestsContext) {
    this.#context = context
  }

  /** Are there share groups? By the feature `share.version`. */
  get isEnabled(): boolean {
    return shareProtocolLevel(this.#context.image()) >= 1
  }

  /** Resolves when everything that it tells is durable. */
  async heartbeat(request: ShareHeartbeat): Promise<ShareHeartbeatAnswer> {
    if (!this.isEnabled) return shareHeartbeatFailure(ErrorCode.UNSUPPORTED_VERSION, null)
    try {
      return await shareHeartbeat(this.#shares(request.groupId), request)
    } catch (error) {
      const { errorCode, errorMessage } = this.#failure(error)
      return shareHeartbeatFailure(errorCode, errorMessage)
    }
  }

  /** What it tells is durable. `group` is undefined if there is an error. */
  async describe(groupId: string): Promise<{
    readonly errorCode: number
    readonly errorMessage: string | null
    readonly group: DescribedShareGroup | undefined
  }> {
    if (!this.isEnabled) return { errorCode: ErrorCode.UNSUPPORTED_VERSION, errorMessage: null, group: undefined }
    if (groupId === '') return { errorCode: ErrorCode.INVALID_GROUP_ID, errorMessage: null, group: undefined }
    try {
      const shares = this.#shares(groupId)
      const group = describeShareGroup(shares.present(groupId), this.#context.image())
      await shares.context.settled()
      return { errorCode: ErrorCode.NONE, errorMessage: null, group }
    } catch (error) {
      return { ...this.#failure(error), group: undefined }
    }
  }

  /** The group as it is now; undefined if it is no share group that this node coordinates. */
  find(groupId: string): DescribedShareGroup | undefined {
    try {
      const present = this.#shares(groupId).get(groupId)
      return present && describeShareGroup(present, this.#context.image())
    } catch (error) {
      if (error instanceof CoordinatorError) return undefined
      throw error
    }
  }

  /** `topics` null: all that the group has read or been given offsets of. */
  describeOffsets(
    groupId: string,
    topics: Parameters<typeof describeShareOffsets>[2],
  ): Promise<ShareOffsetsAnswer<TopicWithPartitions<DescribedStart>>> {
    return this.#answer(groupId, shares => describeShareOffsets(shares, groupId, topics))
  }

  /** Resolves when the new start offsets are durable. */
  alterOffsets(
    groupId: string,
    topics: readonly TopicWithStarts[],
  ): Promise<ShareOffsetsAnswer<TopicWithPartitions<AlteredStart>>> {
    return this.#answer(groupId, shares => alterShareOffsets(shares, groupId, topics))
  }

  /** Resolves when the offsets are durably gone. */
  deleteOffsets(groupId: string, topicNames: readonly string[]): Promise<ShareOffsetsAnswer<DeletedOffsets>> {
    return this.#answer(groupId, shares => deleteShareOffsets(shares, groupId, topicNames))
  }

  async #answer<T>(
    groupId: string,
    ask: (shares: ShareMembership) => Promise<readonly T[]>,
  ): Promise<ShareOffsetsAnswer<T>> {
    if (!this.isEnabled) return { errorCode: ErrorCode.UNSUPPORTED_VERSION, errorMessage: null, topics: [] }
    if (groupId === '') return { errorCode: ErrorCode.INVALID_GROUP_ID, errorMessage: null, topics: [] }
    try {
      return { errorCode: ErrorCode.NONE, errorMessage: null, topics: await ask(this.#shares(groupId)) }
    } catch (error) {
      return { ...this.#failure(error), topics: [] }
    }
  }

  #shares(groupId: string): ShareMembership {
    return this.#context.shard(groupId).shares
  }

  #failure(error: unknown): { errorCode: number; errorMessage: string | null } {
    const errorMessage = error instanceof CoordinatorError ? error.message : null
    return { errorCode: this.#context.codeOf(error), errorMessage }
  }
}

export type TopicWithStarts = Parameters<typeof alterShareOffsets>[2][number]
