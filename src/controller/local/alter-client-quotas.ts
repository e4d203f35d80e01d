/** The command that changes client quotas (KIP-546). Pure but for names of hosts; the local controller exposes it as `quotas`. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { CONNECTION_RATE_KEY, clientQuotaKeys, quotaEntityKey } from '../../metadata/client-quotas.ts'
import type { ApiError } from '../../metadata/controller-port.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import type { QuotaAlteration, QuotaCommands, QuotaEntity } from '../../metadata/quota-commands.ts'
import { type MetadataRecordInput, MetadataRecordType } from '../../protocol/metadata-records/registry.ts'
import { accepted, type Decision, refused, repeated } from './decision.ts'

/** Runs a decision on the image that the command before it left behind; with `validateOnly` nothing comes of it. */
type RunCommand = <A>(
  decide: (image: MetadataImage) => Decision<A>,
  options: { readonly validateOnly: boolean },
) => Promise<A>

export const localQuotaCommands = (run: RunCommand): QuotaCommands => ({
  async alterClientQuotas(alterations, options) {
    const unknownHosts = await hostsWithoutAddress(alterations)
    return await run(image => alterClientQuotas(image, alterations, unknownHosts), options)
  },
})

type QuotaResult = ApiError & { readonly entity: QuotaEntity }

const INT_MAX = 2 ** 31 - 1
/** What a LONG of Kafka holds, as the nearest double. */
const LONG_MAX = 2 ** 63

/** Quotas that are whole numbers, with the largest there may be and Kafka's name of the type. */
const wholeNumbers = new Map([
  ['producer_byte_rate', { max: LONG_MAX, type: 'a LONG' }],
  ['consumer_byte_rate', { max: LONG_MAX, type: 'a LONG' }],
  [CONNECTION_RATE_KEY, { max: INT_MAX, type: 'an INT' }],
])

const ENTITY_TYPES = ['user', 'client-id', 'ip']

export function alterClientQuotas(
  image: MetadataImage,
  alterations: readonly QuotaAlteration[],
  unknownHosts: ReadonlySet<string>,
): Decision<QuotaResult[]> {
  const twice = repeated(alterations.map(({ entity }) => quotaEntityKey(entity)))
  const records: MetadataRecordInput[] = []
  const results = new Map<string, QuotaResult>()
  for (const alteration of alterations) {
    const { entity } = alteration
    const key = quotaEntityKey(entity)
    const problem = twice.has(key)
      ? refused('INVALID_REQUEST', `Ignoring duplicate entity ${textOf(entity)}`)
      : problemOf(alteration, unknownHosts)
    if (!problem) records.push(...recordsOf(image, alteration))
    results.set(key, { ...(problem ?? accepted), entity })
  }
  return { records, answer: [...results.values()] }
}

function problemOf({ entity, changes }: QuotaAlteration, unknownHosts: ReadonlySet<string>): ApiError | undefined {
  if (entity.length === 0) return refused('INVALID_REQUEST', 'Invalid empty client quota entity')
  const keys = repeated(changes.map(({ key }) => key))
  for (const key of keys)
    return refused('INVALID_REQUEST', `Duplicate quota key ${key} not updating quota for this entity ${textOf(entity)}`)
  for (const { type, name } of entity) {
    if (!ENTITY_TYPES.includes(type)) return refused('INVALID_REQUEST', `Unhandled client quota entity type: ${type}`)
    if (name === '') return refused('INVALID_REQUEST', `Empty ${type} not supported`)
    if (type !== 'ip') continue
    if (entity.length > 1)
      return refused(
        'INVALID_REQUEST',
        'Invalid quota entity combination, IP entity should not be combined with User or ClientId',
      )
    if (name !== null && unknownHosts.has(name))
      return refused('INVALID_REQUEST', `${name} is not a valid IP or resolvable host.`)
  }
  const known: readonly string[] = entity[0]?.type === 'ip' ? [CONNECTION_RATE_KEY] : clientQuotaKeys
  for (const { key, value } of changes) {
    const problem = value === null ? undefined : valueProblem(known, key, value)
    if (problem !== undefined) return refused('INVALID_REQUEST', problem)
  }
  return undefined
}

function valueProblem(known: readonly string[], key: string, value: number): string | undefined {
  if (!known.includes(key)) return `Invalid configuration key ${key}`
  if (!(value > 0)) return `Quota ${key} must be greater than 0`
  const whole = wholeNumbers.get(key)
  if (!whole) return undefined
  if (value > whole.max) return `Proposed value for ${key} is too large for ${whole.type}.`
  return value % 1 > 1e-6 ? `${key} cannot be a fractional value.` : undefined
}

/** What is so already is not written again. */
function recordsOf(image: MetadataImage, { entity, changes }: QuotaAlteration): MetadataRecordInput[] {
  const present = image.clientQuotas.get(quotaEntityKey(entity))?.values
  const parts = entity.map(({ type: entityType, name: entityName }) => ({ entityType, entityName }))
  return changes.flatMap(({ key, value }) => {
    if ((value ?? undefined) === present?.get(key)) return []
    const change = value === null ? { value: 0, remove: true } : { value, remove: false }
    return [{ type: MetadataRecordType.ClientQuota, version: 0, value: { entity: parts, key, ...change } }]
  })
}

const textOf = (entity: QuotaEntity): string =>
  `ClientQuotaEntity(entries={${entity.map(({ type, name }) => `${type}=${name}`).join(', ')}})`

async function hostsWithoutAddress(alterations: readonly QuotaAlteration[]): Promise<ReadonlySet<string>> {
  const hosts = new Set(
    alterations.flatMap(({ entity }) =>
      entity.flatMap(({ type, name }) => (type === 'ip' && name !== null && isIP(name) === 0 ? [name] : [])),
    ),
  )
  const unknown = await Promise.all(
    Array.from(hosts, async host => ((await lookup(host).catch(() => undefined)) ? [] : [host])),
  )
  return new Set(unknown.flat())
}
