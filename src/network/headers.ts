/** Reads request headers and writes response headers for the server connection, with the exception that Kafka makes for ApiVersions. */
import { messageOf } from '../core/errors.ts'
import { apiOf } from '../protocol/api-registry.ts'
import { RequestHeader } from '../protocol/messages/header.ts'
import { Reader } from '../protocol/schema/reader.ts'

/** Versions of one api, both ends included. */
export interface VersionRange {
  readonly min: number
  readonly max: number
}

/** What a listener serves, by api key. */
export type ServedApis = ReadonlyMap<number, VersionRange>

/** A request that cannot be answered: the connection is closed with this text in the log. */
export class RequestRefused extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'RequestRefused'
  }
}

export interface ParsedHeader {
  readonly apiKey: number
  readonly apiVersion: number
  readonly correlationId: number
  readonly clientId: string | null
  /** Position in the frame at which the body begins. */
  readonly bodyStart: number
  /** 0, or 1 with (empty) tagged fields; -1 = the answer is bare bytes. */
  readonly responseHeaderVersion: number
  /** ApiVersions in a version that is not served: only a version-0 answer is possible. */
  readonly unsupportedApiVersions: boolean
}

export const API_VERSIONS_KEY = 18
/** int16 key, int16 version, int32 correlation id. */
const FIXED_BYTES = 8

/** Reads the header at the start of `frame`. Throws RequestRefused. */
export function parseRequestHeader(frame: Buffer, served: ServedApis): ParsedHeader {
  if (frame.length < FIXED_BYTES) throw new RequestRefused(`a request of ${frame.length} bytes has no header`)
  const apiKey = frame.readInt16BE(0)
  const apiVersion = frame.readInt16BE(2)
  const correlationId = frame.readInt32BE(4)
  const api = apiOf(apiKey)
  const range = served.get(apiKey)
  if (!api || !range) throw new RequestRefused(`api key ${apiKey}${api ? ` (${api.name})` : ''} is not served here`)
  if (apiVersion < range.min || apiVersion > range.max) {
    if (apiKey !== API_VERSIONS_KEY)
      throw new RequestRefused(`${api.name} version ${apiVersion} is not served (${range.min} to ${range.max} are)`)
    // The header of a future version may differ; its fixed part is enough for the version-0 answer.
    const bodyStart = frame.length
    const unsupported = { responseHeaderVersion: 0, unsupportedApiVersions: true }
    return { apiKey, apiVersion, correlationId, clientId: null, bodyStart, ...unsupported }
  }
  try {
    const reader = new Reader(frame)
    const { clientId } = RequestHeader.read(reader, api.requestHeaderVersion(apiVersion))
    const bodyStart = reader.position
    const responseHeaderVersion = api.responseHeaderVersion(apiVersion)
    const rest = { bodyStart, responseHeaderVersion, unsupportedApiVersions: false }
    return { apiKey, apiVersion, correlationId, clientId, ...rest }
  } catch (error) {
    throw new RequestRefused(`the header of ${api.name} version ${apiVersion} cannot be read: ${messageOf(error)}`)
  }
}

/** Stands for the header of a frame that has none: a bare token of a login. */
export const noHeader: ParsedHeader = {
  apiKey: -1,
  apiVersion: 0,
  correlationId: 0,
  clientId: null,
  bodyStart: 0,
  responseHeaderVersion: -1,
  unsupportedApiVersions: false,
}

/** Size prefix and header of the answer to `header` with this body. */
export function responsePrefix(header: ParsedHeader, body: readonly Buffer[]): Buffer {
  const headerBytes = [0, 4, 5][header.responseHeaderVersion + 1] ?? 0
  const prefix = Buffer.alloc(4 + headerBytes)
  let size = headerBytes
  for (const chunk of body) size += chunk.length
  prefix.writeInt32BE(size, 0)
  if (headerBytes > 0) prefix.writeInt32BE(header.correlationId, 4)
  return prefix
}
