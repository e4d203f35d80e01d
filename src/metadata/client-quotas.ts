/** Client quotas of the image: which keys there are, and which quota counts for whom. The controller checks with it, the broker and its listeners apply it. */
import type { ClientQuotaImage } from './metadata-image.ts'
import type { QuotaEntity } from './quota-commands.ts'

/** Quotas of users and client ids (KIP-13, KIP-55, KIP-124, KIP-599). */
export const clientQuotaKeys = [
  'producer_byte_rate',
  'consumer_byte_rate',
  'request_percentage',
  'controller_mutation_rate',
] as const
export type ClientQuotaKey = (typeof clientQuotaKeys)[number]

/** The quota of addresses: connections per second (KIP-612). */
export const CONNECTION_RATE_KEY = 'connection_creation_rate'

/** Who sends a request. */
export interface QuotaClient {
  readonly user: string
  /** Empty = not said. */
  readonly clientId: string
}

/** A quota with those who share it: all clients of that user, of that client id, or of both; empty = of any. */
export interface AppliedQuota extends QuotaClient {
  /** Per second. */
  readonly bound: number
}

type ClientQuotas = ReadonlyMap<string, ClientQuotaImage>

/** The key of an entity in the image. Parts in any order. */
export const quotaEntityKey = (entity: QuotaEntity): string =>
  JSON.stringify(entity.map(({ type, name }) => ({ type, name })).sort((a, b) => (a.type < b.type ? -1 : 1)))

/**
 * The quota that counts, by Kafka's order: the user with the client id, the user with any, the user; the default user with the
 * client id, with any, alone; the client id, any. undefined = unlimited.
 */
export function quotaOf(quotas: ClientQuotas, key: ClientQuotaKey, client: QuotaClient): AppliedQuota | undefined {
  const { user, clientId } = client
  const withClient = (name: string | null) => [
    [
      { type: 'client-id', name: clientId },
      { type: 'user', name },
    ],
    [
      { type: 'client-id', name: null },
      { type: 'user', name },
    ],
  ]
  const candidates: readonly (readonly [QuotaEntity, QuotaClient])[] = [
    ...withClient(user).map(entity => [entity, { user, clientId }] as const),
    [[{ type: 'user', name: user }], { user, clientId: '' }],
    ...withClient(null).map(entity => [entity, { user, clientId }] as const),
    [[{ type: 'user', name: null }], { user, clientId: '' }],
    [[{ type: 'client-id', name: clientId }], { user: '', clientId }],
    [[{ type: 'client-id', name: null }], { user: '', clientId }],
  ]
  for (const [entity, sharedBy] of candidates) {
    const bound = quotas.get(quotaEntityKey(entity))?.values.get(key)
    if (bound !== undefined) return { bound, ...sharedBy }
  }
  return undefined
}

/** Connections per second by the name of the address; null = every other address. */
export function connectionRates(quotas: ClientQuotas): ReadonlyMap<string | null, number> {
  const rates = new Map<string | null, number>()
  for (const { entity, values } of quotas.values()) {
    const rate = values.get(CONNECTION_RATE_KEY)
    const [part] = entity
    if (rate !== undefined && part?.type === 'ip') rates.set(part.name, rate)
  }
  return rates
}
