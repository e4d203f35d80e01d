/** The composition root of a standalone node: wires log, controller, replicas, broker, link engine and REST, and stops them again. */
import { statfs } from 'node:fs/promises'
import { hostname } from 'node:os'
import { Broker } from '../broker/broker.ts'
import { brokerSettings } from '../broker/broker-settings.ts'
import { LocalController } from '../controller/local/local-controller.ts'
import { ByteBudget } from '../core/byte-budget.ts'
import { systemClock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { LoggerLevels } from '../core/logger-levels.ts'
import { systemRandom } from '../core/random.ts'
import { randomUuid, type Uuid } from '../core/uuid.ts'
import { linkRetentionGate } from '../destination/link-retention-gate.ts'
import { linkWriteGate } from '../destination/link-write-gate.ts'
import { LocalDestination } from '../destination/local-destination.ts'
import { stateTopicName } from '../destination/state-topic.ts'
import type { Engine } from '../link/index.ts'
import { LogStore } from '../log/log-store.ts'
import { loadMetaProperties } from '../log/meta-properties.ts'
import { type NodeFileSystem, nodeFileSystem } from '../log/node-file-system.ts'
import { allowAll } from '../metadata/authorizer.ts'
import { brokerConfig } from '../metadata/broker-configs.ts'
import type { EndpointImage } from '../metadata/metadata-image.ts'
import { CLUSTER_METADATA_TOPIC } from '../metadata/topic-names.ts'
import { type KafkaServer, listen } from '../network/server-listener.ts'
import { LogRetention } from '../replica/log-retention.ts'
import { ProducerIds } from '../replica/producer-ids.ts'
import { ReplicaSet } from '../replica/replica-set.ts'
import { audited } from './audited-authorizer.ts'
import { ConnectionLimitsFromConfigs } from './connection-limits.ts'
import { openCoordinators } from './coordinators.ts'
import { lockDirectory } from './directory-lock.ts'
import { linkEngine } from './link-engine.ts'
import { type ListenerEndpoint, SECURITY_PROTOCOLS } from './listeners.ts'
import { type LogCleaning, startLogCleaner } from './log-cleaning.ts'
import { nodeMetrics } from './node-metrics.ts'
import { openFilesMax } from './open-file-limit.ts'
import { restPorts } from './rest/rest-ports.ts'
import { startRest } from './rest/rest-server.ts'
import { firstUserRecords } from './security/first-users.ts'
import { ListenersSecurity } from './security/listeners-security.ts'
import type { NodeSettings } from './settings.ts'
import { sourceMetrics } from './source-metrics.ts'
import { Startup } from './startup.ts'
import { setAsideStrayLogs } from './stray-logs.ts'

export interface RunningNode {
  readonly clusterId: string
  /** `host:port` of every client listener, as bound. */
  readonly kafkaAddresses: readonly string[]
  readonly restUrl: string
  /** Stops in the reverse order of the start; everything acknowledged is on disk when it resolves. */
  close(): Promise<void>
}

export interface NodeEnvironment {
  readonly logger: Logger
  /** How much it writes. */
  readonly loggers: LoggerLevels
  readonly version: string
}

const clock = systemClock
const random = systemRandom

/** Starts a node. Rejects with the first problem, having stopped what had been started. */
export async function startNode(settings: NodeSettings, environment: NodeEnvironment): Promise<RunningNode> {
  const startup = new Startup()
  try {
    return await start(settings, environment, startup)
  } catch (error) {
    await startup.stop()
    throw error
  }
}

async function start(settings: NodeSettings, environment: NodeEnvironment, startup: Startup): Promise<RunningNode> {
  const { logger } = environment
  const { nodeId, kafka: file } = settings
  const fs = nodeFileSystem({ openFilesMax: openFilesMax() })
  fs.blocking = true
  const store = await openStore({ settings, fs, logger }, startup)
  const { controller, replicas } = await openCluster({ settings, store, fs, logger }, startup)
  fs.blocking = false
  const producerIds = new ProducerIds(controller)
  const groupOffsetRetentionMs = numberOf(settings, 'offsets.retention.minutes') * 60_000
  const hasAuthorizer = settings.authorizer !== allowAll
  const more = { groups: () => coordinators.groups, groupOffsetRetentionMs, hasAuthorizer }
  const destination = new LocalDestination({ brokerId: nodeId, file, controller, replicas, producerIds, ...more })
  const ofSources = sourceMetrics()
  const { observe } = ofSources
  const engine = await linkEngine({ settings, controller, replicas, destination, observe, clock, random, logger })
  const writeGate = linkWriteGate((topicId, topic) => engine.writeStatus(topicId, topic))
  const answerBudget = new ByteBudget(settings.answerBytesMax)
  const coordination = { brokerId: nodeId, file, controller, replicas, producerIds, writeGate, clock, random, logger }
  const coordinators = await openCoordinators(coordination, startup)
  const broker = new Broker({
    brokerId: nodeId,
    controller,
    replicas,
    producerIds,
    ...coordinators,
    writeGate,
    authorizer: audited(settings.authorizer, logger),
    settings: brokerSettings(file),
    logDirectory: { path: settings.dataDirectory, space: () => spaceOf(settings.dataDirectory) },
    answerBudget,
    loggers: environment.loggers,
    clock,
    random,
    logger,
  })
  await controller.subscribe(destination)
  const servers = await openListeners({ settings, controller, broker, answerBudget, logger }, startup)
  // Before the listeners: members that wait for their group are answered, or each would hold its connection open.
  startup.onStop('waiting group members', () => coordinators.groups.close())
  startup.onStop('fetches that wait', () => replicas.stopWaiting())
  await controller.changeListeners(advertisedEndpoints(settings, servers))
  startup.onStop('link engine', () => engine.stop())
  await engine.start()
  const cleaner = startUpkeep({ settings, controller, replicas, engine, logger }, startup)
  const { groups } = coordinators
  const { version } = environment
  const { advertisedUrl } = settings.rest
  const cluster = { brokerId: nodeId, file, controller, writeGate, replicas, engine }
  const plain = restPorts({ ...cluster, groups, hasAuthorizer, version, advertisedUrl })
  const metrics = [nodeMetrics(version), ofSources, ...cleaner.metrics, coordinators.metrics]
  const application = { ...plain, engine, metrics }
  const restOptions = { ...settings, settings: settings.rest, application, controller, file, clock, logger }
  const restUrl = await startRest(restOptions, startup)
  plain.listensAt(restUrl)
  return {
    clusterId: store.meta.clusterId,
    kafkaAddresses: servers.map(server => `${server.host || '0.0.0.0'}:${server.port}`),
    restUrl,
    close: () => startup.stop(),
  }
}

/** What removes old data: whole segments by age and size, records by key. */
function startUpkeep(
  of: { settings: NodeSettings; controller: LocalController; replicas: ReplicaSet; engine: Engine; logger: Logger },
  startup: Startup,
): LogCleaning {
  const { settings, controller, replicas, engine, logger } = of
  const retention = new LogRetention({
    replicas,
    gate: linkRetentionGate((topicId, topic) => engine.writeStatus(topicId, topic)),
    intervalMs: numberOf(settings, 'log.retention.check.interval.ms'),
    clock,
    logger,
  })
  startup.onStop('retention', () => retention.close())
  const { nodeId: brokerId, kafka: file } = settings
  const cleaner = startLogCleaner({ replicas, image: () => controller.image, brokerId, file, clock, logger })
  startup.onStop('log cleaner', () => cleaner.close())
  return cleaner
}

async function openStore(
  { settings, fs, logger }: { settings: NodeSettings; fs: NodeFileSystem; logger: Logger },
  startup: Startup,
): Promise<LogStore> {
  for (const directory of new Set([settings.dataDirectory, settings.metadataDirectory])) {
    const unlock = await lockDirectory(directory)
    startup.onStop(`lock of ${directory}`, unlock)
  }
  const known = await loadMetaProperties(fs, settings.dataDirectory)
  const clusterId = settings.clusterId ?? (known?.clusterId as Uuid | undefined) ?? randomUuid()
  const store = await LogStore.open({
    directory: settings.dataDirectory,
    identity: { clusterId, nodeId: settings.nodeId },
    foreignTopics: [CLUSTER_METADATA_TOPIC],
    clock,
    logger,
    fs,
  })
  startup.onStop('log store', () => store.close())
  return store
}

async function openCluster(
  { settings, store, fs, logger }: { settings: NodeSettings; store: LogStore; fs: NodeFileSystem; logger: Logger },
  startup: Startup,
): Promise<{ controller: LocalController; replicas: ReplicaSet }> {
  const controller = await LocalController.open({
    directory: settings.metadataDirectory,
    clusterId: store.meta.clusterId,
    nodeId: settings.nodeId,
    directoryId: store.directoryId,
    listeners: settings.listeners.listen.map(endpoint => advertisedEndpoint(settings, endpoint)),
    rack: settings.rack,
    serverProperties: settings.kafka,
    firstRecords: await firstUserRecords(settings.firstUsers),
    fs,
    clock,
    logger,
  })
  startup.onStop('controller', () => controller.close())
  await setAsideStrayLogs(store, controller.image, logger)
  const replicas = new ReplicaSet({
    brokerId: settings.nodeId,
    logs: store,
    file: settings.kafka,
    refusesDamage: topic => topic === stateTopicName,
    clock,
    logger,
  })
  startup.onStop('replicas', () => replicas.close())
  await controller.subscribe(replicas)
  return { controller, replicas }
}

async function openListeners(
  of: {
    settings: NodeSettings
    controller: LocalController
    broker: Broker
    answerBudget: ByteBudget
    logger: Logger
  },
  startup: Startup,
): Promise<KafkaServer[]> {
  const { settings, controller, broker, answerBudget, logger } = of
  const { nodeId, kafka: file, tlsReloadMs: reloadMs } = settings
  const security = new ListenersSecurity({ nodeId, file, controller, reloadMs, clock, logger })
  startup.onStop('listener security', () => security.close())
  const requestBytesMax = numberOf(settings, 'queued.max.request.bytes')
  const requestBudget = new ByteBudget(requestBytesMax > 0 ? requestBytesMax : Number.MAX_SAFE_INTEGER)
  const limits = new ConnectionLimitsFromConfigs({ nodeId, file, listeners: listenerNames(settings), logger })
  await controller.subscribe(limits)
  const servers: KafkaServer[] = []
  for (const endpoint of settings.listeners.listen) {
    const { name, host, port } = endpoint
    const server = await listen({
      name,
      host: host === '' ? '::' : host,
      port,
      maxRequestBytes: numberOf(settings, 'socket.request.max.bytes'),
      idleTimeoutMs: numberOf(settings, 'connections.max.idle.ms'),
      served: broker.served,
      handler: broker.handle,
      security: await security.load(endpoint),
      answerBudget,
      requestBudget,
      connectionQuota: limits.quota,
      clock,
      logger: logger.child({ component: 'network', listener: name }),
    })
    startup.onStop(`listener ${name}`, () => server.close())
    security.watch(endpoint, server)
    servers.push(server)
  }
  await controller.subscribe(security)
  return servers
}

const listenerNames = ({ listeners }: NodeSettings): string[] => listeners.listen.map(({ name }) => name)

/** A number property of Kafka: the file's value or the default. */
function numberOf(settings: NodeSettings, name: string): number {
  const row = brokerConfig(name)?.row
  const text = settings.kafka.get(name)
  return Number(text === undefined ? row?.default : row?.parse(text))
}

/** What clients are told: the advertised address, with the port that was really bound in place of 0. */
function advertisedEndpoints(settings: NodeSettings, servers: readonly KafkaServer[]): EndpointImage[] {
  return settings.listeners.listen.map((endpoint, index) => {
    const advertised = advertisedEndpoint(settings, endpoint)
    return advertised.port === 0 ? { ...advertised, port: servers[index]?.port ?? 0 } : advertised
  })
}

function advertisedEndpoint(settings: NodeSettings, endpoint: ListenerEndpoint): EndpointImage {
  const { host, port } = settings.listeners.advertised.get(endpoint.name) ?? endpoint
  const securityProtocol = SECURITY_PROTOCOLS.indexOf(endpoint.protocol)
  return { name: endpoint.name, host: host === '' ? hostname() : host, port, securityProtocol }
}

/** Of the volume that holds the directory, as DescribeLogDirs tells it. */
async function spaceOf(directory: string): Promise<{ totalBytes: bigint; usableBytes: bigint }> {
  const { blocks, bavail, bsize } = await statfs(directory, { bigint: true })
  return { totalBytes: blocks * bsize, usableBytes: bavail * bsize }
}
