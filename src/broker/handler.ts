/** What a handler of one Kafka API is, and how it becomes an entry of the dispatch table; every file in handlers/ uses it. */
import type { GroupCoordinator } from '../coordinator/groups/group-coordinator.ts'
import type { SharePartitions } from '../coordinator/share-partitions/share-partitions.ts'
import type { ShareCoordinator } from '../coordinator/share-state/share-coordinator.ts'
import type { TransactionCoordinator } from '../coordinator/transactions/transaction-coordinator.ts'
import type { ByteBudget } from '../core/byte-budget.ts'
import type { Clock } from '../core/clock.ts'
import { OperationalError } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import type { LoggerLevels } from '../core/logger-levels.ts'
import type { Authorizer } from '../metadata/authorizer.ts'
import type { Controller } from '../metadata/controller-port.ts'
import type { MetadataImage } from '../metadata/metadata-image.ts'
import type { FrameBuffers } from '../network/frame-buffers.ts'
import { RequestRefused } from '../network/headers.ts'
import type { ClientContext, IncomingRequest, RequestProgress } from '../network/request-handler.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { DecodeError } from '../protocol/schema/codec-errors.ts'
import type { Api } from '../protocol/schema/message.ts'
import type { VersionRange } from '../protocol/schema/version-range.ts'
import type { ProducerIds } from '../replica/producer-ids.ts'
import type { ReplicaSet } from '../replica/replica-set.ts'
import type { WriteGate } from '../replica/write-gate.ts'
import type { BrokerSettings } from './broker-settings.ts'
import type { SessionCache } from './fetch-sessions/session-cache.ts'
import type { JoinedCluster } from './joined/joined-cluster.ts'
import type { ClientQuotas } from './quotas/client-quotas.ts'
import { measured, type RequestThrottle, throttleOf } from './quotas/request-throttle.ts'
import type { ReadRedirect } from './read-redirect.ts'
import type { ShareSessions } from './share-fetch/share-sessions.ts'

/** One API in an ApiVersions answer. */
export interface ServedApi extends VersionRange {
  readonly key: number
}

/** Where this node keeps its logs. */
export interface LogDirectoryInfo {
  /** Absolute. */
  readonly path: string
  /** Of the volume. Rejects with the system's error. */
  space(): Promise<{ readonly totalBytes: bigint; readonly usableBytes: bigint }>
}

/** Everything that handlers work with. */
export interface BrokerContext {
  readonly brokerId: number
  readonly controller: Controller
  readonly replicas: ReplicaSet
  readonly producerIds: ProducerIds
  readonly groups: GroupCoordinator
  readonly transactions: TransactionCoordinator
  /** The state of share groups; those of this node come through their persister. */
  readonly shareState: ShareCoordinator
  readonly sharePartitions: SharePartitions
  readonly shareSessions: ShareSessions
  readonly writeGate: WriteGate
  /** Handlers ask it through authorization.ts. */
  readonly authorizer: Authorizer
  readonly settings: BrokerSettings
  readonly logDirectory: LogDirectoryInfo
  readonly fetchSessions: SessionCache
  readonly quotas: ClientQuotas
  /** Memory of answers that are read or wait for their clients. */
  readonly answerBudget: ByteBudget
  /** Where the larger ones of them are read into. */
  readonly answerBuffers: FrameBuffers
  /** Levels of the node's log, configs of the resource BROKER_LOGGER. */
  readonly loggers: LoggerLevels
  /** What ApiVersions announces now, by key. */
  readonly apis: () => readonly ServedApi[]
  /** The cluster that this node is one broker of; undefined if it is a cluster of its own. */
  readonly joined: JoinedCluster | undefined
  readonly readRedirect: ReadRedirect
  readonly clock: Clock
  readonly logger: Logger
}

/** Where a request comes from. */
export interface RequestOrigin {
  readonly version: number
  readonly clientId: string | null
  readonly client: ClientContext
  readonly progress: RequestProgress
  /** What the request costs the client's quotas; undefined while there are none. */
  readonly throttle: RequestThrottle | undefined
  /** The image when the request arrived: one answer is about one image. */
  readonly image: MetadataImage
}

/** A request that is refused as a whole; the handler's `failed` builds the answer. */
export class RequestFailure extends Error {
  readonly errorCode: number

  constructor(errorCode: number, message: string) {
    super(message)
    this.name = 'RequestFailure'
    this.errorCode = errorCode
  }
}

/** The only answer is to end the connection; the listener does so with the message in the log. */
export class CloseConnection extends RequestRefused {}

