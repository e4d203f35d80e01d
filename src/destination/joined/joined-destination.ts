/** A Kafka cluster that this node has joined as the link engine's Destination: topics placed on Lockstep nodes and Java brokers, groups asked of their coordinators over the network. Made by the composition root. */
import type { Random } from '../../core/random.ts'
import type { Uuid } from '../../core/uuid.ts'
import type {
  AbortedTransactions,
  CreateTopicResult,
  Destination,
  DestinationGroup,
  GroupCommit,
  GroupOffset,
  MirrorLog,
  WriteFence,
} from '../../link/ports.ts'
import type { NewTopic } from '../../metadata/controller-port.ts'
import { isLockstepNode, lockstepNode } from '../../metadata/lockstep-nodes.ts'
import type { TopicImage } from '../../metadata/metadata-image.ts'
import { type Placement, placeGrowth, placeMirror } from '../../metadata/placement/mirror-placement.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { type Assignments, ClusterDestination, type ClusterDestinationOptions } from '../cluster-destination.ts'
import type { LogReclaim } from '../mirror-log.ts'
import { DistantLog, type DistantLogOptions } from './distant-log.ts'
import type { BrokerLinks } from './group-coordinators.ts'
import { type ListedKind, listGroupIds } from './group-listing.ts'
import type { GroupRequests } from './group-requests.ts'
import type { JoinedFence } from './joined-fence.ts'
import type { PeerLogs } from './peer-logs.ts'
import { PeerMirrorLog } from './peer-mirror-log.ts'
import type { ProducerIdBarrier } from './producer-id-barrier.ts'
import type { TransactionAborts } from './transaction-aborts.ts'

export interface JoinedDestinationOptions extends ClusterDestinationOptions {
  readonly fence: WriteFence & Pick<JoinedFence, 'configsOf' | 'guard' | 'unguard'>
  readonly reclaim: LogReclaim
  readonly questions: DistantLogOptions['questions']
  readonly peerLogs: Pick<PeerLogs, 'call'>
  readonly barrier: Pick<ProducerIdBarrier, 'raiseAbove'>
  readonly transactions: Pick<TransactionAborts, 'abort'>
  readonly groups: Pick<GroupRequests, 'read' | 'commit' | 'readShareStarts' | 'setShareStarts'>
  readonly brokers: BrokerLinks
  readonly random: Random
}

export class JoinedDestination extends ClusterDestination {
  readonly fence: WriteFence
  protected override readonly reclaim: LogReclaim
  readonly #o: JoinedDestinationOptions

  constructor(options: JoinedDestinationOptions) {
    super(options)
    this.#o = options
    this.fence = options.fence
    this.reclaim = options.reclaim
  }

  leads(topicId: Uuid, partition: number): boolean {
    const { controller, brokerId } = this.#o
    return controller.image.topics.get(topicId)?.partitions[partition]?.leader === brokerId
  }

  abortTransactions(topic: string, producerIds: ReadonlySet<bigint>): Promise<AbortedTransactions> {
    return this.#o.transactions.abort(topic, producerIds)
  }

  /** Many brokers hand out ids: which are in use, they are asked. */
  override get producerIdEnd(): bigint {
    return 0n
  }

  raiseProducerIds(highest: bigint, mirrored: ReadonlySet<bigint>): Promise<readonly string[]> {
    return this.#o.barrier.raiseAbove(highest, mirrored)
  }

  override async openMirrorLog(topicId: Uuid, partition: number): Promise<MirrorLog> {
    const { controller, brokerId, peerLogs } = this.#o
    const { image } = controller
    const topic = image.topics.get(topicId)
    const { leader = -1, leaderEpoch = -1 } = topic?.partitions[partition] ?? {}
    if (!topic || leader === brokerId || !lockstepNode(image, leader)) return await this.openLedLog(topicId, partition)
    const call: PeerLogs['call'] = (node, request) => peerLogs.call(node, request)
    return await PeerMirrorLog.open({
      ...{ topicId, partition, leader, leaderEpoch, call },
      name: `${topic.name}-${partition}`,
    })
  }

  /** Of a partition that a Kafka broker leads: of an ordinary topic, or a mirror's that nobody of ours is left to lead. */
  override async openEndingLog(topicId: Uuid, partition: number): Promise<MirrorLog> {
    const { controller, questions } = this.#o
    const { image } = controller
    const topic = image.topics.get(topicId)
    const placed = topic?.partitions[partition]
    if (!topic || !placed || placed.leader < 0 || isLockstepNode(image, placed.leader))
      return await this.openMirrorLog(topicId, partition)
    return await DistantLog.open({ topic: topic.name, partition, placed, questions })
  }

  override async createTopic(
    request: Parameters<ClusterDestination['createTopic']>[0],
    options: { validateOnly: boolean },
  ): Promise<CreateTopicResult> {
    const { fence } = this.#o
    const fenced = { ...request, configs: fence.configsOf(request.configs) }
    if (options.validateOnly) return await super.createTopic(fenced, options)
    await fence.guard(request.name)
    const result = await super.createTopic(fenced, options)
    if (!result.ok) await fence.unguard(request.name)
    return result
  }

  /** Of a cluster that has the feature; undefined = it has no share groups. */
  get shareGroups(): Destination['shareGroups'] {
    const { controller, groups } = this.#o
    if ((controller.image.features.get('share.version') ?? 0) < 1) return undefined
    return {
      groupIds: () => this.#groupsOf('share'),
      offsets: groupId => groups.readShareStarts(groupId),
      setOffsets: (groupId, offsets) => groups.setShareStarts(groupId, offsets),
    }
  }

  groupIds(): Promise<readonly string[]> {
    return this.#groupsOf('committing')
  }

  #groupsOf(kind: ListedKind): Promise<readonly string[]> {
    const { controller, brokers } = this.#o
    return listGroupIds({ image: controller.image, kind }, brokers)
  }

  groupOffsets(groupId: string): Promise<DestinationGroup> {
    return this.#o.groups.read(groupId)
  }

  commitGroupOffsets(groupId: string, offsets: readonly GroupOffset[]): Promise<GroupCommit> {
    return this.#o.groups.commit(groupId, offsets)
  }

  protected override async placeTopic(topic: NewTopic): Promise<Assignments> {
    const { controller, random } = this.#o
    const replicationFactor =
      topic.replicationFactor === -1 ? await this.#defaultFactor(topic) : topic.replicationFactor
    const placed = placeMirror(controller.image, { count: topic.partitions, replicationFactor, random })
    return new Map(assignmentsOf(placed).entries())
  }

  protected override placePartitions(topic: TopicImage, newCount: number): readonly (readonly number[])[] {
    const { controller, random } = this.#o
    return assignmentsOf(placeGrowth(controller.image, { topic, newCount, random }))
  }

  /** Only the controller knows it: it is asked what it would do. */
  async #defaultFactor({ name, partitions }: NewTopic): Promise<number> {
    const asked = { name, partitions, replicationFactor: -1, assignments: new Map(), configs: new Map() }
    const [answer] = await this.#o.controller.createTopics([asked], { validateOnly: true })
    if (answer?.errorCode !== ErrorCode.NONE)
      throw new Error(answer?.errorMessage ?? `the controller answers with error code ${answer?.errorCode}`)
    return answer.replicationFactor
  }
}

function assignmentsOf(placed: Placement): readonly (readonly number[])[] {
  if (placed.ok) return placed.assignments
  throw new Error(placed.error.errorMessage ?? 'no place for the topic')
}
