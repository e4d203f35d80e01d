/** Wires a node that joins a Kafka cluster: the cluster's metadata, replicas, broker, link engine and REST, and the membership around them. */
import { ByteBudget } from '../../core/byte-budget.ts'
import { systemClock } from '../../core/clock.ts'
import { systemRandom } from '../../core/random.ts'
import { linkWriteGate } from '../../destination/link-write-gate.ts'
import { LocalDestination } from '../../destination/local-destination.ts'
import { nodeFileSystem } from '../../log/node-file-system.ts'
import { allowAll } from '../../metadata/authorizer.ts'
import { lockstepEndpoint } from '../../metadata/lockstep-nodes.ts'
import { ProducerIds } from '../../replica/producer-ids.ts'
import { linkEngine } from '../link-engine.ts'
import { openBroker } from '../node-broker.ts'
import { addressesOf, advertisedEndpoints, openListeners } from '../node-listeners.ts'
import { nodeMetrics } from '../node-metrics.ts'
import { knownClusterId, lockDirectories, makeReplicas, openStore } from '../node-storage.ts'
import { startUpkeep } from '../node-upkeep.ts'
import { openFilesMax } from '../open-file-limit.ts'
import { restPorts } from '../rest/rest-ports.ts'
import { startRest } from '../rest/rest-server.ts'
import type { NodeEnvironment, RunningNode } from '../running-node.ts'
import { type NodeSettings, numberOf } from '../settings.ts'
import { SettingsError } from '../settings-error.ts'
import { sourceMetrics } from '../source-metrics.ts'
import type { Startup } from '../startup.ts'
import { setAsideStrayLogs } from '../stray-logs.ts'
import { clusterConnections } from './cluster-connections.ts'
import { beginIncarnation, leaveCluster } from './incarnation-life.ts'
import { joinedCluster } from './joined-broker.ts'
import { joinedWriteStatus, startEngineWhenLed } from './joined-links.ts'
import { joinedHealth, joinedNodes } from './joined-nodes.ts'
import type { JoinedSettings } from './joined-settings.ts'
import { openMembership } from './open-membership.ts'

const clock = systemClock
const random = systemRandom

/** Rejects with the first problem; what was started is in `startup`. */
export async function startJoinedNode(
  settings: NodeSettings & { readonly joined: JoinedSettings },
  environment: NodeEnvironment,
  startup: Startup,
): Promise<RunningNode> {
  const { logger, version } = environment
  const { nodeId, kafka: file, joined } = settings
  const fs = nodeFileSystem({ openFilesMax: openFilesMax() })
  await lockDirectories([settings.dataDirectory], startup)
  const clusterId = await knownClusterId({ settings, fs })
  if (clusterId === undefined) throw new SettingsError(['cluster.id must name the cluster to join'])
  const life = await beginIncarnation({ fs, directory: settings.dataDirectory, logger }, startup)
  const store = await openStore({ settings, fs, clock, logger }, startup, life.storeClosed)
  const { incarnation } = life
  const { directoryId } = store
  const cluster = await openMembership({ settings, clusterId, directoryId, incarnation, clock, logger }, startup)
  const { observer, controller, membership, questions } = cluster
  membership.keepAlive()
  const image = () => controller.image
  const connections = await clusterConnections({ nodeId, joined, file, image, clock })
  startup.onStop('connections to other brokers', () => connections.close())
  await setAsideStrayLogs(store, controller.image, logger)
  const replicas = makeReplicas({ settings, store, clock, logger }, startup)
  fs.blocking = true
  await controller.subscribe(replicas)
  fs.blocking = false
  const producerIds = new ProducerIds(controller)
  const groupOffsetRetentionMs = numberOf(settings, 'offsets.retention.minutes') * 60_000
  const hasAuthorizer = settings.authorizer !== allowAll
  const more = { groups: () => coordinators.groups, groupOffsetRetentionMs, hasAuthorizer }
  const destination = new LocalDestination({ brokerId: nodeId, file, controller, replicas, producerIds, ...more })
  const ofSources = sourceMetrics()
  const { observe } = ofSources
  const engine = await linkEngine({ settings, controller, replicas, destination, observe, clock, random, logger })
  const writeGate = linkWriteGate(joinedWriteStatus({ engine, controller }))
  const answerBudget = new ByteBudget(settings.answerBytesMax)
  const parts = { settings, environment, controller, replicas, producerIds, writeGate, answerBudget, clock, random }
  const joinedParts = { ...parts, joined: joinedCluster({ questions, clock }) }
  const { broker, coordinators } = await openBroker(joinedParts, startup)
  await controller.subscribe(destination)
  const servers = await openListeners({ settings, controller, broker, answerBudget, clock, logger }, startup)
  startup.onStop('waiting group members', () => coordinators.groups.close())
  startup.onStop('fetches that wait', () => replicas.stopWaiting())
  startup.onStop('link engine', () => engine.stop())
  const cleaner = startUpkeep({ settings, controller, replicas, engine, clock, logger }, startup)
  const { groups } = coordinators
  const { advertisedUrl } = settings.rest
  const health = joinedHealth({ nodeId, observer, membership })
  const plain = restPorts({
    ...{ brokerId: nodeId, file, controller, writeGate, replicas, groups, hasAuthorizer, version, advertisedUrl },
    health,
    nodes: () => joinedNodes({ nodeId, version, image: controller.image, engine, notReady: health.notReadyReasons() }),
  })
  const metrics = [nodeMetrics(version), ofSources, ...cleaner.metrics, coordinators.metrics]
  const application = { ...plain, engine, metrics }
  const restOptions = { ...settings, settings: settings.rest, application, controller, file, clock, logger }
  const restUrl = await startRest(restOptions, startup)
  plain.listensAt(restUrl)
  await startEngineWhenLed({ engine, controller, nodeId, logger })
  // The last of all subscribers: what heartbeats say was followed, everybody has followed.
  await controller.subscribe(membership.subscriber)
  await membership.join([...advertisedEndpoints(settings, servers), lockstepEndpoint(advertisedUrl ?? restUrl)])
  life.hasStarted()
  startup.onStop('leaving the cluster', () => leaveCluster({ membership, life, clock, logger }))
  // Not awaited for ever: a cluster without a controller lets nobody serve, and REST tells why.
  void membership.serve().catch(() => {})
  return { clusterId, kafkaAddresses: addressesOf(servers), restUrl, close: () => startup.stop() }
}
