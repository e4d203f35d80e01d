/** Learns which api versions a broker serves (ApiVersions, KIP-35 and KIP-511); BrokerConnection calls it on every new connection. */
import { messageOf } from '../core/errors.ts'
import { ErrorCode, errorName } from '../protocol/errors.ts'
import { ApiVersionsRequest, ApiVersionsResponse } from '../protocol/messages/18-api-versions.ts'
import type { BrokerChannel } from './broker-channel.ts'
import { ConnectionError } from './connection-error.ts'
import { API_VERSIONS_KEY, type VersionRange } from './headers.ts'
import type { ClientSoftware } from './request-handler.ts'

/** Versions that a broker serves, by api key; apis that our tables do not know included. */
export type BrokerApis = ReadonlyMap<number, VersionRange>

/** Our newest version first; a broker that lacks it answers in version 0 with the versions it has. Rejects with ConnectionError. */
export async function negotiateVersions(
  channel: BrokerChannel,
  options: { software: ClientSoftware; timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<BrokerApis> {
  const newest = ApiVersionsRequest.versions.max
  let answer = await ask(channel, newest, options)
  if (answer.errorCode === ErrorCode.UNSUPPORTED_VERSION) {
    // Before 2.4 the answer lists nothing; version 0 is served by all.
    const theirs = answer.apiKeys.find(api => api.apiKey === API_VERSIONS_KEY)
    answer = await ask(channel, Math.min(theirs?.maxVersion ?? 0, newest - 1), options)
  }
  if (answer.errorCode !== ErrorCode.NONE)
    throw new ConnectionError('protocol', `${channel.peer} answers ApiVersions with ${errorName(answer.errorCode)}`)
  return new Map(answer.apiKeys.map(api => [api.apiKey, { min: api.minVersion, max: api.maxVersion }]))
}

async function ask(
  channel: BrokerChannel,
  version: number,
  options: { software: ClientSoftware; timeoutMs: number; signal?: AbortSignal | undefined },
): Promise<ApiVersionsResponse> {
  const { software, timeoutMs, signal } = options
  const value = { clientSoftwareName: software.name, clientSoftwareVersion: software.version }
  const body = ApiVersionsRequest.encodeChunks(value, version)
  const answer = await channel.exchange({ apiKey: API_VERSIONS_KEY, version, body, timeoutMs, signal })
  try {
    const refused = answer.length >= 2 && answer.readInt16BE(0) === ErrorCode.UNSUPPORTED_VERSION
    return ApiVersionsResponse.decode(answer, refused ? 0 : version)
  } catch (error) {
    const what = `the answer of ${channel.peer} to ApiVersions version ${version} cannot be decoded`
    throw new ConnectionError('protocol', `${what}: ${messageOf(error)}`, { cause: error })
  }
}
