// A joined node without links, placement and evictor: membership, replicas and a broker, in the process of the suite, so that a mirror's writes can be made by hand.
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Broker } from '../src/broker/broker.ts'
import { brokerSettings } from '../src/broker/broker-settings.ts'
import { openToAll, quorumConnections } from '../src/controller/joined/quorum-connection.ts'
import { ByteBudget } from '../src/core/byte-budget.ts'
import { systemClock } from '../src/core/clock.ts'
import { type Logger, silentLogger } from '../src/core/logger.ts'
import { systemRandom } from '../src/core/random.ts'
import { LogStore } from '../src/log/log-store.ts'
import { lockstepEndpoint } from '../src/metadata/lockstep-nodes.ts'
import { type PartitionImage, topicByName } from '../src/metadata/metadata-image.ts'
import { type KafkaServer, listen } from '../src/network/server-listener.ts'
import { ClusterConnections } from '../src/node/joined/cluster-connections.ts'
import { joinedCluster, joinedCoordinators } from '../src/node/joined/joined-broker.ts'
import { Startup } from '../src/node/startup.ts'
import { MirrorPartition } from '../src/replica/mirror-partition.ts'
import type { Partition } from '../src/replica/partition.ts'
import { ProducerIds } from '../src/replica/producer-ids.ts'
import type { Replica } from '../src/replica/replica.ts'
import { ReplicaSet } from '../src/replica/replica-set.ts'
import { openWriteGate } from '../src/replica/write-gate.ts'
import { freePorts } from './free-port.ts'
import { JoinedClient } from './joined-client.ts'
import type { KafkaCluster } from './kafka/cluster.ts'

export interface ReplicaNodeOptions {
  readonly cluster: Pick<KafkaCluster, 'clusterId' | 'controllerAddresses'>
  readonly nodeId: number
  /** Created if absent; the next life goes on with it. */
  readonly directory: string
  /** Default: any. */
  readonly port?: number
  /** Properties of the server's file. */
  readonly file?: ReadonlyMap<string, string>
  readonly logger?: Logger
}

const clock = systemClock

export class JoinedReplicaNode {
  readonly port: number
  readonly client: JoinedClient
  readonly replicas: ReplicaSet
  readonly #startup: Startup
  readonly #store: LogStore
  readonly #server: KafkaServer
  readonly #connections: ClusterConnections
  readonly #directory: string

  private constructor(
    parts: Pick<JoinedReplicaNode, 'port' | 'client' | 'replicas'> & {
      startup: Startup
      store: LogStore
      server: KafkaServer
      connections: ClusterConnections
      directory: string
    },
  ) {
    this.port = parts.port
    this.client = parts.client
    this.replicas = parts.replicas
    this.#startup = parts.startup
    this.#store = parts.store
    this.#server = parts.server
    this.#connections = parts.connections
    this.#directory = parts.directory
  }

  /** Resolves when it is a broker that may lead. */
  static async start(options: ReplicaNodeOptions): Promise<JoinedReplicaNode> {
    const { cluster, nodeId, directory, file = new Map<string, string>(), logger = silentLogger } = options
    const [freePort = 0] = await freePorts(1)
    const { port = freePort } = options
    const { clusterId, controllerAddresses: controller } = cluster
    const startup = new Startup()
    await mkdir(join(directory, 'life'), { recursive: true })
    const client = await JoinedClient.start({ controller, clusterId, nodeId, directory: join(directory, 'life') })
    const { membership, observer } = client
    const store = await LogStore.open({
      directory: join(directory, 'data'),
      identity: { clusterId, nodeId },
      clock,
      logger,
    })
    const open = quorumConnections({ clientId: `broker-${nodeId}`, security: openToAll, clock, timeoutMs: 5000 })
    const connections = new ClusterConnections({ listener: 'PLAINTEXT', open, image: () => observer.image })
    const alterPartition = client.controller.alterPartition.bind(client.controller)
    const peers = { connections, alterPartition, brokerEpoch: () => membership.brokerEpoch }
    const replicas = new ReplicaSet({ brokerId: nodeId, logs: store, file, peers, clock, logger })
    await observer.subscribe(replicas)
    const server = await serve({ client, replicas, connections, file, nodeId, port, logger, startup })
    const listener = { name: 'PLAINTEXT', host: '127.0.0.1', port, securityProtocol: 0 }
    await membership.join([listener, lockstepEndpoint('http://127.0.0.1:1')])
    await membership.serve()
    return new JoinedReplicaNode({ port, client, replicas, startup, store, server, connections, directory })
  }

  /** As it leads it, by the topic's name. Throws PartitionUnavailable. */
  partition(topic: string, index = 0): Partition {
    return this.replicas.lookupByName(topic, index)
  }

  /** As it leads or follows it. Throws PartitionUnavailable. */
  replica(topic: string, index = 0): Replica {
    const found = topicByName(this.client.observer.image, topic)
    if (!found) throw new Error(`no topic ${topic}`)
    return this.replicas.lookupReplica(found.id, index)
  }

  mirror(topic: string, index = 0): MirrorPartition {
    return new MirrorPartition(this.partition(topic, index), this.replicas)
  }

  /** As the metadata has it. */
  placed(topic: string, index = 0): PartitionImage {
    const found = topicByName(this.client.observer.image, topic)?.partitions[index]
    if (!found) throw new Error(`no partition ${topic}-${index}`)
    return found
  }

  /** Ends without a word to anybody; the next life finds an unclean stop, with all that was written. */
  async crash(): Promise<void> {
    await this.close()
    await rm(join(this.#directory, 'data/.kafka_cleanshutdown'))
  }

  async close(): Promise<void> {
    await this.client.close()
    await Promise.all([this.#connections.close(), this.#server.close(), this.replicas.close()])
    await this.#startup.stop()
    await this.#store.close()
  }
}

async function serve(of: {
  readonly client: JoinedClient
  readonly replicas: ReplicaSet
  readonly connections: ClusterConnections
  readonly file: ReadonlyMap<string, string>
  readonly nodeId: number
  readonly port: number
  readonly logger: Logger
  readonly startup: Startup
}): Promise<KafkaServer> {
  const { client, replicas, connections, file, nodeId, port, logger, startup } = of
  const { controller, questions } = client
  const producerIds = new ProducerIds(controller)
  const parts = { controller, replicas, producerIds, writeGate: openWriteGate, clock, random: systemRandom, logger }
  const coordinators = await joinedCoordinators({ ...parts, connections, file }, startup)
  const answerBudget = new ByteBudget(256 * 1024 * 1024)
  const broker = new Broker({
    ...parts,
    ...coordinators,
    brokerId: nodeId,
    settings: brokerSettings(file),
    logDirectory: { path: '/', space: async () => ({ totalBytes: 0n, usableBytes: 0n }) },
    answerBudget,
    joined: joinedCluster({ questions, clock, trueTopicConfigs: () => undefined }).cluster,
  })
  return await listen({
    name: 'PLAINTEXT',
    host: '127.0.0.1',
    port,
    maxRequestBytes: 100 * 1024 * 1024,
    idleTimeoutMs: -1,
    served: broker.served,
    handler: broker.handle,
    answerBudget,
    clock,
    logger,
  })
}
