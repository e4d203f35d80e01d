/**
 * Internal topics of a joined cluster, when a client needs one that is missing: a Kafka broker is asked to create it. Brokers take the
 * number of its partitions from their own files when they start; with any other number they and we would look for groups in
 * different places. The coordinators of a joined node get their controller from here.
 */
import type { Logger } from '../../core/logger.ts'
import { ZERO_UUID } from '../../core/uuid.ts'
import type { CreatedTopic, NewTopic } from '../../metadata/controller-port.ts'
import { isActiveBroker, javaBrokers } from '../../metadata/lockstep-nodes.ts'
import { isRefusal, missingRight, type NeededRight } from '../../metadata/missing-right.ts'
import { ConnectionError } from '../../network/connection-error.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { FindCoordinatorApi } from '../../protocol/messages/10-find-coordinator.ts'
import type { BrokerConnections } from '../../replica/broker-connections.ts'
import type { CoordinatorsController } from '../coordinators.ts'

/** What to ask for, so that a broker creates the topic. */
interface Wanted {
  readonly keyType: number
  readonly key: string
  readonly right: NeededRight
}

const ASKED = '__lockstep'
const BATCHED_VERSION = 4

const wantedFor: ReadonlyMap<string, Wanted> = new Map([
  ['__consumer_offsets', { keyType: 0, key: ASKED, right: { operation: 'DESCRIBE', resource: 'GROUP', name: ASKED } }],
  [
    '__transaction_state',
    { keyType: 1, key: ASKED, right: { operation: 'DESCRIBE', resource: 'TRANSACTIONAL_ID', name: ASKED } },
  ],
  [
    '__share_group_state',
    { keyType: 2, key: `${ASKED}:${ZERO_UUID}:0`, right: { operation: 'CLUSTER_ACTION', resource: 'CLUSTER' } },
  ],
])

/** The controller, but for `createTopics`, which begins the creation by a Kafka broker and says that the topic is not there yet. */
export function controllerOfCoordinators(of: {
  readonly controller: CoordinatorsController
  readonly connections: Pick<BrokerConnections, 'to'>
  readonly logger: Logger
}): CoordinatorsController {
  const { controller, connections, logger } = of
  const begin = async ({ name }: NewTopic): Promise<CreatedTopic> => {
    const wanted = wantedFor.get(name)
    const problem = wanted ? await askBrokers(wanted) : `${name} is no topic of a coordinator`
    if (problem !== undefined) logger.warn('an internal topic is missing and could not be asked for', { name, problem })
    const errorMessage = problem ?? 'a Kafka broker has been asked to create it'
    const errorCode = ErrorCode.COORDINATOR_NOT_AVAILABLE
    return {
      name,
      errorCode,
      errorMessage,
      topicId: ZERO_UUID,
      partitions: -1,
      replicationFactor: -1,
      configs: new Map(),
    }
  }
  /** undefined once one has taken the question, or why nobody did. */
  const askBrokers = async ({ keyType, key, right }: Wanted): Promise<string | undefined> => {
    let problem = 'no Kafka broker is there'
    for (const { id } of javaBrokers(controller.image).filter(isActiveBroker)) {
      try {
        const connection = await connections.to(id)
        const version = connection.versionFor(FindCoordinatorApi.key) ?? 0
        const keys = version < BATCHED_VERSION ? { key } : { coordinatorKeys: [key] }
        const { response } = await connection.send(FindCoordinatorApi, { keyType, ...keys }, { version })
        const codes = [response.errorCode, ...response.coordinators.map(({ errorCode }) => errorCode)]
        if (!codes.some(isRefusal)) return undefined
        problem = missingRight(right)
      } catch (error) {
        if (!(error instanceof ConnectionError)) throw error
        problem = error.message
      }
    }
    return problem
  }
  return {
    get image() {
      return controller.image
    },
    subscribe: subscriber => controller.subscribe(subscriber),
    createTopics: topics => Promise.all(topics.map(begin)),
  }
}
