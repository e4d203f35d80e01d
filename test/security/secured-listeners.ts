// Listeners of every kind in Kafka's own properties, for Lockstep and for a real Kafka alike, and how clients reach them; used by the security suites.
import type { ClientSecurity } from '../clients/client-record.ts'
import { freePorts } from '../free-port.ts'
import { ADMIN, type Credentials, GUEST } from './credentials.ts'

export const LISTENERS = ['SECURE', 'LOGIN', 'MUTUAL', 'BRIEF', 'LASTING'] as const

export type ListenerName = (typeof LISTENERS)[number]

/** Time after which clients of the BRIEF listener must log in anew. */
export const BRIEF_SESSION_MS = 2000

/** A free port for each. */
export async function listenerPorts(): Promise<Record<ListenerName, number>> {
  const ports = await freePorts(LISTENERS.length)
  return Object.fromEntries(LISTENERS.map((name, index) => [name, ports[index] ?? 0])) as Record<ListenerName, number>
}

const plainUsers = [ADMIN, GUEST].map(({ user, password }) => `user_${user}="${password}"`)
const PLAIN_JAAS = `org.apache.kafka.common.security.plain.PlainLoginModule required ${plainUsers.join(' ')};`
const SCRAM_JAAS = 'org.apache.kafka.common.security.scram.ScramLoginModule required;'

/**
 * SECURE: TLS and SCRAM. LOGIN: PLAIN without TLS. MUTUAL: TLS with client certificates. BRIEF: as LOGIN, with short sessions,
 * LASTING with long ones.
 * PLAINTEXT stays open to the suite itself. Who is not a super user may do nothing.
 */
export function securedProperties(credentials: Credentials): Record<string, string> {
  const tls = (listener: string) => ({
    [`listener.name.${listener}.ssl.keystore.type`]: 'PEM',
    [`listener.name.${listener}.ssl.keystore.location`]: credentials.file('host.pem'),
    [`listener.name.${listener}.ssl.truststore.type`]: 'PEM',
    [`listener.name.${listener}.ssl.truststore.location`]: credentials.file('ca.pem'),
  })
  return {
    'listener.security.protocol.map':
      'PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL,LOGIN:SASL_PLAINTEXT,MUTUAL:SSL,BRIEF:SASL_PLAINTEXT,LASTING:SASL_PLAINTEXT',
    ...tls('secure'),
    ...tls('mutual'),
    'listener.name.secure.sasl.enabled.mechanisms': 'SCRAM-SHA-256,SCRAM-SHA-512',
    'listener.name.secure.scram-sha-256.sasl.jaas.config': SCRAM_JAAS,
    'listener.name.secure.scram-sha-512.sasl.jaas.config': SCRAM_JAAS,
    'listener.name.login.sasl.enabled.mechanisms': 'PLAIN',
    'listener.name.login.plain.sasl.jaas.config': PLAIN_JAAS,
    'listener.name.brief.sasl.enabled.mechanisms': 'PLAIN',
    'listener.name.brief.plain.sasl.jaas.config': PLAIN_JAAS,
    'listener.name.brief.plain.connections.max.reauth.ms': String(BRIEF_SESSION_MS),
    'listener.name.lasting.sasl.enabled.mechanisms': 'PLAIN',
    'listener.name.lasting.plain.sasl.jaas.config': PLAIN_JAAS,
    'listener.name.lasting.plain.connections.max.reauth.ms': '3600000',
    'listener.name.mutual.ssl.client.auth': 'required',
    'listener.name.mutual.ssl.principal.mapping.rules': 'RULE:^CN=(.*?),O=Lockstep.*$/$1/L,DEFAULT',
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': `User:ANONYMOUS;User:${ADMIN.user};User:mutual`,
  }
}

/** A listener with a mechanism, as a client uses it. */
export interface Way {
  readonly name: string
  readonly listener: ListenerName
  readonly security: (credentials: Credentials, who?: { user: string; password: string }) => ClientSecurity
}

const login =
  (protocol: 'SASL_SSL' | 'SASL_PLAINTEXT', mechanism: NonNullable<ClientSecurity['mechanism']>): Way['security'] =>
  (credentials, { user, password } = ADMIN) => ({
    protocol,
    caFile: credentials.file('ca.pem'),
    mechanism,
    user,
    password,
  })

const certificate: Way['security'] = credentials => ({
  protocol: 'SSL',
  caFile: credentials.file('ca.pem'),
  certificateFile: credentials.file('client.pem'),
  keyFile: credentials.file('client-key.pem'),
})

export const WAYS: readonly Way[] = [
  { name: 'SCRAM-SHA-256 over TLS', listener: 'SECURE', security: login('SASL_SSL', 'SCRAM-SHA-256') },
  { name: 'SCRAM-SHA-512 over TLS', listener: 'SECURE', security: login('SASL_SSL', 'SCRAM-SHA-512') },
  { name: 'PLAIN', listener: 'LOGIN', security: login('SASL_PLAINTEXT', 'PLAIN') },
  { name: 'client certificates', listener: 'MUTUAL', security: certificate },
]