export interface HandlerDefinition<Q, R> {
  /** Versions that this handler serves. */
  readonly versions: VersionRange
  /** Announced instead of `versions` where clients need a lie. */
  readonly announced?: VersionRange
  /** undefined = no answer. May throw RequestFailure or CloseConnection; anything else becomes UNKNOWN_SERVER_ERROR. */
  handle(broker: BrokerContext, request: Q, origin: RequestOrigin): Promise<R | undefined> | R | undefined
  /** The answer that says that every part of the request failed, as Kafka's `getErrorResponse`. */
  failed(request: Q, errorCode: number, origin: RequestOrigin): R
}

/** One API of the table. */
export interface Handler {
  readonly key: number
  readonly name: string
  readonly versions: VersionRange
  readonly announced: VersionRange
  /** Decodes, handles, encodes. Rejects with CloseConnection, also for a body that does not parse. */
  answer(broker: BrokerContext, request: IncomingRequest, client: ClientContext): Promise<readonly Buffer[] | undefined>
  /** The answer that says that every part of the request failed. Throws as `answer` for a body that does not parse. */
  refuse(broker: BrokerContext, refused: RefusedRequest, client: ClientContext): readonly Buffer[]
}

export interface RefusedRequest {
  readonly request: IncomingRequest
  readonly errorCode: number
}

/** Ties a definition to the messages of its API. */
export function handlerOf<Q, QI, R, RI>(api: Api<Q, QI, R, RI>, definition: HandlerDefinition<Q, RI>): Handler {
  return {
    key: api.key,
    name: api.name,
    versions: definition.versions,
    announced: definition.announced ?? definition.versions,
    async answer(broker, incoming, client) {
      const throttle = throttleOf(broker, incoming, client)
      const handled = measured(throttle, () => {
        const request = decoded(api, incoming)
        const origin = originOf(broker, incoming, { client, throttle })
        return answerOrFailure(broker, definition, { request, origin, name: api.name })
      })
      const answer = await handled
      const pauseMs = throttle?.settle() ?? 0
      const told = pauseMs > 0 && answer !== undefined ? { ...answer, throttleTimeMs: pauseMs } : answer
      const chunks = told && measured(throttle, () => api.response.encodeChunks(told, incoming.apiVersion))
      throttle?.told()
      if (pauseMs > 0) incoming.progress.pause(pauseMs)
      return chunks
    },
    refuse(broker, { request: incoming, errorCode }, client) {
      const answer = definition.failed(decoded(api, incoming), errorCode, originOf(broker, incoming, { client }))
      return api.response.encodeChunks(answer, incoming.apiVersion)
    },
  }
}

const originOf = (
  broker: BrokerContext,
  { apiVersion: version, clientId, progress }: IncomingRequest,
  { client, throttle }: { readonly client: ClientContext; readonly throttle?: RequestThrottle | undefined },
): RequestOrigin => ({ version, clientId, client, progress, throttle, image: broker.controller.image })

function decoded<Q, QI, R, RI>(api: Api<Q, QI, R, RI>, { apiVersion, body, clientId }: IncomingRequest): Q {
  try {
    return api.request.decode(body, apiVersion)
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error
    const client = clientId === null ? 'a client without id' : `client ${clientId}`
    throw new CloseConnection(`${api.name} version ${apiVersion} of ${client} cannot be read: ${error.message}`)
  }
}

/** Is it a name of `protocol/errors.ts`, as rows of errors have them? */
export const isKafkaError = (name: string): name is keyof typeof ErrorCode => Object.hasOwn(ErrorCode, name)

async function answerOrFailure<Q, R>(
  broker: BrokerContext,
  definition: HandlerDefinition<Q, R>,
  call: { readonly request: Q; readonly origin: RequestOrigin; readonly name: string },
): Promise<R | undefined> {
  try {
    return await definition.handle(broker, call.request, call.origin)
  } catch (error) {
    if (error instanceof CloseConnection) throw error
    if (error instanceof RequestFailure) return definition.failed(call.request, error.errorCode, call.origin)
    if (error instanceof OperationalError && isKafkaError(error.row.kafka)) {
      broker.logger.warn('a request failed', { api: call.name, clientId: call.origin.clientId, error: error.message })
      return definition.failed(call.request, ErrorCode[error.row.kafka], call.origin)
    }
    broker.logger.error('a request failed unexpectedly', {
      api: call.name,
      version: call.origin.version,
      clientId: call.origin.clientId,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    })
    return definition.failed(call.request, ErrorCode.UNKNOWN_SERVER_ERROR, call.origin)
  }
}
