/** What this cluster is to the link engine in both modes: topics, configs and ACLs through the Controller port, logs of the replica set. LocalDestination and JoinedDestination add what differs. */
import { messageOf } from '../core/errors.ts'
import type { Uuid } from '../core/uuid.ts'
import type {
  AclBinding,
  AclRefusal,
  ClusterAcls,
  CreateTopicResult,
  Destination,
  DestinationGroup,
  DestinationTopic,
  DestinationTopicConfig,
  GroupCommit,
  GroupOffset,
  MirrorLog,
  WriteFence,
} from '../link/ports.ts'
import { configLayers, effectiveTopicConfig } from '../metadata/config-resolution.ts'
import type { ConfigOperation, Controller, ImageSubscriber, NewTopic } from '../metadata/controller-port.ts'
import type { MetadataDelta } from '../metadata/metadata-delta.ts'
import { ConfigResourceType, type MetadataImage, type TopicImage, topicByName } from '../metadata/metadata-image.ts'
import { topicConfigs } from '../metadata/topic-configs.ts'
import { ErrorCode } from '../protocol/errors.ts'
import type { ReplicaSet } from '../replica/replica-set.ts'
import { aclsOf, createAcls, deleteAcls } from './cluster-acls.ts'
import { LocalMirrorLog, type LogReclaim } from './mirror-log.ts'

export interface ClusterDestinationOptions {
  readonly brokerId: number
  /** The server's properties file: defaults of topic configs come from it. */
  readonly file: ReadonlyMap<string, string>
  readonly controller: Controller
  readonly replicas: Pick<ReplicaSet, 'lookup' | 'clock' | 'flushSoon' | 'storageFailed'>
  readonly groupOffsetRetentionMs: number
  /** `authorizer.class.name` is set: ACLs have an effect. */
  readonly hasAuthorizer: boolean
}

/** Where the partitions of a topic are put: broker ids by partition, the preferred leader first. Empty = the controller chooses. */
export type Assignments = ReadonlyMap<number, readonly number[]>

type TopicRequest = Parameters<Destination['createTopic']>[0]

/** To be subscribed to the controller as the last subscriber: the engine hears of a change when its logs are open. */
export abstract class ClusterDestination implements Destination, ImageSubscriber {
  readonly name = 'destination'
  abstract readonly fence: WriteFence
  /** Where others may lead mirrors at times. */
  protected readonly reclaim: LogReclaim | undefined
  readonly #o: ClusterDestinationOptions
  readonly #listeners = new Set<() => void>()

  constructor(options: ClusterDestinationOptions) {
    this.#o = options
  }

  get clusterId(): string {
    return this.#o.controller.image.clusterId
  }

