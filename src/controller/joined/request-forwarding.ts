/** Passes a client's request on to the active controller in an Envelope (key 58, KIP-590), under the client's own principal and address: its ACLs decide. For the handlers of a joined node. */

import assert from 'node:assert/strict'
import { apiOf } from '../../protocol/api-registry.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { EnvelopeApi } from '../../protocol/messages/58-envelope.ts'
import { DefaultPrincipalData } from '../../protocol/messages/default-principal.ts'
import { RequestHeader } from '../../protocol/messages/header.ts'
import { clientAddressBytes } from './client-address.ts'
import type { ControllerQuestions } from './controller-questions.ts'
import { COMMAND_MS } from './forwarded-commands.ts'
import { joinedError } from './joined-errors.ts'

/** As it came from the client. */
export interface ClientRequest {
  readonly apiKey: number
  readonly apiVersion: number
  readonly correlationId: number
  readonly clientId: string | null
  readonly body: Buffer
  readonly principal: { readonly type: string; readonly name: string }
  readonly remoteAddress: string
}

const PRINCIPAL_VERSION = 0

/** What controllers of Kafka 4.3.1 take in an Envelope; everything else they refuse. */
const FORWARDABLE_APIS: ReadonlySet<number> = new Set([
  19, 20, 30, 31, 33, 37, 38, 39, 40, 43, 44, 45, 46, 49, 51, 55, 57, 64, 67, 80, 81,
])

export const isForwardable = (apiKey: number): boolean => FORWARDABLE_APIS.has(apiKey)

/**
 * The body of the controller's answer, in the version of the request. Rejects as `ControllerQuestions.ask`, and with
 * CONTROLLER_REFUSED where the controller will not hear the request, for example since we lack CLUSTER_ACTION.
 */
export async function forwardRequest(questions: ControllerQuestions, request: ClientRequest): Promise<Buffer> {
  assert(isForwardable(request.apiKey), 'controllers take no such request in an Envelope')
  const { response } = await questions.ask(EnvelopeApi, envelopeOf(request), {
    codes: ({ errorCode }) => [errorCode],
    // What the client asked for may have been done.
    repeatable: false,
    waitMs: COMMAND_MS,
  })
  const { errorCode, responseData } = response
  if (errorCode === ErrorCode.NONE && responseData !== null) return bodyOf(responseData, request)
  const api = `${apiOf(request.apiKey)?.name ?? request.apiKey} in an Envelope`
  const error = errorName(errorCode === ErrorCode.NONE ? ErrorCode.UNKNOWN_SERVER_ERROR : errorCode)
  throw joinedError('CONTROLLER_REFUSED', { address: 'the active controller', api, error })
}

function envelopeOf(request: ClientRequest) {
  const { apiKey, apiVersion, correlationId, clientId, body, principal, remoteAddress } = request
  const header = RequestHeader.encode(
    { requestApiKey: apiKey, requestApiVersion: apiVersion, correlationId, clientId },
    apiOf(apiKey)?.requestHeaderVersion(apiVersion) ?? 1,
  )
  const version = Buffer.alloc(2)
  version.writeInt16BE(PRINCIPAL_VERSION)
  const { type, name } = principal
  const who = DefaultPrincipalData.encode({ type, name, tokenAuthenticated: false }, PRINCIPAL_VERSION)
  return {
    requestData: Buffer.concat([header, body]),
    requestPrincipal: Buffer.concat([version, who]),
    clientHostAddress: clientAddressBytes(remoteAddress),
  }
}

/** Without the header of the inner answer: correlation id, and tagged fields (there are none) in flexible versions. */
function bodyOf(answer: Buffer, { apiKey, apiVersion }: ClientRequest): Buffer {
  const headerBytes = apiOf(apiKey)?.responseHeaderVersion(apiVersion) === 1 ? 5 : 4
  return answer.subarray(headerBytes)
}
