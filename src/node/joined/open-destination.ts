/** Makes the joined cluster as the link engine's Destination, with what keeps clients from mirrors there and what ends a mirror; called by the start of a joined node. */
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import type { Random } from '../../core/random.ts'
import { BrokerQuestions } from '../../destination/joined/broker-questions.ts'
import { EpochFork } from '../../destination/joined/epoch-fork.ts'
import { GroupCoordinators } from '../../destination/joined/group-coordinators.ts'
import { GroupRequests } from '../../destination/joined/group-requests.ts'
import { JoinedDestination } from '../../destination/joined/joined-destination.ts'
import { JoinedFence } from '../../destination/joined/joined-fence.ts'
import { MirrorReclaim, type MirrorReclaimOptions } from '../../destination/joined/mirror-reclaim.ts'
import type { PeerLogs } from '../../destination/joined/peer-logs.ts'
import { ProducerIdBarrier } from '../../destination/joined/producer-id-barrier.ts'
import { ProducerIdsAhead } from '../../destination/joined/producer-ids-ahead.ts'
import { TransactionAborts } from '../../destination/joined/transaction-aborts.ts'
import type { WriteStatus } from '../../link/ports.ts'
import { allowAll } from '../../metadata/authorizer.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import type { BrokerConnections } from '../../replica/broker-connections.ts'
import type { ProducerIds } from '../../replica/producer-ids.ts'
import type { ReplicaSet } from '../../replica/replica-set.ts'
import { type NodeSettings, numberOf } from '../settings.ts'
import type { Startup } from '../startup.ts'

export interface DestinationParts {
  readonly settings: NodeSettings
  readonly controller: Controller
  readonly connections: BrokerConnections
  readonly replicas: ReplicaSet
  readonly producerIds: ProducerIds
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  readonly statusOf: (topicId: string, topic: string) => WriteStatus
  /** Is this node the link coordinator, as far as the metadata say? */
  readonly coordinates: () => boolean
  readonly peerLogs: Pick<PeerLogs, 'call'>
  /** Looked up when it is needed: the engine is made with the destination. */
  readonly fences: () => Omit<MirrorReclaimOptions, 'handBack' | 'fork'>
}

/** It and its fence hear of changes from now on. */
export async function openDestination(parts: DestinationParts, startup: Startup): Promise<JoinedDestination> {
  const { settings, controller, connections, replicas, producerIds, clock, random, logger, fences } = parts
  const { nodeId: brokerId, kafka: file } = settings
  const image = () => controller.image
  const questions = new BrokerQuestions(connections)
  const hasAuthorizer = settings.authorizer !== allowAll
  // The file of a node that joins says of its authorizer what those of the other brokers say.
  const allowsIfNoAcl = file.get('allow.everyone.if.no.acl.found')?.toLowerCase() === 'true'
  const security = hasAuthorizer ? { allowsIfNoAcl } : undefined
  const fence = new JoinedFence({ brokerId, controller, questions, replicas, security, clock, logger })
  const fork = new EpochFork({ brokerId, controller, logger })
  const barrier = new ProducerIdBarrier({ brokerId, image, producerIds, questions, clock })
  const ahead = new ProducerIdsAhead({
    ...{ controller, clock, logger },
    partitions: () => replicas.partitions,
    isMirror: (topicId, topic) => parts.statusOf(topicId, topic).kind === 'mirror',
    distanceProblem: highest => barrier.distanceProblem(highest),
  })
  startup.onStop('producer ids above those of mirrors', () => ahead.close())
  const coordinators = new GroupCoordinators({ brokerId, image, brokers: connections })
  const destination = new JoinedDestination({
    ...{ brokerId, file, controller, replicas, hasAuthorizer, random, fence, questions, peerLogs: parts.peerLogs },
    brokers: connections,
    transactions: new TransactionAborts({ image, brokers: connections }),
    reclaim: new MirrorReclaim({
      leadershipOf: (...of) => fences().leadershipOf(...of),
      writtenByOthers: (...of) => fences().writtenByOthers(...of),
      markersCut: (...of) => fences().markersCut(...of),
      handBack: (topicId, partition) => fence.handBack(topicId, partition),
      fork: (topicId, partition) => fork.begin(topicId, partition),
    }),
    barrier,
    groups: new GroupRequests({ coordinators, brokers: connections, mayWrite: parts.coordinates, clock, random }),
    groupOffsetRetentionMs: numberOf(settings, 'offsets.retention.minutes') * 60_000,
  })
  await controller.subscribe(destination)
  await controller.subscribe(fence)
  return destination
}
