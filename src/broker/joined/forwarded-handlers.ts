/** Handlers that pass a client's request on to the active controller, as every Kafka broker does (KIP-590); rows of the joined table. */
import { OperationalError } from '../../core/errors.ts'
import type { ClientContext, IncomingRequest } from '../../network/request-handler.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { type BrokerContext, CloseConnection, type Handler, isKafkaError } from '../handler.ts'

/** The row with the controller in the place of its handler. The client's rights are judged there. */
export const forwarded = (row: Handler): Handler => ({
  ...row,
  announced: row.versions,
  answer: (broker, request, client) => forwardOrRefuse(broker, { row, request }, client),
})

/** Passes the request on, or says in the row's words that this was not possible. */
export async function forwardOrRefuse(
  broker: BrokerContext,
  of: { readonly row: Handler; readonly request: IncomingRequest },
  client: ClientContext,
): Promise<readonly Buffer[]> {
  const { row, request } = of
  try {
    return [await forward(broker, request, client)]
  } catch (error) {
    if (!(error instanceof OperationalError)) throw error
    const fields = { api: row.name, clientId: request.clientId, error: error.message, hint: error.hint }
    broker.logger.warn('a request could not be passed on to the controller', fields)
    return row.refuse(broker, { request, errorCode: codeOf(error) }, client)
  }
}

/** The body of the controller's answer. Rejects as `JoinedCluster.forward`. */
export function forward(
  { joined }: BrokerContext,
  { apiKey, apiVersion, correlationId, clientId, body }: Omit<IncomingRequest, 'progress' | 'receivedMs'>,
  { principal, remoteAddress }: ClientContext,
): Promise<Buffer> {
  if (!joined) throw new CloseConnection('there is no controller to pass a request on to')
  return joined.forward({ apiKey, apiVersion, correlationId, clientId, body, principal, remoteAddress })
}

/** The controller's refusal of the envelope is about this node's rights: the client must not take it for its own. */
function codeOf(error: OperationalError): number {
  const { kafka } = error.row
  if (!error.retriable || !isKafkaError(kafka)) return ErrorCode.UNKNOWN_SERVER_ERROR
  return ErrorCode[kafka]
}
