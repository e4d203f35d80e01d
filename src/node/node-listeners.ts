/** Opens the Kafka listeners of a node and says under which addresses others reach them; called by both kinds of start. */
import { hostname } from 'node:os'
import type { Broker } from '../broker/broker.ts'
import { ByteBudget } from '../core/byte-budget.ts'
import type { Clock } from '../core/clock.ts'
import type { Logger } from '../core/logger.ts'
import type { Controller } from '../metadata/controller-port.ts'
import type { EndpointImage } from '../metadata/metadata-image.ts'
import { type KafkaServer, listen } from '../network/server-listener.ts'
import { ConnectionLimitsFromConfigs } from './connection-limits.ts'
import { type ListenerEndpoint, SECURITY_PROTOCOLS } from './listeners.ts'
import { ListenersSecurity } from './security/listeners-security.ts'
import { type NodeSettings, numberOf } from './settings.ts'
import type { Startup } from './startup.ts'

export interface NodeListenersOptions {
  readonly settings: NodeSettings
  readonly controller: Controller
  readonly broker: Broker
  readonly answerBudget: ByteBudget
  readonly clock: Clock
  readonly logger: Logger
}

export async function openListeners(of: NodeListenersOptions, startup: Startup): Promise<KafkaServer[]> {
  const { settings, controller, broker, answerBudget, clock, logger } = of
  const { nodeId, kafka: file, tlsReloadMs: reloadMs } = settings
  const security = new ListenersSecurity({ nodeId, file, controller, reloadMs, clock, logger })
  startup.onStop('listener security', () => security.close())
  const requestBytesMax = numberOf(settings, 'queued.max.request.bytes')
  const requestBudget = new ByteBudget(requestBytesMax > 0 ? requestBytesMax : Number.MAX_SAFE_INTEGER)
  const limits = new ConnectionLimitsFromConfigs({ nodeId, file, listeners: listenerNames(settings), logger })
  await controller.subscribe(limits)
  const servers: KafkaServer[] = []
  for (const endpoint of settings.listeners.listen) {
    const { name, host, port } = endpoint
    const server = await listen({
      name,
      host: host === '' ? '::' : host,
      port,
      maxRequestBytes: numberOf(settings, 'socket.request.max.bytes'),
      idleTimeoutMs: numberOf(settings, 'connections.max.idle.ms'),
      served: broker.served,
      handler: broker.handle,
      security: await security.load(endpoint),
      answerBudget,
      requestBudget,
      connectionQuota: limits.quota,
      clock,
      logger: logger.child({ component: 'network', listener: name }),
    })
    startup.onStop(`listener ${name}`, () => server.close())
    security.watch(endpoint, server)
    servers.push(server)
  }
  await controller.subscribe(security)
  return servers
}

/** `host:port` of each, as bound. */
export const addressesOf = (servers: readonly KafkaServer[]): string[] =>
  servers.map(server => `${server.host || '0.0.0.0'}:${server.port}`)

const listenerNames = ({ listeners }: NodeSettings): string[] => listeners.listen.map(({ name }) => name)

/** What clients are told: the advertised address, with the port that was really bound in place of 0. */
export function advertisedEndpoints(settings: NodeSettings, servers: readonly KafkaServer[]): EndpointImage[] {
  return settings.listeners.listen.map((endpoint, index) => {
    const advertised = advertisedEndpoint(settings, endpoint)
    return advertised.port === 0 ? { ...advertised, port: servers[index]?.port ?? 0 } : advertised
  })
}

/** Before anything is bound. */
export function advertisedEndpoint(settings: NodeSettings, endpoint: ListenerEndpoint): EndpointImage {
  const { host, port } = settings.listeners.advertised.get(endpoint.name) ?? endpoint
  const securityProtocol = SECURITY_PROTOCOLS.indexOf(endpoint.protocol)
  return { name: endpoint.name, host: host === '' ? hostname() : host, port, securityProtocol }
}
