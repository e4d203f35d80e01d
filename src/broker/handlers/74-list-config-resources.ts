/**
 * ListConfigResources (74), versions 0–1; the dispatch table calls it.
 *
 * 0: names of client metrics subscriptions (KIP-1000). 1: resources of any type that can have configs (KIP-1142).
 *
 * Topics, brokers and broker loggers are listed as they exist, groups and client metrics if something is set for them. Without
 * types all are listed. A type that cannot have configs is UNSUPPORTED_VERSION.
 */
import { ConfigResourceType, type MetadataImage } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { ListConfigResourcesApi } from '../../protocol/messages/74-list-config-resources.ts'
import { requireAllowedOnCluster } from '../authorization.ts'
import { handlerOf, RequestFailure } from '../handler.ts'

const TYPES_VERSION = 1
const { TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP } = ConfigResourceType
const KNOWN: ReadonlySet<number> = new Set(Object.values(ConfigResourceType))

export const listConfigResources = handlerOf(ListConfigResourcesApi, {
  versions: { min: 0, max: 1 },
  handle(broker, request, origin) {
    requireAllowedOnCluster(broker, origin, 'DESCRIBE_CONFIGS')
    const wanted = new Set(origin.version < TYPES_VERSION ? [CLIENT_METRICS] : request.resourceTypes)
    for (const type of wanted)
      if (!KNOWN.has(type))
        throw new RequestFailure(ErrorCode.UNSUPPORTED_VERSION, `resources of type ${type} have no configs`)
    const types = wanted.size === 0 ? KNOWN : wanted
    return {
      throttleTimeMs: 0,
      errorCode: ErrorCode.NONE,
      configResources: [...types].flatMap(resourceType =>
        namesOf(origin.image, resourceType).map(resourceName => ({ resourceName, resourceType })),
      ),
    }
  },
  failed: (_request, errorCode) => ({ throttleTimeMs: 0, errorCode, configResources: [] }),
})

function namesOf(image: MetadataImage, type: number): string[] {
  switch (type) {
    case TOPIC:
      return [...image.topicIds.keys()]
    case BROKER:
    case BROKER_LOGGER:
      return [...image.brokers.keys()].map(String)
    case CLIENT_METRICS:
    case GROUP: {
      const prefix = `${type}:`
      return [...image.configs.keys()].filter(key => key.startsWith(prefix)).map(key => key.slice(prefix.length))
    }
    default:
      return []
  }
}
