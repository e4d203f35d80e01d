/** What the listener itself does about ApiVersions, the request with which clients introduce themselves (KIP-35, KIP-511). */
import { ErrorCode } from '../protocol/errors.ts'
import { ApiVersionsRequest, ApiVersionsResponse } from '../protocol/messages/18-api-versions.ts'
import { API_VERSIONS_KEY, type ParsedHeader, type ServedApis } from './headers.ts'
import type { ClientSoftware } from './request-handler.ts'

/** The body for a client whose ApiVersions is newer than ours: version 0, error 35, and the versions of ApiVersions to try. */
export function unsupportedApiVersionsAnswer(served: ServedApis): Buffer {
  const range = served.get(API_VERSIONS_KEY)
  const apiKeys = range ? [{ apiKey: API_VERSIONS_KEY, minVersion: range.min, maxVersion: range.max }] : []
  return ApiVersionsResponse.encode({ errorCode: ErrorCode.UNSUPPORTED_VERSION, apiKeys }, 0)
}

/** Name and version of the client library, when this request tells them. The handler answers for malformed ones. */
export function softwareOf(header: ParsedHeader, body: Buffer): ClientSoftware | undefined {
  if (header.apiKey !== API_VERSIONS_KEY || header.apiVersion < 3) return undefined
  try {
    const request = ApiVersionsRequest.decode(body, header.apiVersion)
    return { name: request.clientSoftwareName, version: request.clientSoftwareVersion }
  } catch {
    return undefined
  }
}
