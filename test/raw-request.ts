// Requests as bytes, for suites that speak to a node below any client: frames to write, answers to decode.
import { frameOf } from '../src/network/fakes/raw-client.ts'
import { RequestHeader } from '../src/protocol/messages/header.ts'
import type { Api } from '../src/protocol/schema/message.ts'

export interface RequestOptions {
  readonly version?: number | undefined
  readonly correlationId?: number | undefined
  readonly clientId?: string | undefined
}

/** With size prefix and header. */
export function requestFrame<Q, QI, R, RI>(api: Api<Q, QI, R, RI>, request: QI, options: RequestOptions = {}): Buffer {
  const { version = api.request.versions.max, correlationId = 7, clientId = 'raw' } = options
  const header = { requestApiKey: api.key, requestApiVersion: version, correlationId, clientId }
  return frameOf(RequestHeader.encode(header, api.requestHeaderVersion(version)), api.request.encode(request, version))
}

/** From a frame without its size prefix. */
export function answerOf<Q, QI, R, RI>(
  api: Api<Q, QI, R, RI>,
  frame: Buffer,
  version: number = api.request.versions.max,
): R {
  return api.response.decode(frame.subarray(api.responseHeaderVersion(version) >= 1 ? 5 : 4), version)
}
