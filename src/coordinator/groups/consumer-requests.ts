/** The two APIs that consumer groups of KIP-848 have for themselves; the group coordinator owns one, the handlers call it. */

import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { ConsumerGroup } from '../consumer-groups/consumer-group.ts'
import {
  type ConsumerHeartbeat,
  type ConsumerHeartbeatAnswer,
  consumerHeartbeat,
  heartbeatFailure,
} from '../consumer-groups/consumer-heartbeat.ts'
import { consumerProtocolLevel } from '../consumer-groups/consumer-settings.ts'
import { type DescribedConsumerGroup, describeConsumerGroup } from '../consumer-groups/describe-group.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'
import type { GroupSettings } from './group-settings.ts'
import type { ServedShard } from './served-shard.ts'

export interface ConsumerRequestsContext {
  readonly settings: GroupSettings
  image(): MetadataImage
  /** The shard of the group. Throws CoordinatorError. */
  shard(groupId: string): ServedShard
  /** The code to answer for anything that was thrown. */
  codeOf(error: unknown): number
}

export class ConsumerRequests {
  readonly #context: ConsumerRequestsContext

  constructor(context: ConsumerRequestsContext) {
    this.#context = context
  }

  /** Is the consumer protocol offered? By the feature `group.version` and by `group.coordinator.rebalance.protocols`. */
  get isEnabled(): boolean {
    const { settings, image } = this.#context
    return settings.consumer.isEnabled && consumerProtocolLevel(image()) >= 1
  }

  /** Resolves when everything that it tells is durable. */
  async heartbeat(request: ConsumerHeartbeat): Promise<ConsumerHeartbeatAnswer> {
    if (!this.isEnabled) return heartbeatFailure(ErrorCode.UNSUPPORTED_VERSION, null)
    if (request.groupId.trim() === '') return heartbeatFailure(ErrorCode.INVALID_REQUEST, "GroupId can't be empty.")
    try {
      return await consumerHeartbeat(this.#context.shard(request.groupId).consumers, request)
    } catch (error) {
      const message = error instanceof CoordinatorError ? error.message : null
      return heartbeatFailure(this.#context.codeOf(error), message)
    }
  }

  /** What it tells is durable. `group` is undefined if there is an error. */
  async describe(groupId: string): Promise<{
    readonly errorCode: number
    readonly errorMessage: string | null
    readonly group: DescribedConsumerGroup | undefined
  }> {
    if (!this.isEnabled) return { errorCode: ErrorCode.UNSUPPORTED_VERSION, errorMessage: null, group: undefined }
    if (groupId === '') return { errorCode: ErrorCode.INVALID_GROUP_ID, errorMessage: null, group: undefined }
    try {
      const shard = this.#context.shard(groupId)
      const present = shard.consumers.get(groupId)
      if (!present) throw this.#notFound(shard, groupId)
      const group = this.#described(present)
      await shard.settled()
      return { errorCode: ErrorCode.NONE, errorMessage: null, group }
    } catch (error) {
      const errorMessage = error instanceof CoordinatorError ? error.message : null
      return { errorCode: this.#context.codeOf(error), errorMessage, group: undefined }
    }
  }

  /** The group as it is now; undefined if it is no consumer group that this node coordinates. */
  find(groupId: string): DescribedConsumerGroup | undefined {
    try {
      const present = this.#context.shard(groupId).consumers.get(groupId)
      return present && this.#described(present)
    } catch (error) {
      if (error instanceof CoordinatorError) return undefined
      throw error
    }
  }

  #described(group: ConsumerGroup): DescribedConsumerGroup {
    const [defaultAssignor = ''] = this.#context.settings.consumer.assignors
    return describeConsumerGroup(group, { image: this.#context.image(), defaultAssignor })
  }

  #notFound(shard: ServedShard, groupId: string): CoordinatorError {
    const isOther = shard.state.groups.has(groupId) || shard.consumers.context.isTaken(groupId)
    const message = isOther ? `Group ${groupId} is not a consumer group.` : `Group ${groupId} not found.`
    return new CoordinatorError(ErrorCode.GROUP_ID_NOT_FOUND, message)
  }
}
