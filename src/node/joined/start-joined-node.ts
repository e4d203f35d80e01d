/** Wires a node that joins a Kafka cluster: the cluster's metadata, replicas, broker, link engine and REST, and the membership around them. */
import { DirectoryAssignments } from '../../controller/joined/directory-assignments.ts'
import { unregisterNode } from '../../controller/joined/unregister-node.ts'
import { ByteBudget } from '../../core/byte-budget.ts'
import { systemClock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import { systemRandom } from '../../core/random.ts'
import type { Uuid } from '../../core/uuid.ts'
import { fenceConfigs } from '../../destination/joined/fence-values.ts'
import { linkWriteGate } from '../../destination/link-write-gate.ts'
import { inCallingThread } from '../../log/calling-thread.ts'
import { nodeFileSystem } from '../../log/node-file-system.ts'
import { allowAll } from '../../metadata/authorizer.ts'
import { lockstepEndpoint } from '../../metadata/lockstep-nodes.ts'
import { ProducerIds } from '../../replica/producer-ids.ts'
import { makeBroker } from '../node-broker.ts'
import { addressesOf, advertisedEndpoints, openListeners } from '../node-listeners.ts'
import { nodeMetrics } from '../node-metrics.ts'
import { knownClusterId, lockDirectories, makeReplicas, openStore } from '../node-storage.ts'
import { startUpkeep } from '../node-upkeep.ts'
import { openFilesMax } from '../open-file-limit.ts'
import { quotaMetrics } from '../quota-metrics.ts'
import { joinedPlacement } from '../rest/placement-admin.ts'
import { restPorts } from '../rest/rest-ports.ts'
import { startRest } from '../rest/rest-server.ts'
import type { NodeEnvironment, RunningNode } from '../running-node.ts'
import type { NodeSettings } from '../settings.ts'
import { SettingsError } from '../settings-error.ts'
import { sourceMetrics } from '../source-metrics.ts'
import type { Startup } from '../startup.ts'
import { setAsideStrayLogs } from '../stray-logs.ts'
import { aclWarnings } from './check-brokers.ts'
import { clusterConnections } from './cluster-connections.ts'
import { controllerOfCoordinators } from './coordinator-topics.ts'
import { beginIncarnation, leaveCluster } from './incarnation-life.ts'
import { prepareInternalTopics } from './internal-topics.ts'
import { joinedCluster, joinedCoordinators } from './joined-broker.ts'
import { joinedLinks, joinedWriteStatus, topicsOfNodes } from './joined-links.ts'
import { joinedHealth, joinedNodes } from './joined-nodes.ts'
import type { JoinedSettings } from './joined-settings.ts'
import { membershipMetrics } from './membership-metrics.ts'
import { nodeSignatures } from './node-signatures.ts'
import { openMembership } from './open-membership.ts'
import { openPlacement, type Placement } from './open-placement.ts'
import { PeerForwarding } from './peer-forwarding.ts'
import { checkPeerKey } from './peer-key-check.ts'

const clock = systemClock
const random = systemRandom

/** What is there from the beginning to the end of the start. */
interface Start {
  readonly settings: NodeSettings & { readonly joined: JoinedSettings }
  readonly environment: NodeEnvironment
  readonly startup: Startup
}

/** Rejects with the first problem; what was started is in `startup`. */
export async function startJoinedNode(
  settings: Start['settings'],
  environment: NodeEnvironment,
  startup: Startup,
): Promise<RunningNode> {
  const start = { settings, environment, startup }
  const cluster = await enterCluster(start)
  const storage = await openReplicas(start, cluster)
  const links = await makeLinks(start, cluster, storage)
  const serving = await serveClients(start, { ...cluster, ...storage, ...links })
  const placement = await watchPlacement(start, { ...cluster, ...links })
  const restUrl = await serveRest(start, { ...cluster, ...storage, ...links, ...serving, placement })
  await becomeBroker(start, { ...cluster, ...storage, ...serving, restUrl })
  startLinks(start, { ...cluster, ...links })
  const { clusterId } = cluster
  return { clusterId, kafkaAddresses: addressesOf(serving.servers), restUrl, close: () => startup.stop() }
}

type Cluster = Awaited<ReturnType<typeof enterCluster>>
type Storage = Awaited<ReturnType<typeof openReplicas>>
type Links = Awaited<ReturnType<typeof makeLinks>>
type Serving = Awaited<ReturnType<typeof serveClients>>

/** Disk and metadata: nothing is registered, but a session of the last life that still runs goes on. */
async function enterCluster({ settings, environment, startup }: Start) {
  const { logger } = environment
  const fs = nodeFileSystem({ openFilesMax: openFilesMax() })
  await lockDirectories([settings.dataDirectory], startup)
  const clusterId = await knownClusterId({ settings, fs })
  if (clusterId === undefined) throw new SettingsError(['cluster.id must name the cluster to join'])
  const life = await beginIncarnation({ fs, directory: settings.dataDirectory, logger }, startup)
  const store = await openStore({ settings, fs, clock, logger }, startup, life.storeClosed)
  const node = { settings, clusterId, directoryId: store.directoryId, incarnation: life.incarnation }
  const membership = await openMembership({ ...node, clock, logger }, startup)
  membership.membership.keepAlive()
  return { fs, store, life, clusterId, ...membership }
}

/** The partitions of this node, and the way to the brokers that lead or follow them. */
async function openReplicas({ settings, environment, startup }: Start, cluster: Cluster) {
  const { fs, store, controller, membership } = cluster
  const { logger } = environment
  const { nodeId, kafka: file, joined } = settings
  const connections = await clusterConnections({ nodeId, joined, file, image: () => controller.image, clock })
  startup.onStop('connections to other brokers', () => connections.close())
  const brokerEpoch = () => membership.brokerEpoch
  const peers = { connections, alterPartition: controller.alterPartition.bind(controller), brokerEpoch }
  const replicas = makeReplicas({ settings, store, peers, clock, logger }, startup)
  await inCallingThread(fs, async () => {
    await setAsideStrayLogs(store, controller.image, { hostedBy: nodeId, logger })
    await controller.subscribe(replicas)
  })
  const { directoryId } = store
  const { questions } = cluster
  const directories = new DirectoryAssignments({ brokerId: nodeId, directoryId, brokerEpoch, questions, clock, logger })
  startup.onStop('directory assignments', () => directories.close())
  await controller.subscribe(directories)
  directories.start()
  return { replicas, connections, producerIds: new ProducerIds(controller) }
}

/** The link engine, which does not run yet, what it says about topics, and the coordinators. */
async function makeLinks({ settings, environment, startup }: Start, { controller }: Cluster, storage: Storage) {
  const { logger } = environment
  const { kafka: file } = settings
  const { replicas, producerIds, connections } = storage
  const statusOf = joinedWriteStatus({
    engine: { writeStatus: (topicId, topic) => engine.writeStatus(topicId, topic) },
    controller,
  })
  const writeGate = linkWriteGate(statusOf, {
    producedTo: topicsOfNodes,
    parkedConfigs: new Set(fenceConfigs.keys()),
  })
  const parts = { controller, replicas, producerIds, writeGate, file, clock, random, logger }
  const coordinators = await joinedCoordinators({ ...parts, connections }, startup)
  const hasAuthorizer = settings.authorizer !== allowAll
  const sources = sourceMetrics()
  const { ofRequests, ofProposals: proposalSignatures } = await nodeSignatures(settings)
  const { nodeId } = settings
  const forwarding = new PeerForwarding({ nodeId, signatures: ofRequests, image: () => controller.image, clock })
  const ofNodes = { forwarding, proposalSignatures }
  const world = { observe: sources.observe, clock, random, logger }
  const ofLinks = { ...storage, ...ofNodes, ...world, settings, controller, statusOf }
  const { engine, destination, peerCalls } = await joinedLinks(ofLinks, startup)
  return { engine, destination, forwarding, peerCalls, sources, coordinators, statusOf, writeGate, hasAuthorizer }
}

/** Broker and listeners. */
async function serveClients({ settings, environment, startup }: Start, of: Cluster & Storage & Links) {
  const { logger } = environment
  const { controller, replicas, producerIds, writeGate, coordinators, engine } = of
  const answerBudget = new ByteBudget(settings.answerBytesMax)
  const { cluster: joined, metrics } = joinedCluster({
    ...{ questions: of.questions, clock },
    trueTopicConfigs: topicId => engine.fences.trueConfigs(topicId),
  })
  const parts = { controller, replicas, producerIds, writeGate, coordinators, answerBudget, joined }
  const broker = makeBroker({ ...parts, settings, environment, clock, random })
  const servers = await openListeners({ settings, controller, broker, answerBudget, clock, logger }, startup)
  startup.onStop('fetches that wait', () => replicas.stopWaiting())
  startup.onStop('link engine', () => engine.stop())
  const cleaner = startUpkeep({ settings, controller, replicas, engine, clock, logger }, startup)
  return { servers, cleaner, quotas: broker.quotas, clientMetrics: metrics }
}

/** What keeps mirrors on Lockstep nodes, and everything else off them. */
async function watchPlacement({ settings, environment, startup }: Start, of: Cluster & Links) {
  const { logger } = environment
  const { controller, statusOf, engine } = of
  const leadingProblem = (topicId: Uuid, partition: number) => {
    const topic = controller.image.topics.get(topicId)?.name ?? ''
    // Who does not lead the state of the links never gets to know it.
    if (topic.startsWith('__lockstep_')) return undefined
    switch (engine.fences.leadershipOf(topicId, { topic, partition }).kind) {
      case 'unknown':
        return 'what was mirrored is not known yet'
      case 'ordinary':
        return 'its link takes it over, or gives it back'
      case 'mirror':
        return undefined
    }
  }
  const parts = {
    nodeId: settings.nodeId,
    file: settings.kafka,
    controller,
    statusOf,
    leadingProblem,
    isMirroring: (topicId: Uuid) => engine.fences.isMirroring(topicId),
    clock,
    random,
    logger,
  }
  return await openPlacement(parts, startup)
}

/** Resolves to where it answers. */
async function serveRest(
  { settings, environment, startup }: Start,
  of: Cluster & Storage & Links & Serving & { readonly placement: Placement },
) {
  const { logger, version } = environment
  const { nodeId, kafka: file } = settings
  const { controller, replicas, writeGate, engine, coordinators, hasAuthorizer, observer, membership } = of
  const { advertisedUrl } = settings.rest
  const health = joinedHealth({ nodeId, observer, membership, engine })
  const { groups } = coordinators
  const plain = restPorts({
    trueTopicConfigs: topicId => engine.fences.trueConfigs(topicId),
    placement: joinedPlacement({ controller, ...of.placement }),
    ...{ brokerId: nodeId, file, controller, writeGate, replicas, groups, hasAuthorizer, version, advertisedUrl },
    health,
    unregister: node => unregisterNode(controller, node),
    nodes: () => joinedNodes({ nodeId, version, image: controller.image, engine, notReady: health.notReadyReasons() }),
  })
  const ofBroker = [coordinators.metrics, quotaMetrics(of.quotas), of.placement.metrics, of.clientMetrics]
  const ofMembership = membershipMetrics({ nodeId, observer, membership })
  const metrics = [nodeMetrics(environment), of.sources, ...of.cleaner.metrics, ...ofBroker, ofMembership]
  const application = { ...plain, engine, metrics, forwarding: of.forwarding, peerCalls: of.peerCalls }
  const restOptions = { ...settings, settings: settings.rest, application, controller, file, clock, logger }
  const restUrl = await startRest(restOptions, startup)
  plain.listensAt(restUrl)
  return restUrl
}

/** Not awaited: the state of the links may have no leader for a while, and REST tells so. */
function startLinks({ settings, environment: { logger } }: Start, { engine, controller }: Links & Cluster) {
  engine.start().catch(error => logger.error('the link engine did not start', { error: messageOf(error) }))
  for (const warning of aclWarnings(settings, controller.image)) logger.warn(warning)
  void checkPeerKey(settings, controller.image).then(({ problem, warning }) => {
    if (problem !== undefined) logger.error('this node cannot work with the others', { problem })
    if (warning !== undefined) logger.warn('this node may not be able to work with the others', { warning })
  })
}

/** Registers, and begins to serve. */
async function becomeBroker(
  { settings, environment, startup }: Start,
  of: Cluster & Storage & Serving & { readonly restUrl: string },
) {
  const { controller, connections, membership, life, servers, restUrl } = of
  const { logger } = environment
  const ofCoordinators = controllerOfCoordinators({ controller, connections, logger })
  await prepareInternalTopics({ controller: ofCoordinators, clock, logger })
  // The last of all subscribers: what heartbeats say was followed, everybody has followed.
  await controller.subscribe(membership.subscriber)
  const rest = lockstepEndpoint(settings.rest.advertisedUrl ?? restUrl)
  await membership.join([...advertisedEndpoints(settings, servers), rest])
  life.hasStarted()
  startup.onStop('leaving the cluster', () => leaveCluster({ membership, life, clock, logger }))
  // Not awaited: a cluster without a controller lets nobody serve, and REST tells why.
  void membership.serve().catch(() => {})
}
