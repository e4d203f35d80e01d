/**
 * The group coordinator of this node: classic groups and committed offsets, kept in `__consumer_offsets`. The handlers of the
 * group APIs call it, the destination of links commits through it, and the transaction coordinator tells it how transactions end.
 */
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { ImageSubscriber } from '../../metadata/controller-port.ts'
import type { MetadataDelta } from '../../metadata/metadata-delta.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import type { Compression } from '../../protocol/batches/batch-header.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { CoordinatorError, coordinatorErrorCode } from '../runtime/coordinator-error.ts'
import type { InternalTopic } from '../runtime/internal-topics.ts'
import {
  type Loaded,
  StatePartitions,
  type StatePartitionsOptions,
  type WriteTransaction,
} from '../runtime/state-partitions.ts'
import type { SharePersister } from '../share-state/share-persister.ts'
import { joinAnswer } from './classic-group.ts'
import { type CommitRequest, commitOffsets, commitTransactionalOffsets, deleteOffsets } from './commit-offsets.ts'
import { ConsumerRequests } from './consumer-requests.ts'
import { DeletedTopics } from './deleted-topics.ts'
import { heartbeatEither, joinEither, leaveEither, syncEither } from './either-protocol.ts'
import { type FetchedTopic, type FetchOffsetsRequest, fetchOffsets } from './fetch-offsets.ts'
import { figuresOf, type GroupFigures } from './group-figures.ts'
import type { JoinAnswer, SyncAnswer } from './group-member.ts'
import {
  type DescribedGroup,
  deleteGroup,
  describeGroup,
  type GroupFilter,
  type ListedGroup,
  listGroups,
} from './group-overview.ts'
import type { GroupSettings } from './group-settings.ts'
import { GroupShard } from './group-shard.ts'
import type { JoinRequest } from './join-group.ts'
import {
  type LeftMember,
  type MemberIdentity,
  type MemberRequest,
  type SyncRequest,
  syncFailure,
} from './membership.ts'
import { OffsetExpiry } from './offset-expiry.ts'
import { ServedShard } from './served-shard.ts'
import { ShareRequests } from './share-requests.ts'

export interface GroupCoordinatorOptions
  extends Pick<StatePartitionsOptions<GroupShard>, 'brokerId' | 'replicas' | 'controller'> {
  readonly topic: InternalTopic
  readonly compression?: Compression
  readonly settings: GroupSettings
  /** Where share groups keep how far they are. */
  readonly persister: SharePersister
  readonly clock: Clock
  readonly logger: Logger
}

export class GroupCoordinator implements ImageSubscriber {
  readonly name = 'groups'
  readonly #options: GroupCoordinatorOptions
  readonly #logger: Logger
  readonly #partitions: StatePartitions<GroupShard>
  readonly #shards = new Map<Loaded<GroupShard>, ServedShard>()
  readonly #deletedTopics: DeletedTopics
  #offsetCommits = 0
  readonly #expiry: OffsetExpiry
  /** Of consumer groups (KIP-848). */
  readonly consumers: ConsumerRequests
  /** Of share groups (KIP-932). */
  readonly shares: ShareRequests

