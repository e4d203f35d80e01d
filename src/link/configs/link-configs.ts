/** The configs of one link: checked text overrides with typed values and defaults. Made by create-link and by replay. */
import { type ConfigRow, ConfigValueError, nearestKey } from '../../core/config-rows.ts'
import type { LinkConfigView } from '../engine-api.ts'
import { linkError } from '../errors.ts'
import { isSealed, type SecretBox } from '../secret-box.ts'
import { type LinkConfigKey, linkConfigKeys, linkConfigRows, linkConfigSynonyms } from './link-config-rows.ts'
import { includesType, parseNameFilters } from './name-filters.ts'
import { incompleteSecurity, secretProblem } from './security-checks.ts'
import { unsupportedReason } from './unsupported-values.ts'

type ValueOf<K extends LinkConfigKey> = (typeof linkConfigRows)[K] extends ConfigRow<infer T> ? T : never

/** Values of one link; immutable. */
export class LinkConfigs {
  /** What was set, as text; keys are canonical. */
  readonly overrides: ReadonlyMap<string, string>
  readonly #values = new Map<string, unknown>()

  /** Takes overrides that were checked when they were written (a state record, or `parseLinkConfigs`). */
  constructor(overrides: ReadonlyMap<string, string>) {
    this.overrides = overrides
    for (const [key, text] of overrides) if (isKnown(key)) this.#values.set(key, linkConfigRows[key].parse(text))
  }

  /** The value that holds; undefined = not set and without a default. */
  value<K extends LinkConfigKey>(key: K): ValueOf<K> | undefined {
    return (this.#values.has(key) ? this.#values.get(key) : linkConfigRows[key].default) as ValueOf<K> | undefined
  }

  /** The value of a key that has a default. */
  must<K extends LinkConfigKey>(key: K): ValueOf<K> {
    const value = this.value(key)
    if (value === undefined) throw new TypeError(`link property ${key} has neither a value nor a default`)
    return value
  }

  /** Every property as listed by describe, in the order of their names. */
  views(): LinkConfigView[] {
    return [...linkConfigKeys].sort().map(name => {
      const row = linkConfigRows[name]
      const listed = (value: unknown) =>
        row.sensitive || value === undefined ? null : (row.format as (value: unknown) => string)(value)
      return {
        name,
        value: listed(this.value(name)),
        isDefault: !this.overrides.has(name),
        isReadOnly: !row.mutable,
        isSensitive: row.sensitive === true,
        type: row.type,
        defaultValue: listed(row.default),
        allowed: row.allowed ?? null,
        documentation: row.doc,
      }
    })
  }
}

/**
 * Checks configs from outside: unknown keys, bad values, and values that cannot be honoured yet throw OperationalError. Secrets
 * are sealed; those that are sealed already stay as they are. Without a box there can be none.
 * Warnings name what is accepted without effect.
 */
export function parseLinkConfigs(
  given: ReadonlyMap<string, string>,
  secrets?: SecretBox,
): { configs: LinkConfigs; warnings: string[] } {
  const overrides = new Map<string, string>()
  for (const [givenKey, text] of given) {
    const key = linkConfigSynonyms[givenKey] ?? givenKey
    if (!isKnown(key))
      throw linkError('LINK_CONFIG_UNKNOWN', { key: givenKey, nearest: nearestKey(givenKey, linkConfigKeys) })
    if (overrides.has(key)) throw linkError('LINK_CONFIG_INVALID', { key, problem: 'is given twice' })
    const formatted = parsed(key, text)
    if (linkConfigRows[key].sensitive) {
      overrides.set(key, sealed(key, formatted, secrets))
      continue
    }
    const reason = unsupportedReason(key, formatted)
    if (reason !== undefined) throw linkError('LINK_CONFIG_UNSUPPORTED', { key, value: formatted, reason })
    overrides.set(key, formatted)
  }
  if (!overrides.has('bootstrap.servers'))
    throw linkError('LINK_CONFIG_INVALID', { key: 'bootstrap.servers', problem: 'is required' })
  const incomplete = incompleteSecurity(overrides) ?? misusedPrefix(overrides) ?? misusedTopicTypes(overrides)
  if (incomplete) throw linkError('LINK_CONFIG_INVALID', incomplete)
  const unused = [...overrides.keys()].filter(key => key.startsWith('local.') || withoutEffect.has(key))
  const warnings = unused.length > 0 ? [`Accepted without effect: ${unused.join(', ')}.`] : []
  return { configs: new LinkConfigs(overrides), warnings }
}

/** Kept and told: nothing that runs on Node.js can set it. */
const withoutEffect: ReadonlySet<string> = new Set([
  'replica.socket.receive.buffer.bytes',
  'sasl.login.callback.handler.class',
])

function misusedPrefix(overrides: ReadonlyMap<string, string>): { key: string; problem: string } | undefined {
  const key = 'consumer.group.prefix.enable'
  const hasPrefix = (overrides.get('cluster.link.prefix') ?? '') !== ''
  if (hasPrefix && overrides.get('acl.sync.enable') === 'true')
    return { key: 'acl.sync.enable', problem: 'cannot be true together with cluster.link.prefix' }
  if (overrides.get(key) !== 'true') return undefined
  if (overrides.get('link.mode') === 'BIDIRECTIONAL') return { key, problem: 'cannot be true on a bidirectional link' }
  return hasPrefix ? undefined : { key, problem: 'needs cluster.link.prefix' }
}

function misusedTopicTypes(overrides: ReadonlyMap<string, string>): { key: string; problem: string } | undefined {
  const key = 'consumer.offset.group.filters'
  if (overrides.get('link.mode') === 'BIDIRECTIONAL') return undefined
  const filters = parseNameFilters(overrides.get(key) ?? '', 'groupFilters')
  return includesType(filters, 'REMOTE_MIRROR')
    ? { key, problem: 'has topicTypes REMOTE_MIRROR, which needs a bidirectional link' }
    : undefined
}

function parsed(key: LinkConfigKey, text: string): string {
  const row = linkConfigRows[key]
  try {
    return (row.format as (value: unknown) => string)(row.parse(text))
  } catch (error) {
    if (!(error instanceof ConfigValueError)) throw error
    throw linkError('LINK_CONFIG_INVALID', { key, problem: error.message })
  }
}

function sealed(key: LinkConfigKey, text: string, secrets: SecretBox | undefined): string {
  if (isSealed(text)) return text
  const problem = secretProblem(key, text)
  if (problem !== undefined) throw linkError('LINK_CONFIG_INVALID', { key, problem })
  if (secrets) return secrets.seal(key, text)
  throw linkError('LINK_CONFIG_UNSUPPORTED', { key, value: '(hidden)', reason: 'secrets cannot be stored here' })
}

const isKnown = (key: string): key is LinkConfigKey => Object.hasOwn(linkConfigRows, key)
