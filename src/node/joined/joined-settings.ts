/** What the properties file says about the cluster that a node joins: its controllers, and how to connect to them. Called by settings when process.roles=broker. */
import type { QuorumAddresses } from '../../controller/joined/active-controller.ts'
import type { QuorumSecurity, ServerPlace } from '../../controller/joined/quorum-connection.ts'
import { messageOf } from '../../core/errors.ts'
import { parseJaas } from '../../core/jaas.ts'
import { isScram } from '../../network/login/scram.ts'
import { loadTlsMaterial } from '../../network/tls/tls-material.ts'
import { protocolNamed, type SecurityProtocol } from '../listeners.ts'
import { listenerProperties } from '../security/listener-properties.ts'

export interface JoinedSettings {
  readonly addresses: QuorumAddresses
  readonly controllerListener: { readonly name: string; readonly protocol: SecurityProtocol }
  /** `controller.quorum.request.timeout.ms`. */
  readonly requestTimeoutMs: number
  readonly login: QuorumSecurity['login']
}

const PLACE = /^(?:(\d{1,10})@)?(\[[0-9a-fA-F:]+\]|[^:@/\s]+):(\d{1,5})$/
const REQUEST_TIMEOUT_MS_DEFAULT = 2000

/** Every problem is pushed. Secrets are not repeated. */
export function joinedSettings(properties: ReadonlyMap<string, string>, problems: string[]): JoinedSettings {
  if (!properties.has('node.id') && !properties.has('broker.id'))
    problems.push('node.id: a node that joins a cluster needs an id that no other broker or controller has')
  const controllerListener = controllerListenerOf(properties, problems)
  return {
    addresses: addressesOf(properties, problems),
    controllerListener,
    requestTimeoutMs: Number(properties.get('controller.quorum.request.timeout.ms') ?? REQUEST_TIMEOUT_MS_DEFAULT),
    login: controllerListener.protocol.startsWith('SASL_')
      ? loginOf(properties, controllerListener.name, problems)
      : undefined,
  }
}

/** Reads key and trust stores; the login is already checked. Rejects with TlsMaterialError. */
export async function quorumSecurity(
  { controllerListener: { name, protocol }, login }: JoinedSettings,
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

function controllerListenerOf(properties: ReadonlyMap<string, string>, problems: string[]) {
  const name = itemsOf(properties.get('controller.listener.names'))[0]?.toUpperCase()
  if (name === undefined) {
    problems.push('controller.listener.names must name the listener of the controllers, as in the files of the brokers')
    return { name: '', protocol: 'PLAINTEXT' as const }
  }
  const protocol = protocolNamed(name, properties.get('listener.security.protocol.map'))
  if (protocol === undefined)
    problems.push(`controller.listener.names: ${name} has no entry in listener.security.protocol.map`)
  return { name, protocol: protocol ?? ('PLAINTEXT' as const) }
}

function loginOf(
  properties: ReadonlyMap<string, string>,
  listener: string,
  problems: string[],
): QuorumSecurity['login'] {
  const { value } = listenerProperties(properties, listener)
  const mechanism = (properties.get('sasl.mechanism.controller.protocol') ?? 'GSSAPI').toUpperCase()
  if (mechanism !== 'PLAIN' && !isScram(mechanism)) {
    problems.push(
      `sasl.mechanism.controller.protocol: ${mechanism} is not supported; use PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512`,
    )
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
