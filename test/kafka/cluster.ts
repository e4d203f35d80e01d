// Real Apache Kafka clusters for suites: formats, starts, waits for, kills, restarts and stops nodes on free ports.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from '../free-port.ts'
import { classArchive } from './class-archive.ts'
import { type KafkaVersion, kafkaJars } from './jars.ts'
import { metadataLateMs, startLateMetadata } from './late-metadata.ts'
import { type ClusterPlan, KafkaNode, type NodePlan } from './node.ts'

/** Which cluster to start. */
export interface ClusterOptions {
  readonly version: KafkaVersion
  /**
   * `combined` (default): one node that is broker and controller, node id 1; or several of them, node ids 1…, and `more` that are
   * only brokers. Otherwise a separate controller (node id 100) and that many brokers (node ids 1…).
   */
  readonly brokers?: 'combined' | { readonly combined: number; readonly more?: number } | number
  /** Separate controllers, node ids 100…; default 1. Without effect for combined nodes. */
  readonly controllers?: number
  /** Of separate brokers, by ascending node id; default: none. */
  readonly racks?: readonly string[]
  /** Extra or changed properties of every node. */
  readonly properties?: Readonly<Record<string, string>>
  /** Ports of further listeners of a combined node, by name. */
  readonly listeners?: Readonly<Record<string, number>>
  /** Names of further listeners of every broker, on free ports, where the controllers are separate. */
  readonly brokerListeners?: readonly string[]
  /** `host:port` under which such listeners are announced in place of where they are, by name. */
  readonly advertised?: Readonly<Record<string, string>>
  /** Folder with classes that properties name. */
  readonly plugins?: string
  /** A data directory of another node 1 to go on with, and its cluster's id; it is not removed. */
  readonly data?: { readonly directory: string; readonly clusterId: string }
  /** Settings of the JVM in place of those that start quickly. */
  readonly jvmArguments?: readonly string[]
  /** Further arguments of `kafka-storage format`. */
  readonly format?: readonly string[]
  /** Default `static`: `controller.quorum.voters`. `dynamic`: the voters are in the log, and may be others one day (KIP-853). */
  readonly quorum?: 'static' | 'dynamic'
}

/**
 * A killed broker may only register again once its session has ended, after 9 s by default. Several heartbeats go into a session
 * all the same: a busy machine misses one.
 */
export const shortSession = { 'broker.session.timeout.ms': '4000', 'broker.heartbeat.interval.ms': '500' }

/** A running cluster; `close()` ends its processes and removes its files. */
export class KafkaCluster {
  readonly version: KafkaVersion
  readonly clusterId: string
  /** The controllers first, if they are separate. */
  readonly nodes: readonly KafkaNode[]
  /** `host:port` of every controller, comma-separated. */
  readonly controllerAddresses: string
  readonly #folder: string

  private constructor(plan: ClusterPlan) {
    this.version = plan.version
    this.clusterId = plan.clusterId
    this.controllerAddresses = plan.controllerPorts.map(port => `127.0.0.1:${port}`).join(',')
    this.#folder = plan.folder
    this.nodes = plan.nodes.map(node => new KafkaNode(node, plan))
  }

  /** Formats and starts a cluster, and waits until every broker answers. */
  static async start(options: ClusterOptions): Promise<KafkaCluster> {
    const plan = await planCluster(options)
    const cluster = new KafkaCluster(plan)
    try {
      for (const [port, to] of plan.latePorts) await startLateMetadata(port, to, metadataLateMs)
      await Promise.all(cluster.nodes.map(node => node.start()))
    } catch (error) {
      await cluster.close()
      throw error
    }
    return cluster
  }

  /** `host:port` of every broker, comma-separated. */
  get bootstrap(): string {
    return this.brokers.map(node => node.address).join(',')
  }

  /** The nodes that are brokers, by ascending node id. */
  get brokers(): readonly KafkaNode[] {
    return this.nodes.filter(node => node.isBroker)
  }

  /** The node with that id. */
  node(id: number): KafkaNode {
    const found = this.nodes.find(node => node.id === id)
    if (found === undefined) throw new Error(`no node ${id} in this cluster`)
    return found
  }