  constructor(options: GroupCoordinatorOptions) {
    const { topic, settings, persister, clock, logger } = options
    this.#options = options
    this.#logger = logger.child({ component: 'groups' })
    this.#deletedTopics = new DeletedTopics(this.#logger)
    this.#partitions = new StatePartitions<GroupShard>({
      ...options,
      definition: topic,
      createState: () => new GroupShard(),
      replay: (shard, record, batch) => shard.replay(record, batch),
      replayMarker: (shard, marker) => shard.replayMarker(marker),
      loaded: loaded => this.#serve(loaded, { settings, persister, clock, logger: this.#logger }),
      unloaded: loaded => this.#unserve(loaded),
    })
    const requests = {
      settings,
      image: () => options.controller.image,
      shard: (groupId: string) => this.#shard(groupId),
      codeOf: (error: unknown) => this.#codeOf(error),
    }
    this.consumers = new ConsumerRequests(requests)
    this.shares = new ShareRequests(requests)
    this.#expiry = new OffsetExpiry({
      intervalMs: settings.retentionCheckMs,
      shards: () => [...this.#shards.values()],
      clock,
      logger: this.#logger,
    })
  }

  get figures(): GroupFigures {
    return { ...figuresOf(this.#shards.keys()), offsetCommits: this.#offsetCommits }
  }

  get topic(): string {
    return this.#partitions.topic
  }

  /** Partition of `__consumer_offsets` that holds the group: its leader is the group's coordinator. */
  partitionFor(groupId: string): number {
    return this.#partitions.partitionFor(groupId)
  }

  /** Creates `__consumer_offsets` unless it exists. Throws CoordinatorError COORDINATOR_NOT_AVAILABLE. */
  ensureTopic(): Promise<void> {
    return this.#partitions.ensureTopic()
  }

  /** Resolves when the member has its place in a generation, or with why it has none. */
  async join(request: JoinRequest): Promise<JoinAnswer> {
    const { sessionTimeoutMs } = request.description
    const { sessionTimeoutMsMin, sessionTimeoutMsMax } = this.#options.settings
    if (request.groupId === '') return joinAnswer(ErrorCode.INVALID_GROUP_ID, request.memberId)
    if (sessionTimeoutMs < sessionTimeoutMsMin || sessionTimeoutMs > sessionTimeoutMsMax)
      return joinAnswer(ErrorCode.INVALID_SESSION_TIMEOUT, request.memberId)
    try {
      return await joinEither(this.#shard(request.groupId), request)
    } catch (error) {
      return joinAnswer(this.#codeOf(error), '')
    }
  }

  /** Resolves to the member's assignment, or with why there is none. */
  async sync(request: SyncRequest): Promise<SyncAnswer> {
    if (request.groupId === '') return syncFailure(ErrorCode.INVALID_GROUP_ID)
    try {
      return await syncEither(this.#shard(request.groupId), request)
    } catch (error) {
      return syncFailure(this.#codeOf(error))
    }
  }

  /** The code to answer. */
  heartbeat(request: MemberRequest): number {
    if (request.groupId === '') return ErrorCode.INVALID_GROUP_ID
    try {
      return heartbeatEither(this.#shard(request.groupId), request)
    } catch (error) {
      const code = this.#codeOf(error)
      // Its session begins when the group is loaded.
      return code === ErrorCode.COORDINATOR_LOAD_IN_PROGRESS ? ErrorCode.NONE : code
    }
  }

  async leave(
    groupId: string,
    members: readonly MemberIdentity[],
  ): Promise<{ errorCode: number; members: LeftMember[] }> {
    if (groupId === '') return { errorCode: ErrorCode.INVALID_GROUP_ID, members: [] }
    try {
      return { errorCode: ErrorCode.NONE, members: await leaveEither(this.#shard(groupId), groupId, members) }
    } catch (error) {
      const errorCode = this.#codeOf(error)
      if (errorCode !== ErrorCode.UNKNOWN_MEMBER_ID) return { errorCode, members: [] }
      return { errorCode: ErrorCode.NONE, members: members.map(member => ({ ...member, errorCode })) }
    }
  }

  /** Codes in the order of the request's offsets, once they are durable. */
  async commitOffsets(request: CommitRequest): Promise<number[]> {
    try {
      const codes = await commitOffsets(this.#shard(request.groupId), request)
      this.#offsetCommits += codes.length
      return codes
    } catch (error) {
      return request.offsets.map(() => this.#codeOf(error))
    }
  }

  /**
   * Offsets that count once the producer's transaction is committed; codes in the order of the request's offsets. That the
   * transaction is open is the caller's business.
   */
  async commitTransactionalOffsets(
    request: Omit<CommitRequest, 'retentionMs' | 'unknownGroup'>,
    transaction: WriteTransaction,
  ): Promise<number[]> {
    if (request.groupId === '') return request.offsets.map(() => ErrorCode.INVALID_GROUP_ID)
    try {
      const codes = await commitTransactionalOffsets(this.#shard(request.groupId), request, transaction)
      this.#offsetCommits += codes.length
      return codes
    } catch (error) {
      return request.offsets.map(() => this.#codeOf(error))
    }
  }

  /** To be called after the marker was appended to this partition of `__consumer_offsets`; a partition that is being loaded reads it. */
  transactionCompleted(partition: number, producerId: bigint, committed: boolean): void {
    for (const [loaded, shard] of this.#shards)
      if (loaded.partition === partition) shard.state.replayMarker({ producerId, committed })
  }

  async fetchOffsets(request: FetchOffsetsRequest): Promise<{ errorCode: number; topics: FetchedTopic[] }> {
    try {
      return { errorCode: ErrorCode.NONE, topics: await fetchOffsets(this.#shard(request.groupId), request) }
    } catch (error) {
      return { errorCode: this.#codeOf(error), topics: [] }
    }
  }

  /** Codes in the order of `places`; `errorCode` is for all of them. */
  async deleteOffsets(
    groupId: string,
    places: readonly { readonly topic: string; readonly partition: number }[],
  ): Promise<{ errorCode: number; codes: number[] }> {
    if (groupId === '') return { errorCode: ErrorCode.INVALID_GROUP_ID, codes: [] }
    try {
      return { errorCode: ErrorCode.NONE, codes: await deleteOffsets(this.#shard(groupId), groupId, places) }
    } catch (error) {
      return { errorCode: this.#codeOf(error), codes: [] }
    }
  }

  /** Groups that this node coordinates. */
  listGroups(filter: GroupFilter): { errorCode: number; groups: ListedGroup[] } {
    if (this.#partitions.loading) return { errorCode: ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, groups: [] }
    const groups = [...this.#shards.values()].flatMap(shard => listGroups(shard, filter))
    return { errorCode: ErrorCode.NONE, groups }
  }

  /** `group` is undefined if there is an error, GROUP_ID_NOT_FOUND among them. */
  describeGroup(groupId: string): { errorCode: number; group: DescribedGroup | undefined } {
    try {
      const group = describeGroup(this.#shard(groupId), groupId)
      return { errorCode: group ? ErrorCode.NONE : ErrorCode.GROUP_ID_NOT_FOUND, group }
    } catch (error) {
      return { errorCode: this.#codeOf(error), group: undefined }
    }
  }

  /** The code to answer, once the group and its offsets are durably gone. */
  async deleteGroup(groupId: string): Promise<number> {
    try {
      return await deleteGroup(this.#shard(groupId), groupId)
    } catch (error) {
      return this.#codeOf(error)
    }
  }

  onImage(image: MetadataImage, delta: MetadataDelta): void {
    this.#deletedTopics.note(delta)
    this.#partitions.onImage(image)
    this.#deletedTopics.forgetIn([...this.#shards.values()], { isComplete: !this.#partitions.loading })
  }

  /** Answers everybody who waits, stops every timer and resolves when nothing runs any more. */
  async close(): Promise<void> {
    this.#expiry.close()
    await this.#partitions.close()
  }

  #serve(
    loaded: Loaded<GroupShard>,
    context: { settings: GroupSettings; persister: SharePersister; clock: Clock; logger: Logger },
  ): void {
    const { brokerId, controller } = this.#options
    const shard = new ServedShard(loaded, this.#partitions, { ...context, brokerId, image: () => controller.image })
    this.#shards.set(loaded, shard)
    shard.resume()
    this.#deletedTopics.forgetIn([shard], { isComplete: false })
  }

  #unserve(loaded: Loaded<GroupShard>): void {
    this.#shards.get(loaded)?.end(ErrorCode.NOT_COORDINATOR)
    this.#shards.delete(loaded)
  }

  #shard(groupId: string): ServedShard {
    const shard = this.#shards.get(this.#partitions.state(groupId))
    if (!shard) throw new CoordinatorError(ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
    return shard
  }

  #codeOf(error: unknown): number {
    if (!(error instanceof CoordinatorError))
      this.#logger.error('a group operation failed unexpectedly', {
        error: error instanceof Error ? (error.stack ?? error.message) : String(error),
      })
    return coordinatorErrorCode(error)
  }
}
