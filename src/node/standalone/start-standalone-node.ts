/** Wires a node that is a cluster of its own: log, local controller, replicas, broker, link engine and REST. */
import { LocalController } from '../../controller/local/local-controller.ts'
import { abortOpenTransactions } from '../../coordinator/transactions/abort-open.ts'
import { ByteBudget } from '../../core/byte-budget.ts'
import { systemClock } from '../../core/clock.ts'
import { systemRandom } from '../../core/random.ts'
import { linkWriteGate } from '../../destination/link-write-gate.ts'
import { LocalDestination } from '../../destination/local-destination.ts'
import { StateTopic } from '../../destination/state-topic.ts'
import type { Engine } from '../../link/index.ts'
import { statusTopicName } from '../../link/index.ts'
import type { LogStore } from '../../log/log-store.ts'
import { nodeFileSystem } from '../../log/node-file-system.ts'
import { allowAll } from '../../metadata/authorizer.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import { ProducerIds } from '../../replica/producer-ids.ts'
import { openCoordinators } from '../coordinators.ts'
import { linkEngine } from '../link-engine.ts'
import { makeBroker } from '../node-broker.ts'
import { addressesOf, advertisedEndpoint, advertisedEndpoints, openListeners } from '../node-listeners.ts'
import { nodeMetrics } from '../node-metrics.ts'
import { lockDirectories, makeReplicas, openStore, type StorageOptions } from '../node-storage.ts'
import { startUpkeep } from '../node-upkeep.ts'
import { openFilesMax } from '../open-file-limit.ts'
import { quotaMetrics } from '../quota-metrics.ts'
import { standaloneNode, statusReasons } from '../rest/local-node.ts'
import { standalonePlacement } from '../rest/placement-admin.ts'
import { type RestPortsOptions, restPorts } from '../rest/rest-ports.ts'
import { startRest } from '../rest/rest-server.ts'
import type { NodeEnvironment, RunningNode } from '../running-node.ts'
import { firstUserRecords } from '../security/first-users.ts'
import { type NodeSettings, numberOf } from '../settings.ts'
import { sourceMetrics } from '../source-metrics.ts'
import type { Startup } from '../startup.ts'
import { setAsideStrayLogs } from '../stray-logs.ts'

const clock = systemClock
const random = systemRandom

/** Rejects with the first problem; what was started is in `startup`. */
export async function startStandaloneNode(
  settings: NodeSettings,
  environment: NodeEnvironment,
  startup: Startup,
): Promise<RunningNode> {
  const { logger, version } = environment
  const { nodeId, kafka: file } = settings
  const fs = nodeFileSystem({ openFilesMax: openFilesMax() })
  fs.blocking = true
  await lockDirectories([settings.dataDirectory, settings.metadataDirectory], startup)
  const store = await openStore({ settings, fs, clock, logger }, startup)
  const controller = await openController({ settings, store, fs, clock, logger }, startup)
  await setAsideStrayLogs(store, controller.image, { logger })
  const replicas = makeReplicas({ settings, store, clock, logger }, startup)
  await controller.subscribe(replicas)
  fs.blocking = false
  const producerIds = new ProducerIds(controller)
  const groupOffsetRetentionMs = numberOf(settings, 'offsets.retention.minutes') * 60_000
  const hasAuthorizer = settings.authorizer !== allowAll
  const abortTransactions = (topic: string) => abortOpenTransactions(coordinators.transactions, topic)
  const more = { groups: () => coordinators.groups, abortTransactions, groupOffsetRetentionMs, hasAuthorizer }
  const destination = new LocalDestination({ brokerId: nodeId, file, controller, replicas, producerIds, ...more })
  const ofSources = sourceMetrics()
  const { observe } = ofSources
  const topic = { controller, replicas, clock }
  const stateLog = new StateTopic(topic)
  const statusLog = new StateTopic({ ...topic, topic: statusTopicName })
  const engine = await linkEngine({ settings, stateLog, statusLog, destination, observe, clock, random, logger })
  const writeGate = linkWriteGate((topicId, topic) => engine.writeStatus(topicId, topic))
  const answerBudget = new ByteBudget(settings.answerBytesMax)
  const cluster = { controller, replicas, producerIds, writeGate, clock, random }
  const coordinators = await openCoordinators({ ...cluster, brokerId: nodeId, file, logger }, startup)
  const broker = makeBroker({ ...cluster, settings, environment, coordinators, answerBudget })
  await controller.subscribe(destination)
  const servers = await openListeners({ settings, controller, broker, answerBudget, clock, logger }, startup)
  // Before the listeners: members that wait for their group are answered, or each would hold its connection open.
  startup.onStop('waiting group members', () => coordinators.groups.close())
  startup.onStop('fetches that wait', () => replicas.stopWaiting())
  await controller.changeListeners(advertisedEndpoints(settings, servers))
  startup.onStop('link engine', () => engine.stop())
  await engine.start()
  const cleaner = startUpkeep({ settings, controller, replicas, engine, clock, logger }, startup)
  const { groups } = coordinators
  const { advertisedUrl } = settings.rest
  const plain = restPorts({
    placement: standalonePlacement,
    ...{ brokerId: nodeId, file, controller, writeGate, replicas, groups, hasAuthorizer, version, advertisedUrl },
    ...nodeOf({ nodeId, controller, engine, version }),
  })
  const metrics = [
    nodeMetrics(environment),
    ofSources,
    ...cleaner.metrics,
    coordinators.metrics,
    coordinators.shareMetrics,
    quotaMetrics(broker.quotas),
  ]
  const application = { ...plain, engine, metrics }
  const restOptions = { ...settings, settings: settings.rest, application, controller, file, clock, logger }
  const restUrl = await startRest(restOptions, startup)
  plain.listensAt(restUrl)
  return {
    clusterId: store.meta.clusterId,
    kafkaAddresses: addressesOf(servers),
    restUrl,
    close: () => startup.stop(),
  }
}

/** Ready when the links are; alone in its cluster. */
function nodeOf(of: {
  readonly nodeId: number
  readonly controller: Pick<Controller, 'image'>
  readonly engine: Engine
  readonly version: string
}): Pick<RestPortsOptions, 'health' | 'nodes' | 'unregister'> {
  const notReadyReasons = () => (of.engine.ready ? statusReasons(of.engine) : ['the link state is being replayed'])
  return {
    health: { notReadyReasons },
    unregister: () => Promise.reject(new Error('a standalone node is its whole cluster')),
    nodes: ({ restUrl }) => [
      standaloneNode({ ...of, image: of.controller.image, restUrl, notReady: notReadyReasons() }),
    ],
  }
}

async function openController(
  { settings, store, fs, logger }: StorageOptions & { readonly store: LogStore },
  startup: Startup,
): Promise<LocalController> {
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
  return controller
}