  /** Ends every process and removes the cluster's files. */
  async close(): Promise<void> {
    await Promise.all(this.nodes.map(node => node.kill()))
    await rm(this.#folder, { recursive: true, force: true })
  }
}

const listenersText = (places: readonly (readonly [string, string])[]): string =>
  places.map(([name, place]) => `${name}://${place}`).join(',')

/** All but the controller's, some of them elsewhere. */
const announced = (
  places: readonly (readonly [string, string])[],
  elsewhere: Readonly<Record<string, string>>,
): string =>
  listenersText(
    places.filter(([name]) => name !== 'CONTROLLER').map(([name, place]) => [name, elsewhere[name] ?? place]),
  )

async function planCluster({
  version,
  brokers = 'combined',
  controllers = 1,
  racks = [],
  properties = {},
  listeners: further = {},
  brokerListeners = [],
  advertised = {},
  plugins,
  jvmArguments,
  format = [],
  data,
  quorum = 'static',
}: ClusterOptions): Promise<ClusterPlan> {
  const jars = await kafkaJars(version)
  const archive = await classArchive(version)
  const isPlain = Object.keys(further).length === 0 && data === undefined
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-kafka-'))
  const late = metadataLateMs > 0 && (typeof brokers === 'number' || (brokers === 'combined' && isPlain))
  const combined = typeof brokers !== 'number' && !late
  const counts = countsOf(brokers)
  const brokerCount = counts.combined + counts.more
  const controllerCount = combined ? counts.combined : controllers
  const moreListeners = combined ? [] : brokerListeners
  const ports = await freePorts(controllerCount + brokerCount * (1 + moreListeners.length))
  const latePorts = late ? await freePorts(controllerCount) : []
  const controllerPorts = ports.slice(0, controllerCount)
  const announcedPorts = late ? latePorts : controllerPorts
  const voters = announcedPorts.map((port, index) => `${combined ? 1 + index : 100 + index}@127.0.0.1:${port}`)
  const quorumPlan = planQuorum(quorum, voters)
  const shared = { ...quickAndQuiet(brokerCount), ...quorumPlan.properties }
  const brokerPorts = ports.slice(controllerCount, controllerCount + brokerCount)
  const morePorts = ports.slice(controllerCount + brokerCount)
  const brokerNodes = brokerPorts.map((port, index): NodePlan => {
    const listeners = moreListeners.map((name, at) => [name, morePorts[index * moreListeners.length + at]])
    const controls = combined && index < counts.combined
    const own = controls
      ? { ...further, PLAINTEXT: port, CONTROLLER: controllerPorts[index] }
      : { PLAINTEXT: port, ...Object.fromEntries(listeners) }
    const places = Object.entries({ ...own }).map(([name, at]): [string, string] => [name, `127.0.0.1:${at}`])
    const role = {
      'process.roles': controls ? 'broker,controller' : 'broker',
      ...(racks[index] === undefined ? {} : { 'broker.rack': racks[index] }),
      listeners: listenersText(places),
      ...(Object.keys(advertised).length > 0 ? { 'advertised.listeners': announced(places, advertised) } : {}),
    }
    const dataDirectory = data?.directory
    return { id: index + 1, port, isBroker: true, dataDirectory, properties: { ...shared, ...role, ...properties } }
  })
  const controllerNodes = controllerPorts.map((port, index) =>
    controllerNode(100 + index, port, { ...shared, ...properties }),
  )
  return {
    version,
    jars,
    archive,
    clusterId: data?.clusterId ?? randomId(),
    folder,
    controllerPorts: announcedPorts,
    latePorts: latePorts.map((port, index) => [port, controllerPorts[index] ?? 0]),
    plugins,
    jvmArguments,
    format: isVoter => [...format, ...quorumPlan.format(isVoter)],
    nodes: combined ? brokerNodes : [...controllerNodes, ...brokerNodes],
  }
}

/** `voters`: `id@host:port`. */
function planQuorum(kind: 'static' | 'dynamic', voters: readonly string[]) {
  if (kind === 'static') return { properties: { 'controller.quorum.voters': voters.join(',') }, format: () => [] }
  const servers = voters.map(voter => voter.slice(voter.indexOf('@') + 1))
  const initial = voters.map(voter => `${voter}:${randomId()}`)
  return {
    properties: { 'controller.quorum.bootstrap.servers': servers.join(',') },
    format: (isVoter: boolean) =>
      isVoter ? ['--initial-controllers', initial.join(',')] : ['--no-initial-controllers'],
  }
}

const controllerNode = (id: number, port: number, properties: Readonly<Record<string, string>>): NodePlan => ({
  ...{ id, port, isBroker: false, dataDirectory: undefined },
  properties: { 'process.roles': 'controller', listeners: `CONTROLLER://127.0.0.1:${port}`, ...properties },
})

function countsOf(brokers: NonNullable<ClusterOptions['brokers']>): { combined: number; more: number } {
  if (typeof brokers === 'number') return { combined: 0, more: brokers }
  return { more: 0, ...(brokers === 'combined' ? { combined: 1 } : brokers) }
}

/** An id of a cluster or a directory as Kafka makes them: 16 random bytes, base64url; never starting with a dash, which is a flag to tools. */
function randomId(): string {
  const id = randomBytes(16).toString('base64url')
  return id.startsWith('-') ? randomId() : id
}

function quickAndQuiet(brokerCount: number): Record<string, string> {
  const replication = String(Math.min(brokerCount, 2))
  return {
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'inter.broker.listener.name': 'PLAINTEXT',
    'offsets.topic.num.partitions': '4',
    'offsets.topic.replication.factor': replication,
    'transaction.state.log.num.partitions': '4',
    'transaction.state.log.replication.factor': replication,
    'transaction.state.log.min.isr': '1',
    'share.coordinator.state.topic.num.partitions': '4',
    'share.coordinator.state.topic.replication.factor': replication,
    'share.coordinator.state.topic.min.isr': '1',
    'group.initial.rebalance.delay.ms': '0',
    'auto.create.topics.enable': 'false',
  }
}
