/** The security of one listener from Kafka's properties: checked at start without touching files, then loaded with keys and certificates. */
import { messageOf } from '../../core/errors.ts'
import { brokerConfig } from '../../metadata/broker-configs.ts'
import type { ListenerSecurity, ServerTls } from '../../network/listener-security.ts'
import { principalMapping } from '../../network/tls/principal-mapping.ts'
import { loadTlsMaterial } from '../../network/tls/tls-material.ts'
import type { ListenerEndpoint } from '../listeners.ts'
import { type ListenerProperties, listenerProperties } from './listener-properties.ts'
import { type LoginSurroundings, loginMechanisms, mechanismProblems } from './login-mechanisms.ts'

const hasTls = ({ protocol }: ListenerEndpoint): boolean => protocol === 'SSL' || protocol === 'SASL_SSL'
const hasLogin = ({ protocol }: ListenerEndpoint): boolean => protocol.startsWith('SASL_')

/** What is wrong with the texts; files are not looked at. */
export function securityProblems(endpoint: ListenerEndpoint, texts: ReadonlyMap<string, string>): string[] {
  const properties = listenerProperties(texts, endpoint.name)
  const problems: string[] = []
  if (hasTls(endpoint)) {
    try {
      principalMapping(properties.value('ssl.principal.mapping.rules') ?? 'DEFAULT')
    } catch (error) {
      problems.push(`ssl.principal.mapping.rules: ${messageOf(error)}`)
    }
    if (!hasKey(properties))
      problems.push('TLS needs ssl.keystore.location, or ssl.keystore.key and ssl.keystore.certificate.chain')
  }
  if (hasLogin(endpoint)) problems.push(...mechanismProblems(properties))
  problems.push(...classProblems(properties, texts))
  return problems.map(problem => `listener ${endpoint.name}: ${problem}`)
}

/** Classes that decide who somebody is; ignoring one would let in others than it does. */
const DECIDING_CLASSES = ['principal.builder.class', 'ssl.engine.factory.class', 'sasl.server.callback.handler.class']

function classProblems({ value }: ListenerProperties, texts: ReadonlyMap<string, string>): string[] {
  const given = [...texts.keys()].filter(name => name.endsWith('.sasl.server.callback.handler.class'))
  return [...DECIDING_CLASSES, ...given].flatMap(name => {
    const text = value(name)
    return text === undefined || text.startsWith('org.apache.kafka.') ? [] : `${name}: ${text} cannot be run here`
  })
}

const hasKey = ({ value }: ListenerProperties): boolean =>
  ['ssl.keystore.location', 'ssl.keystore.key'].some(name => (value(name) ?? '') !== '')

export interface LoadedSecurity {
  readonly security: ListenerSecurity
  /** A change of these files may change it. */
  readonly files: readonly string[]
}

/** Reads the files. Rejects with what is wrong, the listener named. */
export async function loadListenerSecurity(
  endpoint: ListenerEndpoint,
  texts: ReadonlyMap<string, string>,
  surroundings: LoginSurroundings,
): Promise<LoadedSecurity> {
  const [problem] = securityProblems(endpoint, texts)
  if (problem !== undefined) throw new Error(problem)
  const properties = listenerProperties(texts, endpoint.name)
  const number = (name: string): number => Number(texts.get(name) ?? brokerConfig(name)?.property.default)
  try {
    const tls = hasTls(endpoint) ? await loadTls(endpoint, properties) : undefined
    const login = hasLogin(endpoint)
      ? {
          mechanisms: loginMechanisms(properties, surroundings),
          requestBytesMax: Number(properties.value('sasl.server.max.receive.size') ?? 524_288),
          failureDelayMs: number('connection.failed.authentication.delay.ms'),
        }
      : undefined
    return { security: { tls: tls?.tls, login }, files: tls?.files ?? [] }
  } catch (error) {
    throw new Error(`listener ${endpoint.name}: ${messageOf(error)}`, { cause: error })
  }
}

async function loadTls(
  endpoint: ListenerEndpoint,
  properties: ListenerProperties,
): Promise<{ tls: ServerTls; files: readonly string[] }> {
  const { options, files } = await loadTlsMaterial(name => properties.value(name), { key: true })
  const identifies = endpoint.protocol === 'SSL'
  // As in Kafka: clients that log in need a certificate only where the listener itself says so (KIP-684).
  const clientAuth = (identifies ? properties.value : properties.own)('ssl.client.auth') ?? 'none'
  const tls = {
    options: { ...options, requestCert: clientAuth !== 'none', rejectUnauthorized: clientAuth === 'required' },
    identifies,
    principalNameOf: principalMapping(properties.value('ssl.principal.mapping.rules') ?? 'DEFAULT'),
  }
  return { tls, files }
}
