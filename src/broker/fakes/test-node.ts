/** A whole standalone broker in memory for tests: controller, replicas and handlers in the order in which a node wires them. */

import { LocalController } from '../../controller/local/local-controller.ts'
import type { GroupCoordinator } from '../../coordinator/groups/group-coordinator.ts'
import { openGroups } from '../../coordinator/groups/open-groups.ts'
import { openSharePartitions } from '../../coordinator/share-partitions/open-share-partitions.ts'
import type { SharePartitions } from '../../coordinator/share-partitions/share-partitions.ts'
import { openShareState } from '../../coordinator/share-state/open-share-state.ts'
import type { ShareCoordinator } from '../../coordinator/share-state/share-coordinator.ts'
import type { SharePersister } from '../../coordinator/share-state/share-persister.ts'
import { openTransactions } from '../../coordinator/transactions/open-transactions.ts'
import type { TransactionCoordinator } from '../../coordinator/transactions/transaction-coordinator.ts'
import { ByteBudget } from '../../core/byte-budget.ts'
import { type Clock, ManualClock } from '../../core/clock.ts'
import { type Logger, silentLogger } from '../../core/logger.ts'
import { seededRandom } from '../../core/random.ts'
import { randomUuid } from '../../core/uuid.ts'
import { MemoryFileSystem } from '../../log/fakes/memory-file-system.ts'
import type { FileSystem } from '../../log/file-system.ts'
import { LogStore } from '../../log/log-store.ts'
import type { Authorizer } from '../../metadata/authorizer.ts'
import type { NewTopic } from '../../metadata/controller-port.ts'
import { topicByName } from '../../metadata/metadata-image.ts'
import { ANONYMOUS, type ClientContext, unwatchedProgress } from '../../network/request-handler.ts'
import type { Api } from '../../protocol/schema/message.ts'
import type { Partition } from '../../replica/partition.ts'
import { ProducerIds } from '../../replica/producer-ids.ts'
import { ReplicaSet } from '../../replica/replica-set.ts'
import { openWriteGate, type WriteGate } from '../../replica/write-gate.ts'
import { Broker } from '../broker.ts'
import { brokerSettings } from '../broker-settings.ts'
import type { JoinedCluster } from '../joined/joined-cluster.ts'

export const NODE_ID = 1
export const LISTENER = 'PLAINTEXT'

export interface TestNodeOptions {
  readonly clusterId?: string
  readonly file?: ReadonlyMap<string, string>
  readonly writeGate?: WriteGate
  readonly authorizer?: Authorizer
  readonly clock?: Clock
  readonly fs?: FileSystem
  readonly directory?: string
  readonly port?: number
  readonly logger?: Logger
  readonly answerBudget?: ByteBudget
  readonly joined?: JoinedCluster
}

export const testClient = (signal = new AbortController().signal): ClientContext => ({
  connectionId: 'test',
  remoteAddress: '127.0.0.1',
  remotePort: 1,
  listener: LISTENER,
  principal: ANONYMOUS,
  clientSoftware: undefined,
  answerBytesMax: Number.MAX_SAFE_INTEGER,
  signal,
})

/** A client that logged in as that user. */
export const clientOf = (name: string): ClientContext => ({ ...testClient(), principal: { type: 'User', name } })

export class TestNode {
  readonly logs: LogStore
  readonly controller: LocalController
  readonly replicas: ReplicaSet
  readonly producerIds: ProducerIds
  readonly groups: GroupCoordinator
  readonly transactions: TransactionCoordinator
  readonly shareState: ShareCoordinator
  readonly sharePersister: SharePersister
  readonly sharePartitions: SharePartitions
  readonly broker: Broker

  private constructor(parts: Omit<TestNode, 'createTopic' | 'partition' | 'call' | 'close'>) {
    this.logs = parts.logs
    this.controller = parts.controller
    this.replicas = parts.replicas
    this.producerIds = parts.producerIds
    this.groups = parts.groups
    this.transactions = parts.transactions
    this.shareState = parts.shareState
    this.sharePersister = parts.sharePersister
    this.sharePartitions = parts.sharePartitions
    this.broker = parts.broker
  }

