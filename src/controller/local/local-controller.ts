/** The Controller of a standalone node: commands become records of its own `__cluster_metadata-0`, durable before they are replayed and published. Made by the node at start. */

import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import type { Logger } from '../../core/logger.ts'
import { SerialQueue } from '../../core/serial-queue.ts'
import { randomUuid, type Uuid } from '../../core/uuid.ts'
import type { FileSystem } from '../../log/file-system.ts'
import { brokerConfig } from '../../metadata/broker-configs.ts'
import { configLayers, effectiveBrokerConfig } from '../../metadata/config-resolution.ts'
import type {
  ConfigAlteration,
  Controller,
  CreationOptions,
  ImageSubscriber,
  IsrChange,
  NewTopic,
  PartitionGrowth,
} from '../../metadata/controller-port.ts'
import type { EndpointImage, MetadataImage } from '../../metadata/metadata-image.ts'
import { type MetadataRecordInput, MetadataRecordType } from '../../protocol/metadata-records/registry.ts'
import { ReplayLoop } from '../replay-loop.ts'
import { localQuotaCommands } from './alter-client-quotas.ts'
import { alterConfigs } from './alter-configs.ts'
import { alterPartition, bumpLeaderEpoch } from './alter-partition.ts'
import { bootstrapRecords, minInsyncReplicasRecord } from './bootstrap.ts'
import { controllerError } from './controller-errors.ts'
import { createPartitions } from './create-partitions.ts'
import { createTopics } from './create-topics.ts'
import type { Decision } from './decision.ts'
import { deleteTopics, type TopicToDelete } from './delete-topics.ts'
import { mayElect, uncleanElections } from './elect-leaders.ts'
import { localAclCommands } from './local-acl-commands.ts'
import { LocalClusterCommands } from './local-cluster-commands.ts'
import { MetadataLog } from './metadata-log.ts'
import { segmentLimits, snapshotRules } from './metadata-log-settings.ts'
import { allocateProducerIds, skipProducerIdsBelow } from './producer-ids.ts'
import { type OwnBroker, registerBroker, unfenceBroker } from './register-broker.ts'
import { localScramCommands } from './scram-credentials.ts'
import { Snapshotter } from './snapshotter.ts'

export interface LocalControllerOptions {
  /** Data directory that holds (or will hold) `__cluster_metadata-0`. */
  readonly directory: string
  readonly clusterId: string
  readonly nodeId: number
  /** `directory.id` of the data directory, where new partitions are placed. */
  readonly directoryId: Uuid
  /** As clients are told (the advertised ones). */
  readonly listeners: readonly EndpointImage[]
  readonly rack: string | null
  /** The server's properties file: defaults of new topics. */
  readonly serverProperties: ReadonlyMap<string, string>
  /** Written at the first start of a fresh directory: the first users. */
  readonly firstRecords?: readonly MetadataRecordInput[]
  readonly fs: FileSystem
  readonly clock: Clock
  readonly logger: Logger
}

