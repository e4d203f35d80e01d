/** The SASL mechanisms that a listener offers, from its properties; settings checks them at start, listener security builds them. */
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import { type JaasEntry, parseJaas } from '../../core/jaas.ts'
import type { Logger } from '../../core/logger.ts'
import { brokerConfig } from '../../metadata/broker-configs.ts'
import { JsonWebKeys } from '../../network/login/json-web-keys.ts'
import { OauthBearerServer } from '../../network/login/oauthbearer-server.ts'
import { PlainServer } from '../../network/login/plain-server.ts'
import type { OfferedMechanism } from '../../network/login/sasl-session.ts'
import { isScram } from '../../network/login/scram.ts'
import { type ScramLookup, ScramServer } from '../../network/login/scram-server.ts'
import { tokenValidator } from '../../network/login/token-validator.ts'
import type { ListenerProperties } from './listener-properties.ts'

/** Where the node's part of a login comes from. */
export interface LoginSurroundings {
  readonly scram: ScramLookup
  readonly clock: Clock
  readonly logger: Logger
}

const MODULES: Readonly<Record<string, string>> = {
  PLAIN: 'PlainLoginModule',
  'SCRAM-SHA-256': 'ScramLoginModule',
  'SCRAM-SHA-512': 'ScramLoginModule',
  OAUTHBEARER: 'OAuthBearerLoginModule',
}

/** Names in `sasl.enabled.mechanisms`. */
export const enabledMechanisms = ({ value }: ListenerProperties): string[] =>
  itemsOf(value('sasl.enabled.mechanisms')).map(name => name.toUpperCase())

/** What stands in the way of these mechanisms; empty = nothing. Secrets are not repeated. */
export function mechanismProblems(properties: ListenerProperties): string[] {
  const enabled = enabledMechanisms(properties)
  if (enabled.length === 0)
    return [`sasl.enabled.mechanisms must name mechanisms (Kafka's default, GSSAPI, is not supported)`]
  return enabled.flatMap(mechanism => {
    try {
      return checkMechanism(mechanism, properties)
    } catch (error) {
      return `sasl.jaas.config for ${mechanism} ${messageOf(error)}`
    }
  })
}

function checkMechanism(mechanism: string, properties: ListenerProperties): string[] {
  const { value } = properties
  if (MODULES[mechanism] === undefined)
    return [`sasl.enabled.mechanisms: ${mechanism} is not supported; use ${Object.keys(MODULES).join(', ')}`]
  const entry = jaasEntry(mechanism, properties)
  if (mechanism === 'PLAIN' && !entry)
    return ['PLAIN needs plain.sasl.jaas.config with PlainLoginModule and options like user_alice="password"']
  if (mechanism !== 'OAUTHBEARER') return []
  if ([...(entry?.options.keys() ?? [])].some(name => name.startsWith('unsecured')))
    return ['OAUTHBEARER: unsecured tokens are not supported']
  const url = value('sasl.oauthbearer.jwks.endpoint.url', mechanism)
  if (url === undefined) return ['OAUTHBEARER needs sasl.oauthbearer.jwks.endpoint.url']
  return URL.canParse(url) && /^(https?|file):$/.test(new URL(url).protocol)
    ? []
    : [`sasl.oauthbearer.jwks.endpoint.url must be a file:, http: or https: address, not "${url}"`]
}

/** The mechanisms, of properties without problems. */
export function loginMechanisms(
  properties: ListenerProperties,
  surroundings: LoginSurroundings,
): Map<string, OfferedMechanism> {
  return new Map(
    enabledMechanisms(properties).map(mechanism => {
      const sessionMsMax = Number(properties.value('connections.max.reauth.ms', mechanism) ?? 0)
      return [mechanism, { begin: beginOf(mechanism, properties, surroundings), sessionMsMax }]
    }),
  )
}

function beginOf(
  mechanism: string,
  properties: ListenerProperties,
  surroundings: LoginSurroundings,
): OfferedMechanism['begin'] {
  if (isScram(mechanism)) return () => new ScramServer(mechanism, surroundings.scram)
  if (mechanism === 'PLAIN') {
    const options = jaasEntry(mechanism, properties)?.options
    return () => new PlainServer(user => options?.get(`user_${user}`))
  }
  const validate = tokenValidator(tokenDemands(properties, surroundings))
  return () => new OauthBearerServer(validate)
}

function tokenDemands({ value }: ListenerProperties, { clock, logger }: LoginSurroundings) {
  const text = (name: string): string | undefined => value(name, 'OAUTHBEARER') ?? brokerConfig(name)?.property.default
  const number = (name: string): number => Number(text(name) ?? 0)
  const keys = new JsonWebKeys({
    url: new URL(text('sasl.oauthbearer.jwks.endpoint.url') ?? ''),
    refreshMs: number('sasl.oauthbearer.jwks.endpoint.refresh.ms'),
    retryBackoffMs: number('sasl.oauthbearer.jwks.endpoint.retry.backoff.ms'),
    retryBackoffMaxMs: number('sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms'),
    clock,
    logger,
  })
  return {
    keys,
    audiences: itemsOf(text('sasl.oauthbearer.expected.audience')),
    issuer: text('sasl.oauthbearer.expected.issuer'),
    clockSkewSeconds: number('sasl.oauthbearer.clock.skew.seconds'),
    subjectClaim: text('sasl.oauthbearer.sub.claim.name') ?? 'sub',
    scopeClaim: text('sasl.oauthbearer.scope.claim.name') ?? 'scope',
    clock,
  }
}

/** The entry for a mechanism; a text without a mechanism in its name may be for another one. Throws JaasError. */
function jaasEntry(mechanism: string, { value, own }: ListenerProperties): JaasEntry | undefined {
  const text = value('sasl.jaas.config', mechanism)
  if (text === undefined) return undefined
  const entry = parseJaas(text)
  if (entry.module.endsWith(`.${MODULES[mechanism]}`)) return entry
  if (own(`${mechanism.toLowerCase()}.sasl.jaas.config`) === undefined) return undefined
  throw new Error(`must name ${MODULES[mechanism]}`)
}

const itemsOf = (text: string | undefined): string[] => (text ?? '').split(',').flatMap(item => item.trim() || [])