  static async start(options: TestNodeOptions = {}): Promise<TestNode> {
    const clock = options.clock ?? new ManualClock()
    const logger = options.logger ?? silentLogger
    const fs = options.fs ?? new MemoryFileSystem()
    const directory = options.directory ?? '/data'
    const file = options.file ?? new Map<string, string>()
    const shared = { brokerId: NODE_ID, clock, logger }
    const clusterId = options.clusterId ?? randomUuid()
    const logs = await LogStore.open({ directory, identity: { clusterId, nodeId: NODE_ID }, fs, clock, logger })
    const controller = await LocalController.open({
      directory,
      clusterId,
      nodeId: NODE_ID,
      directoryId: logs.directoryId,
      listeners: [{ name: LISTENER, host: '127.0.0.1', port: options.port ?? 9092, securityProtocol: 0 }],
      rack: null,
      serverProperties: file,
      fs,
      clock,
      logger,
    })
    const replicas = new ReplicaSet({ ...shared, logs, file })
    await controller.subscribe(replicas)
    const producerIds = new ProducerIds(controller)
    const writeGate = options.writeGate ?? openWriteGate
    const random = seededRandom(1)
    const parts = { ...shared, controller, replicas, producerIds, writeGate, random }
    const { coordinator: shareState, persister: sharePersister } = openShareState({ ...parts, file })
    await controller.subscribe(shareState.partitions)
    await controller.subscribe(shareState)
    const groups = openGroups({ ...parts, file, persister: sharePersister })
    await controller.subscribe(groups)
    const offsetsEnded = groups.transactionCompleted.bind(groups)
    const transactions = openTransactions({ ...parts, file, offsetsEnded })
    await controller.subscribe(transactions.partitions)
    const sharePartitions = openSharePartitions({ ...parts, persister: sharePersister, file })
    await controller.subscribe(sharePartitions)
    const broker = new Broker({
      ...parts,
      groups,
      transactions,
      shareState,
      sharePartitions,
      ...(options.authorizer ? { authorizer: options.authorizer } : {}),
      ...(options.joined ? { joined: options.joined } : {}),
      settings: brokerSettings(file),
      logDirectory: { path: directory, space: async () => ({ totalBytes: 1000n, usableBytes: 400n }) },
      answerBudget: options.answerBudget ?? new ByteBudget(Number.MAX_SAFE_INTEGER),
    })
    return new TestNode({
      logs,
      controller,
      replicas,
      producerIds,
      groups,
      transactions,
      shareState,
      sharePersister,
      sharePartitions,
      broker,
    })
  }

  async createTopic(name: string, options: { partitions?: number; configs?: Record<string, string> } = {}) {
    const topic: NewTopic = {
      name,
      partitions: options.partitions ?? 1,
      replicationFactor: 1,
      assignments: new Map(),
      configs: new Map(Object.entries(options.configs ?? {})),
    }
    const [created] = await this.controller.createTopics([topic], { validateOnly: false })
    if (created?.errorCode !== 0) throw new Error(`${name}: ${created?.errorMessage}`)
    return created
  }

  partition(topic: string, index = 0): Partition {
    const found = topicByName(this.controller.image, topic)
    if (!found) throw new Error(`no topic ${topic}`)
    return this.replicas.lookup(found.id, index)
  }

  /** Encodes the request, lets the broker answer it and decodes the answer; undefined if there is none. */
  async call<Q, QI, R, RI>(
    api: Api<Q, QI, R, RI>,
    request: QI,
    options: { version?: number; client?: ClientContext; clientId?: string } = {},
  ): Promise<R | undefined> {
    const version = options.version ?? api.request.versions.max
    const body = api.request.encode(request, version)
    const incoming = {
      apiKey: api.key,
      apiVersion: version,
      correlationId: 1,
      clientId: options.clientId ?? 'test',
      body,
      receivedMs: 0,
      progress: unwatchedProgress,
    }
    const chunks = await this.broker.handle(incoming, options.client ?? testClient())
    return chunks && api.response.decode(Buffer.concat(chunks), version)
  }

  async close(): Promise<void> {
    await this.groups.close()
    await this.transactions.close()
    await this.sharePartitions.close()
    await this.shareState.close()
    await this.replicas.close()
    await this.controller.close()
    await this.logs.close()
  }
}
