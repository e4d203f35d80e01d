/** What the properties file says about the cluster that a node joins: its controllers, and how to connect to them and to the other brokers. Called by settings when process.roles=broker. */
import type { QuorumAddresses } from '../../controller/joined/active-controller.ts'
import type { QuorumSecurity, ServerPlace } from '../../controller/joined/quorum-connection.ts'
import { messageOf } from '../../core/errors.ts'
import { parseJaas } from '../../core/jaas.ts'
import { isScram } from '../../network/login/scram.ts'
import { loadTlsMaterial } from '../../network/tls/tls-material.ts'
import { protocolNamed, type SecurityProtocol } from '../listeners.ts'
import { listenerProperties } from '../security/listener-properties.ts'

/** A listener of others that this node connects to. */
export interface PeerListener {
  readonly name: string
  readonly protocol: SecurityProtocol
  readonly login: QuorumSecurity['login']
}

export interface JoinedSettings {
  readonly addresses: QuorumAddresses
  /** `controller.listener.names`. */
  readonly controllers: PeerListener
  /** `inter.broker.listener.name`. */
  readonly brokers: PeerListener
  /** `controller.quorum.request.timeout.ms`. */
  readonly requestTimeoutMs: number
}

const PLACE = /^(?:(\d{1,10})@)?(\[[0-9a-fA-F:]+\]|[^:@/\s]+):(\d{1,5})$/
const REQUEST_TIMEOUT_MS_DEFAULT = 2000

/** Every problem is pushed. Secrets are not repeated. */
export function joinedSettings(properties: ReadonlyMap<string, string>, problems: string[]): JoinedSettings {
  if (!properties.has('node.id') && !properties.has('broker.id'))
    problems.push('node.id: a node that joins a cluster needs an id that no other broker or controller has')
  const withLogin = ({ name, protocol }: Omit<PeerListener, 'login'>, mechanismProperty: string): PeerListener => ({
    name,
    protocol,
    login: protocol.startsWith('SASL_')
      ? loginOf(properties, { listener: name, mechanismProperty }, problems)
      : undefined,
  })
  return {
    addresses: addressesOf(properties, problems),
    controllers: withLogin(controllerListenerOf(properties, problems), 'sasl.mechanism.controller.protocol'),
    brokers: withLogin(brokerListenerOf(properties, problems), 'sasl.mechanism.inter.broker.protocol'),
    requestTimeoutMs: Number(properties.get('controller.quorum.request.timeout.ms') ?? REQUEST_TIMEOUT_MS_DEFAULT),
  }
}

/** Reads key and trust stores; the login is already checked. Rejects with TlsMaterialError. */
export async function peerSecurity(
  { name, protocol, login }: PeerListener,
  properties: ReadonlyMap<string, string>,
): Promise<QuorumSecurity> {
  if (protocol !== 'SSL' && protocol !== 'SASL_SSL') return { tls: undefined, login }
  const { value } = listenerProperties(properties, name)
  const { options } = await loadTlsMaterial(value, { key: false })
  const identification = value('ssl.endpoint.identification.algorithm') ?? 'https'
  return { tls: { options, checksHost: identification.trim().toLowerCase() === 'https' }, login }
}

function addressesOf(properties: ReadonlyMap<string, string>, problems: string[]): QuorumAddresses {
  const placesOf = (property: string) =>
    itemsOf(properties.get(property)).flatMap(text => placeOf(property, text, problems))
  const bootstrap = placesOf('controller.quorum.bootstrap.servers').map(({ place }) => place)
  const voters = new Map<number, ServerPlace>()
  for (const { id, place } of placesOf('controller.quorum.voters')) {
    if (id === undefined) problems.push('controller.quorum.voters must look like 3000@host:9093')
    else voters.set(id, place)
  }
  if (bootstrap.length === 0 && voters.size === 0)
    problems.push(
      'process.roles=broker joins an Apache Kafka cluster: controller.quorum.bootstrap.servers (or controller.quorum.voters) must name its controllers',
    )
  return { bootstrap, voters }
}

function placeOf(property: string, text: string, problems: string[]): { id: number | undefined; place: ServerPlace }[] {
  const [, id, host = '', port] = PLACE.exec(text) ?? []
  if (port === undefined || Number(port) > 65_535 || Number(port) === 0) {
    problems.push(`${property}: "${text}" must look like host:9093`)
    return []
  }
  const place = { host: host.replace(/^\[|\]$/g, ''), port: Number(port) }
  return [{ id: id === undefined ? undefined : Number(id), place }]
}

function controllerListenerOf(
  properties: ReadonlyMap<string, string>,
  problems: string[],
): Omit<PeerListener, 'login'> {
  const name = itemsOf(properties.get('controller.listener.names'))[0]?.toUpperCase()
  if (name === undefined) {
    problems.push('controller.listener.names must name the listener of the controllers, as in the files of the brokers')
    return { name: '', protocol: 'PLAINTEXT' }
  }
  const protocol = protocolNamed(name, properties.get('listener.security.protocol.map'))
  if (protocol === undefined)
    problems.push(`controller.listener.names: ${name} has no entry in listener.security.protocol.map`)
  return { name, protocol: protocol ?? 'PLAINTEXT' }
}

/** Under which brokers reach each other, and so we them. Without a name it is called like its protocol, as in Kafka. */
function brokerListenerOf(properties: ReadonlyMap<string, string>, problems: string[]): Omit<PeerListener, 'login'> {
  const given = properties.get('inter.broker.listener.name')?.trim().toUpperCase()
  const name = given ?? properties.get('security.inter.broker.protocol')?.trim().toUpperCase() ?? 'PLAINTEXT'
  const protocol = protocolNamed(name, properties.get('listener.security.protocol.map'))
  if (protocol === undefined)
    problems.push(`inter.broker.listener.name: ${name} has no entry in listener.security.protocol.map`)
  return { name, protocol: protocol ?? 'PLAINTEXT' }
}

function loginOf(
  properties: ReadonlyMap<string, string>,
  { listener, mechanismProperty }: { readonly listener: string; readonly mechanismProperty: string },
  problems: string[],
): QuorumSecurity['login'] {
  const { value } = listenerProperties(properties, listener)
  const mechanism = (properties.get(mechanismProperty) ?? 'GSSAPI').toUpperCase()
  if (mechanism !== 'PLAIN' && !isScram(mechanism)) {
    problems.push(`${mechanismProperty}: ${mechanism} is not supported; use PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512`)
    return undefined
  }
  try {
    const { options } = parseJaas(value('sasl.jaas.config', mechanism) ?? '')
    const user = options.get('username')
    const password = options.get('password')
    if (user !== undefined && password !== undefined) return { mechanism, user, password }
    problems.push(`sasl.jaas.config of ${listener} must have the options username and password`)
  } catch (error) {
    problems.push(`sasl.jaas.config of ${listener} ${messageOf(error)}`)
  }
  return undefined
}

const itemsOf = (text: string | undefined): string[] => (text ?? '').split(',').flatMap(item => item.trim() || [])