export class LocalController implements Controller {
  readonly acls = localAclCommands(decide => this.#command(decide))
  readonly quotas = localQuotaCommands((decide, options) => this.#command(decide, options))
  readonly scram = localScramCommands(decide => this.#command(decide))
  readonly cluster: LocalClusterCommands
  readonly #options: LocalControllerOptions
  readonly #log: MetadataLog
  readonly #loop: ReplayLoop
  readonly #snapshotter: Snapshotter
  readonly #commands = new SerialQueue()
  #own: OwnBroker
  #closed = false
  /** Set after a failed append: the log must be cut back to this offset before anything else is decided. */
  #takeBackTo: number | undefined

  private constructor(options: LocalControllerOptions, log: MetadataLog, loop: ReplayLoop) {
    this.#options = options
    this.#log = log
    this.#loop = loop
    this.#snapshotter = new Snapshotter({ log, rules: snapshotRules(options.serverProperties), ...options })
    this.cluster = new LocalClusterCommands({
      own: options,
      image: () => this.image,
      endOffset: () => log.endOffset,
      run: (decide, how) => this.#command(decide, how),
    })
    this.#own = {
      id: options.nodeId,
      incarnationId: randomUuid(),
      listeners: options.listeners,
      rack: options.rack,
      directoryId: options.directoryId,
    }
  }

  /**
   * Replays the log (an unclean tail is cut by the log), starts a new epoch, writes the bootstrap records of a fresh
   * directory, and registers this node. Rejects with METADATA_LOG_UNREADABLE or METADATA_LOG_FAILED.
   */
  static async open(options: LocalControllerOptions): Promise<LocalController> {
    const loop = new ReplayLoop({ clusterId: options.clusterId, logger: options.logger })
    const segments = segmentLimits(options.serverProperties)
    const log = await MetadataLog.open({ ...options, segments })
    try {
      const controller = new LocalController(options, log, loop)
      await controller.#start()
      return controller
    } catch (error) {
      await log.close()
      throw error
    }
  }

  async #start(): Promise<void> {
    try {
      const snapshot = this.#log.takeSnapshot()
      if (snapshot) this.#loop.load(snapshot.contents, snapshot.id)
      for await (const bytes of this.#log.contents(snapshot?.id.offset ?? 0)) this.#replay(bytes)
    } catch (error) {
      const directory = join(this.#options.directory, MetadataLog.directoryName)
      throw controllerError('METADATA_LOG_UNREADABLE', { directory, reason: messageOf(error) }, error)
    }
    this.#replay(await this.#log.startEpoch())
    if (this.#loop.inTransaction) {
      const value = { reason: 'the controller restarted' }
      await this.#append([{ type: MetadataRecordType.AbortTransaction, version: 0, value }])
    }
    await this.#publish()
    if (this.image.features.size === 0) {
      await this.#append(await this.#bootstrap())
      await this.#publish()
    }
    await this.#register(true)
  }

  async #bootstrap(): Promise<MetadataRecordInput[]> {
    const { fs, directory, clock, firstRecords = [] } = this.#options
    const features = await bootstrapRecords(fs, directory, BigInt(clock.nowMs()))
    return [...features, minInsyncReplicasRecord(this.#serverProperty('min.insync.replicas')), ...firstRecords]
  }

  async #register(newIncarnation: boolean): Promise<void> {
    await this.#decide(image => registerBroker(image, this.#own, this.#log.endOffset))
    await this.#decide(image => unfenceBroker(image, this.#own.id, newIncarnation))
    await this.#decide(image => uncleanElections(image, this.cluster.own))
  }

  get image(): MetadataImage {
    return this.#loop.image
  }

  /** Registers again with other listeners, under the same incarnation: leader epochs stay. */
  changeListeners(listeners: readonly EndpointImage[]): Promise<void> {
    return this.#exclusively(async () => {
      // To register again would fence the broker for a moment, and clients would see it without leaders.
      if (isDeepStrictEqual(listeners, this.#own.listeners)) return
      this.#own = { ...this.#own, listeners }
      await this.#register(false)
    })
  }

  subscribe(subscriber: ImageSubscriber): Promise<void> {
    return this.#commands.run(() => this.#loop.subscribe(subscriber))
  }

  createTopics(topics: readonly NewTopic[], options: CreationOptions) {
    const defaults = {
      partitions: Number(this.#serverProperty('num.partitions')),
      replicationFactor: Number(this.#serverProperty('default.replication.factor')),
    }
    return this.#command(image => createTopics(image, topics, { ...defaults, mayMutate: options.mayMutate }), options)
  }

  deleteTopics(topics: readonly TopicToDelete[], { mayMutate }: Pick<CreationOptions, 'mayMutate'> = {}) {
    const enabled = this.#serverProperty('delete.topic.enable').trim().toLowerCase() === 'true'
    return this.#command(image => deleteTopics(image, topics, { enabled, mayMutate }))
  }

  async incrementalAlterConfigs(alterations: readonly ConfigAlteration[], options: { readonly validateOnly: boolean }) {
    const decide = (image: MetadataImage) => alterConfigs(image, alterations, name => this.#serverProperty(name))
    const answer = await this.#command(decide, options)
    if (!options.validateOnly && mayElect(alterations))
      await this.#command(image => uncleanElections(image, this.cluster.own))
    return answer
  }

  createPartitions(topics: readonly PartitionGrowth[], options: CreationOptions) {
    return this.#command(image => createPartitions(image, topics, options), options)
  }

  alterPartition(changes: readonly IsrChange[]) {
    return this.#command(image => alterPartition(image, changes, this.#own.id))
  }

  async bumpLeaderEpoch(topicId: Uuid, partition: number): Promise<number> {
    const bumped = await this.#command(image => bumpLeaderEpoch(image, topicId, partition))
    if (bumped === undefined) throw controllerError('UNKNOWN_PARTITION', { topicId, partition })
    return bumped.leaderEpoch
  }

  async allocateProducerIds() {
    const block = await this.#command(image => allocateProducerIds(image, this.#own.id))
    if (block === undefined) throw controllerError('PRODUCER_IDS_EXHAUSTED', undefined)
    return block
  }

  skipProducerIdsBelow(producerId: bigint): Promise<void> {
    return this.#command(image => skipProducerIdsBelow(image, this.#own.id, producerId))
  }

  async close(): Promise<void> {
    if (this.#closed) return this.#commands.idle()
    this.#closed = true
    await this.#snapshotter.close()
    await this.#commands.run(() => this.#log.close())
  }

  #command<A>(decide: (image: MetadataImage) => Decision<A>, options?: { readonly validateOnly: boolean }): Promise<A> {
    return this.#exclusively(() => (options?.validateOnly ? decide(this.image).answer : this.#decide(decide)))
  }

  /** One command at a time: each decides on the image that the one before left behind. */
  #exclusively<A>(job: () => Promise<A> | A): Promise<A> {
    if (this.#closed) return Promise.reject(controllerError('CONTROLLER_CLOSED', undefined))
    return this.#commands.run(async () => {
      await this.#takeBack()
      return job()
    })
  }

  async #decide<A>(decide: (image: MetadataImage) => Decision<A>): Promise<A> {
    const { records, answer } = decide(this.image)
    if (records.length === 0) return answer
    await this.#append(records)
    await this.#publish()
    return answer
  }

  #replay(bytes: Buffer): void {
    this.#loop.replay(bytes)
    this.#snapshotter.replayed(bytes)
  }

  async #publish(): Promise<void> {
    await this.#loop.publish()
    this.#snapshotter.published(this.#loop.snapshotBasis)
  }

  /** Durable, then replayed. A failed write is taken back, so that the log never holds what the image does not. */
  async #append(records: readonly MetadataRecordInput[]): Promise<void> {
    const end = this.#log.endOffset
    let bytes: Buffer
    try {
      bytes = await this.#log.append(records)
    } catch (error) {
      this.#takeBackTo = end
      await this.#takeBack().catch(() => {})
      throw controllerError('METADATA_LOG_FAILED', { reason: messageOf(error) }, error)
    }
    this.#replay(bytes)
  }

  /** Tried at once, and again before each later command for as long as the disk does not allow it. */
  async #takeBack(): Promise<void> {
    if (this.#takeBackTo === undefined) return
    try {
      await this.#log.takeBack(this.#takeBackTo)
      this.#takeBackTo = undefined
    } catch (error) {
      throw controllerError('METADATA_LOG_FAILED', { reason: messageOf(error) }, error)
    }
  }

  /** Effective text of a server property of this node; its default if it is set nowhere. */
  #serverProperty(name: string): string {
    const layers = configLayers(this.image, { brokerId: this.#own.id, file: this.#options.serverProperties })
    return effectiveBrokerConfig(name, layers) ?? brokerConfig(name)?.property.default ?? ''
  }
}