  topic(name: string): DestinationTopic | undefined {
    return viewOf(topicByName(this.#o.controller.image, name))
  }

  topicById(topicId: Uuid): DestinationTopic | undefined {
    return viewOf(this.#o.controller.image.topics.get(topicId))
  }

  defaultTopicConfig(key: string): string | null | undefined {
    const config = topicConfigs.get(key)
    if (!config) return undefined
    const { brokerId, file, controller } = this.#o
    return effectiveTopicConfig(config, configLayers(controller.image, { brokerId, file })) ?? null
  }

  topicConfig(topicId: Uuid, key: string): DestinationTopicConfig | undefined {
    const config = topicConfigs.get(key)
    const { brokerId, file, controller } = this.#o
    const { image } = controller
    const topic = image.topics.get(topicId)
    const inherited = this.defaultTopicConfig(key)
    if (!config || !topic || inherited === undefined) return undefined
    const layers = configLayers(image, { brokerId, file, topic: topic.name })
    return {
      value: effectiveTopicConfig(config, layers) ?? null,
      overridden: layers.topic?.has(key) === true,
      inherited,
    }
  }

  async alterTopicConfigs(topicId: Uuid, changes: ReadonlyMap<string, string | null>): Promise<void> {
    const { controller } = this.#o
    const topic = controller.image.topics.get(topicId)
    if (!topic) throw new Error(`topic ${topicId} does not exist here`)
    const alteration = {
      resource: { type: ConfigResourceType.TOPIC, name: topic.name },
      changes: [...changes].map(([key, value]) => {
        const operation: ConfigOperation = value === null ? 'delete' : 'set'
        return { key, operation, value }
      }),
    }
    const [altered] = await controller.incrementalAlterConfigs([alteration], { validateOnly: false })
    const { errorCode, errorMessage } = altered ?? { errorCode: -1, errorMessage: 'the controller gave no answer' }
    if (errorCode !== ErrorCode.NONE)
      throw new Error(`${[...changes.keys()].join(', ')} could not be set: ${errorMessage ?? errorCode}`)
  }

  async createTopic(request: TopicRequest, options: { validateOnly: boolean }): Promise<CreateTopicResult> {
    let topic: NewTopic = { ...request, assignments: new Map() }
    try {
      const assignments = await this.placeTopic(topic)
      if (assignments.size > 0) topic = { ...topic, assignments, partitions: -1, replicationFactor: -1 }
    } catch (error) {
      return { ok: false, reason: 'failed', message: messageOf(error) }
    }
    const [created] = await this.#o.controller.createTopics([topic], options)
    if (!created) return { ok: false, reason: 'failed', message: 'the controller gave no answer' }
    const { errorCode, errorMessage, name, topicId } = created
    if (errorCode === ErrorCode.NONE) return { ok: true, topic: { name, topicId, partitions: request.partitions } }
    const message = errorMessage ?? `error code ${errorCode}`
    return { ok: false, reason: reasons.get(errorCode) ?? 'failed', message }
  }

  async createPartitions(topicId: Uuid, count: number): Promise<void> {
    const { controller } = this.#o
    const topic = controller.image.topics.get(topicId)
    if (!topic) throw new Error(`topic ${topicId} does not exist here`)
    if (topic.partitions.length >= count) return
    const assignments = this.placePartitions(topic, count)
    const growth = { name: topic.name, newCount: count, assignments }
    const [grown] = await controller.createPartitions([growth], { validateOnly: false })
    const { errorCode, errorMessage } = grown ?? { errorCode: -1, errorMessage: 'the controller gave no answer' }
    if (errorCode !== ErrorCode.NONE)
      throw new Error(`topic ${topic.name} could not be given ${count} partitions: ${errorMessage ?? errorCode}`)
  }

  onTopicsChanged(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  openEndingLog(topicId: Uuid, partition: number): Promise<MirrorLog> {
    return this.openMirrorLog(topicId, partition)
  }

  openMirrorLog(topicId: Uuid, partition: number): Promise<MirrorLog> {
    return this.openLedLog(topicId, partition)
  }

  async openLedLog(topicId: Uuid, partition: number): Promise<MirrorLog> {
    const { replicas } = this.#o
    return new LocalMirrorLog(replicas.lookup(topicId, partition), replicas, this.reclaim)
  }

  get producerIdEnd(): bigint {
    return this.#o.controller.image.nextProducerId
  }

  get groupOffsetRetentionMs(): number {
    return this.#o.groupOffsetRetentionMs
  }

  abstract leads(topicId: Uuid, partition: number): boolean
  abstract raiseProducerIds(highest: bigint, mirrored: ReadonlySet<bigint>): Promise<readonly string[]>
  abstract readonly shareGroups: Destination['shareGroups']
  abstract groupOffsets(groupId: string): Promise<DestinationGroup>
  abstract commitGroupOffsets(groupId: string, offsets: readonly GroupOffset[]): Promise<GroupCommit>

  acls(): ClusterAcls {
    return this.#o.hasAuthorizer ? aclsOf(this.#o.controller.image) : { kind: 'security-disabled' }
  }

  createAcls(acls: readonly AclBinding[]): Promise<readonly AclRefusal[]> {
    return createAcls(this.#o.controller.acls, acls)
  }

  deleteAcls(acls: readonly AclBinding[]): Promise<readonly AclRefusal[]> {
    return deleteAcls(this.#o.controller.acls, acls)
  }

  hasLogin(user: string): boolean {
    return this.#o.controller.image.scramCredentials.values().some(credential => credential.user === user)
  }

  onImage(_image: MetadataImage, delta: MetadataDelta): void {
    if (delta.changedTopics.size === 0 && delta.deletedTopics.size === 0) return
    for (const listener of this.#listeners) listener()
  }

  /** Rejects where no place can be found for the topic. */
  protected async placeTopic(_topic: NewTopic): Promise<Assignments> {
    return new Map()
  }

  /** Of the partitions that are added to have `count`; null = the controller chooses. */
  protected placePartitions(_topic: TopicImage, _count: number): readonly (readonly number[])[] | null {
    return null
  }
}

const viewOf = (topic: TopicImage | undefined): DestinationTopic | undefined =>
  topic && { name: topic.name, topicId: topic.id, partitions: topic.partitions.length }

const reasons: ReadonlyMap<number, 'exists' | 'invalid'> = new Map([
  [ErrorCode.TOPIC_ALREADY_EXISTS, 'exists'],
  [ErrorCode.INVALID_TOPIC_EXCEPTION, 'invalid'],
  [ErrorCode.INVALID_PARTITIONS, 'invalid'],
  [ErrorCode.INVALID_REPLICATION_FACTOR, 'invalid'],
  [ErrorCode.INVALID_CONFIG, 'invalid'],
  [ErrorCode.INVALID_REQUEST, 'invalid'],
  [ErrorCode.POLICY_VIOLATION, 'invalid'],
] as const)
