/**
 * DescribeClientQuotas (48), versions 0–1 (KIP-546); the dispatch table calls it.
 *
 * 0: baseline. 1: flexible.
 *
 * Tells quotas that the metadata holds, in Kafka's order of checks; this node neither changes nor applies quotas. Kafka's tool for
 * users asks it on its way to SCRAM credentials. Needs DESCRIBE_CONFIGS on the cluster.
 */
import type { ClientQuotaImage } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import {
  DescribeClientQuotasApi,
  type DescribeClientQuotasRequest,
} from '../../protocol/messages/48-describe-client-quotas.ts'
import { requireAllowedOnCluster } from '../authorization.ts'
import { handlerOf } from '../handler.ts'

const MatchType = { EXACT: 0, DEFAULT: 1, SPECIFIED: 2 } as const
const ENTITY_TYPES = ['user', 'client-id', 'ip']

/** Wanted name by type of entity; null = the default entity, undefined = any name. */
type Wanted = Map<string, string | null | undefined>

interface Refusal {
  readonly errorCode: number
  readonly errorMessage: string
}

export const describeClientQuotas = handlerOf(DescribeClientQuotasApi, {
  versions: { min: 0, max: 1 },
  handle(broker, request, origin) {
    requireAllowedOnCluster(broker, origin, 'DESCRIBE_CONFIGS')
    const wanted = wantedOf(request)
    if (!(wanted instanceof Map)) return { throttleTimeMs: 0, ...wanted, entries: null }
    const found = [...origin.image.clientQuotas.values()].filter(quota => matches(quota, wanted, request.strict))
    const entries = found.map(({ entity, values }) => ({
      entity: entity.map(({ type, name }) => ({ entityType: type, entityName: name })),
      values: [...values].map(([key, value]) => ({ key, value })),
    }))
    return { throttleTimeMs: 0, errorCode: ErrorCode.NONE, errorMessage: null, entries }
  },
  failed: (_request, errorCode) => ({ throttleTimeMs: 0, errorCode, errorMessage: null, entries: null }),
})

function wantedOf({ components }: DescribeClientQuotasRequest): Wanted | Refusal {
  const wanted: Wanted = new Map()
  for (const { entityType, matchType, match } of components) {
    if (entityType === '') return invalid('Invalid empty entity type.')
    if (wanted.has(entityType)) return invalid(`Entity type ${entityType} cannot appear more than once in the filter.`)
    if (!ENTITY_TYPES.includes(entityType))
      return { errorCode: ErrorCode.UNSUPPORTED_VERSION, errorMessage: 'Custom entity types are not supported' }
    if (matchType === MatchType.EXACT && match === null)
      return invalid('Request specified MATCH_TYPE_EXACT, but set match string to null.')
    if (matchType === MatchType.EXACT) wanted.set(entityType, match)
    else if (matchType !== MatchType.DEFAULT && matchType !== MatchType.SPECIFIED)
      return invalid(`Unknown match type ${matchType}`)
    else if (match !== null) return invalid('Only MATCH_TYPE_EXACT takes a match string.')
    else wanted.set(entityType, matchType === MatchType.DEFAULT ? null : undefined)
  }
  if (wanted.has('ip') && wanted.size > 1)
    return invalid('IP filter component should not be used with user or clientId filter component.')
  return wanted
}

const invalid = (errorMessage: string): Refusal => ({ errorCode: ErrorCode.INVALID_REQUEST, errorMessage })

function matches({ entity }: ClientQuotaImage, wanted: Wanted, strict: boolean): boolean {
  if (strict && entity.length !== wanted.size) return false
  return [...wanted].every(([type, name]) => {
    const part = entity.find(candidate => candidate.type === type)
    return part !== undefined && (name === undefined || part.name === name)
  })
}
