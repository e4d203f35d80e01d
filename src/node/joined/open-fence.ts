/** Makes what keeps clients from mirrors in a joined cluster, and what ends a mirror there; called by the start of a joined node. */
import type { Clock } from '../../core/clock.ts'
import type { Logger } from '../../core/logger.ts'
import { BrokerQuestions } from '../../destination/joined/broker-questions.ts'
import { JoinedFence } from '../../destination/joined/joined-fence.ts'
import { ProducerIdBarrier } from '../../destination/joined/producer-id-barrier.ts'
import { allowAll } from '../../metadata/authorizer.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import type { BrokerConnections } from '../../replica/broker-connections.ts'
import type { ProducerIds } from '../../replica/producer-ids.ts'
import type { ReplicaSet } from '../../replica/replica-set.ts'
import type { NodeSettings } from '../settings.ts'

/** The fence hears of changes from now on. */
export async function openFence(of: {
  readonly settings: NodeSettings
  readonly controller: Controller
  readonly connections: BrokerConnections
  readonly replicas: ReplicaSet
  readonly producerIds: ProducerIds
  readonly clock: Clock
  readonly logger: Logger
}): Promise<{ readonly fence: JoinedFence; readonly barrier: ProducerIdBarrier }> {
  const { settings, controller, connections, replicas, producerIds, clock, logger } = of
  const brokerId = settings.nodeId
  const questions = new BrokerQuestions(connections)
  // The file of a node that joins says of its authorizer what those of the other brokers say.
  const allowsIfNoAcl = settings.kafka.get('allow.everyone.if.no.acl.found')?.toLowerCase() === 'true'
  const security = settings.authorizer === allowAll ? undefined : { allowsIfNoAcl }
  const fence = new JoinedFence({ brokerId, controller, questions, replicas, security, clock, logger })
  await controller.subscribe(fence)
  const barrier = new ProducerIdBarrier({ brokerId, image: () => controller.image, producerIds, questions })
  return { fence, barrier }
}
