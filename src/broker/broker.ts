/**
 * The broker: the dispatch table tied to this node's replicas and controller. The composition root gives `handle` and
 * `served` to every listener. The wiring order is: logs, controller, ReplicaSet (subscribed first), Broker, listeners.
 */
import type { GroupCoordinator } from '../coordinator/groups/group-coordinator.ts'
import type { SharePartitions } from '../coordinator/share-partitions/share-partitions.ts'
import type { ShareCoordinator } from '../coordinator/share-state/share-coordinator.ts'
import type { TransactionCoordinator } from '../coordinator/transactions/transaction-coordinator.ts'
import type { ByteBudget } from '../core/byte-budget.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import { LoggerLevels } from '../core/logger-levels.ts'
import type { Random } from '../core/random.ts'
import { type Authorizer, allowAll } from '../metadata/authorizer.ts'
import type { Controller } from '../metadata/controller-port.ts'
import { FrameBuffers } from '../network/frame-buffers.ts'
import type { ServedApis } from '../network/headers.ts'
import type { RequestHandler } from '../network/request-handler.ts'
import type { ProducerIds } from '../replica/producer-ids.ts'
import type { ReplicaSet } from '../replica/replica-set.ts'
import type { WriteGate } from '../replica/write-gate.ts'
import type { BrokerSettings } from './broker-settings.ts'
import { SessionCache } from './fetch-sessions/session-cache.ts'
import { type BrokerContext, CloseConnection, type Handler, type LogDirectoryInfo } from './handler.ts'
import { handlers } from './handlers/table.ts'
import type { JoinedCluster } from './joined/joined-cluster.ts'
import { announcedApis, joinedHandlers } from './joined/joined-table.ts'
import { ClientQuotas } from './quotas/client-quotas.ts'
import { readHere } from './read-redirect.ts'
import { ShareSessions } from './share-fetch/share-sessions.ts'

/** Memory kept for the answers to come, beside that of answers under way. */
const IDLE_ANSWER_BYTES_MAX = 32 * 1024 * 1024

export interface BrokerOptions {
  readonly brokerId: number
  readonly controller: Controller
  readonly replicas: ReplicaSet
  readonly producerIds: ProducerIds
  readonly groups: GroupCoordinator
  readonly transactions: TransactionCoordinator
  readonly shareState: ShareCoordinator
  readonly sharePartitions: SharePartitions
  readonly writeGate: WriteGate
  /** Absent: everybody may do everything. */
  readonly authorizer?: Authorizer
  readonly settings: BrokerSettings
  readonly logDirectory: LogDirectoryInfo
  /** Shared with the listeners. */
  readonly answerBudget: ByteBudget
  /** Absent: this node is a cluster of its own. */
  readonly joined?: JoinedCluster
  /** Default: loggers of a node that writes no log. */
  readonly loggers?: LoggerLevels
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

export class Broker {
  /** What a listener lets through; requests of other APIs or versions close their connection. */
  readonly served: ServedApis
  readonly quotas: ClientQuotas
  readonly #context: BrokerContext
  readonly #handlers: ReadonlyMap<number, Handler>

  constructor(options: BrokerOptions) {
    const { joined } = options
    const table = joined ? joinedHandlers(handlers) : handlers
    this.served = new Map(table.map(handler => [handler.key, handler.versions]))
    this.#handlers = new Map(table.map(handler => [handler.key, handler]))
    const { controller, clock } = options
    this.quotas = new ClientQuotas({ image: () => controller.image, ...options.settings.quotaWindows, clock })
    this.#context = {
      ...options,
      quotas: this.quotas,
      authorizer: options.authorizer ?? allowAll,
      loggers: options.loggers ?? new LoggerLevels('silent'),
      answerBuffers: new FrameBuffers({ idleBytesMax: IDLE_ANSWER_BYTES_MAX, clock: options.clock }),
      fetchSessions: new SessionCache({ ...options, slots: options.settings.fetchSessionSlots }),
      shareSessions: new ShareSessions(options.sharePartitions),
      logger: options.logger.child({ component: 'broker' }),
      apis: () => announcedApis(table, joined),
      joined,
      readRedirect: joined?.readRedirect ?? readHere,
    }
  }

  /** Answers one request. Rejects only where closing the connection is the right answer. */
  readonly handle: RequestHandler = async (request, client) => {
    const handler = this.#handlers.get(request.apiKey)
    if (!handler) throw new CloseConnection(`api key ${request.apiKey} is not served`)
    return await handler.answer(this.#context, request, client)
  }
}
