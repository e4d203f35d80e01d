/** Kafka's listener properties: `listeners`, `advertised.listeners`, `listener.security.protocol.map`; read by settings. */

/** In the order of their numbers on the wire. */
export const SECURITY_PROTOCOLS = ['PLAINTEXT', 'SSL', 'SASL_PLAINTEXT', 'SASL_SSL'] as const

export type SecurityProtocol = (typeof SECURITY_PROTOCOLS)[number]

export interface Endpoint {
  /** Listener name, upper case. */
  readonly name: string
  /** '' = all interfaces. */
  readonly host: string
  /** 0 = any free port. */
  readonly port: number
}

/** An address that is listened on. */
export interface ListenerEndpoint extends Endpoint {
  readonly protocol: SecurityProtocol
}

export interface ListenerSettings {
  readonly listen: readonly ListenerEndpoint[]
  /** What clients are told, by listener name; a host of '' becomes this machine's name at start. */
  readonly advertised: ReadonlyMap<string, Endpoint>
}

const ENDPOINT = /^([A-Za-z0-9_-]+):\/\/(\[[0-9a-fA-F:]+\]|[^:/[\]]*):(-?\d{1,5})$/

/** Texts of the three properties as they stand in the file; lists are comma-separated. */
export interface ListenerTexts {
  readonly listeners: string | undefined
  readonly advertised: string | undefined
  readonly protocolMap: string | undefined
  readonly controllerNames: string | undefined
}

/** Parses and checks; every problem is pushed to `problems`. Controller listeners are left out: the controller is in-process. */
export function parseListeners(texts: ListenerTexts, problems: string[]): ListenerSettings {
  const controllers = new Set(itemsOf(texts.controllerNames).map(name => name.toUpperCase()))
  const protocols = protocolMap(texts.protocolMap, problems)
  const listen = itemsOf(texts.listeners ?? 'PLAINTEXT://:9092')
    .flatMap(text => parseEndpoint('listeners', text, problems))
    .filter(endpoint => !controllers.has(endpoint.name))
    .map(endpoint => ({ ...endpoint, protocol: protocolOf(endpoint.name, protocols, problems) }))
  const advertised = new Map<string, Endpoint>(listen.map(endpoint => [endpoint.name, endpoint]))
  for (const endpoint of itemsOf(texts.advertised).flatMap(text =>
    parseEndpoint('advertised.listeners', text, problems),
  )) {
    if (controllers.has(endpoint.name)) continue
    if (!advertised.has(endpoint.name))
      problems.push(`advertised.listeners: there is no listener named ${endpoint.name}`)
    advertised.set(endpoint.name, endpoint)
  }
  if (listen.length === 0) problems.push('listeners: at least one listener for clients is needed')
  const names = listen.map(endpoint => endpoint.name)
  if (new Set(names).size < names.length) problems.push('listeners: each listener needs a name of its own')
  return { listen, advertised }
}

/** Of a listener of others, such as the controllers'; undefined if the map does not say. */
export const protocolNamed = (name: string, mapText: string | undefined): SecurityProtocol | undefined =>
  protocolMap(mapText, []).get(name) ?? SECURITY_PROTOCOLS.find(known => known === name)

/** A listener that is named like a protocol needs no entry in the map. */
function protocolOf(name: string, map: ReadonlyMap<string, SecurityProtocol>, problems: string[]): SecurityProtocol {
  const protocol = map.get(name) ?? SECURITY_PROTOCOLS.find(known => known === name)
  if (protocol === undefined) problems.push(`listeners: ${name} has no entry in listener.security.protocol.map`)
  return protocol ?? 'PLAINTEXT'
}

function parseEndpoint(property: string, text: string, problems: string[]): Endpoint[] {
  const found = ENDPOINT.exec(text)
  const port = Number(found?.[3])
  if (!found || port > 65535 || port < 0) {
    problems.push(`${property}: "${text}" must look like PLAINTEXT://host:9092`)
    return []
  }
  return [{ name: (found[1] ?? '').toUpperCase(), host: (found[2] ?? '').replace(/^\[|\]$/g, ''), port }]
}

function protocolMap(text: string | undefined, problems: string[]): Map<string, SecurityProtocol> {
  const map = new Map<string, SecurityProtocol>()
  for (const item of itemsOf(text)) {
    const [name, text] = item.split(':')
    const protocol = SECURITY_PROTOCOLS.find(known => known === text?.trim().toUpperCase())
    if (name && protocol) map.set(name.trim().toUpperCase(), protocol)
    else problems.push(`listener.security.protocol.map: "${item}" must look like NAME:PLAINTEXT`)
  }
  return map
}

const itemsOf = (text: string | undefined): string[] => (text ?? '').split(',').flatMap(item => item.trim() || [])
