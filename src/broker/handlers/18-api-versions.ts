/**
 * ApiVersions (18), versions 0–4; the dispatch table calls it.
 *
 * 0: baseline. 1: throttle time. 3: flexible, client software in the request (KIP-511), features in the answer (KIP-584).
 * 4: features whose lowest version is 0 may be listed; before, they are left out.
 *
 * The list comes from the dispatch table. A version above 4 is answered by the listener in version 0 with UNSUPPORTED_VERSION.
 * Software names that are not plain are INVALID_REQUEST. Features are those that this broker registered with, and the cluster's
 * finalized levels.
 */
import { ErrorCode } from '../../protocol/errors.ts'
import { ApiVersionsApi, type ApiVersionsRequest } from '../../protocol/messages/18-api-versions.ts'
import { handlerOf, RequestFailure } from '../handler.ts'

const SOFTWARE_VERSION = 3
const ZERO_FEATURES_VERSION = 4
/** Letters, digits, dots and dashes, not starting or ending with punctuation. */
const PLAIN_NAME = /^[a-zA-Z0-9](?:[a-zA-Z0-9.-]*[a-zA-Z0-9])?$/

export const apiVersions = handlerOf(ApiVersionsApi, {
  versions: { min: 0, max: 4 },
  handle(broker, request, { version, image }) {
    if (version >= SOFTWARE_VERSION && !isPlain(request))
      throw new RequestFailure(ErrorCode.INVALID_REQUEST, 'client software name or version is not plain')
    const supported = [...(image.brokers.get(broker.brokerId)?.features ?? [])]
    return {
      errorCode: ErrorCode.NONE,
      apiKeys: broker.apis().map(({ key, min, max }) => ({ apiKey: key, minVersion: min, maxVersion: max })),
      throttleTimeMs: 0,
      supportedFeatures: supported
        .filter(([, range]) => range.min > 0 || version >= ZERO_FEATURES_VERSION)
        .map(([name, range]) => ({ name, minVersion: range.min, maxVersion: range.max })),
      finalizedFeaturesEpoch: BigInt(image.offset),
      finalizedFeatures: [...image.features].map(([name, level]) => ({
        name,
        maxVersionLevel: level,
        minVersionLevel: level,
      })),
    }
  },
  failed: (_request, errorCode) => ({ errorCode, apiKeys: [], throttleTimeMs: 0 }),
})

const isPlain = (request: ApiVersionsRequest): boolean =>
  PLAIN_NAME.test(request.clientSoftwareName) && PLAIN_NAME.test(request.clientSoftwareVersion)
