/** Keeps the quota of connections as the effective server properties say, also while the node runs; the composition root subscribes it to the image. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { type ConfigLayers, configLayers, effectiveBrokerConfig } from '../metadata/config-resolution.ts'
import type { ImageSubscriber } from '../metadata/controller-port.ts'
import type { MetadataDelta } from '../metadata/metadata-delta.ts'
import { ConfigResourceType, type MetadataImage } from '../metadata/metadata-image.ts'
import { type ConnectionLimits, ConnectionQuota } from '../network/connection-quota.ts'

export interface ConnectionLimitsOptions {
  readonly nodeId: number
  /** The server's properties file. */
  readonly file: ReadonlyMap<string, string>
  /** Names of the listeners. */
  readonly listeners: readonly string[]
  readonly logger: Logger
}

export class ConnectionLimitsFromConfigs implements ImageSubscriber {
  readonly name = 'connection limits'
  readonly quota = new ConnectionQuota()
  readonly #options: ConnectionLimitsOptions
  /** What the addresses were last made of. */
  #overrides: string | undefined
  #addresses: ReadonlyMap<string, number> = new Map()

  constructor(options: ConnectionLimitsOptions) {
    this.#options = options
  }

  async onImage(image: MetadataImage, delta: MetadataDelta): Promise<void> {
    const first = this.#overrides === undefined
    if (!first && !delta.changedConfigs.some(({ type }) => type === ConfigResourceType.BROKER)) return
    const { nodeId, file, listeners } = this.#options
    const layers = configLayers(image, { brokerId: nodeId, file })
    const overrides = effectiveBrokerConfig('max.connections.per.ip.overrides', layers) ?? ''
    if (overrides !== this.#overrides) this.#addresses = await this.#addressesOf(overrides)
    this.#overrides = overrides
    this.quota.change({ ...limitsOf(layers, listeners), addresses: this.#addresses })
  }

  /** Names of hosts count for the addresses that they have now; one without an address is left out with a warning. */
  async #addressesOf(overrides: string): Promise<Map<string, number>> {
    const limits = new Map<string, number>()
    for (const item of overrides.split(',').flatMap(text => text.trim() || [])) {
      const at = item.lastIndexOf(':')
      const [host, limit] = [item.slice(0, at).trim(), Number(item.slice(at + 1))]
      try {
        const found = isIP(host) ? [{ address: host }] : await lookup(host, { all: true })
        for (const { address } of found) limits.set(address, limit)
      } catch (error) {
        const detail = { host, reason: messageOf(error) }
        this.#options.logger.warn('max.connections.per.ip.overrides names a host without an address', detail)
      }
    }
    return limits
  }
}

function limitsOf(
  layers: Omit<ConfigLayers, 'topic'>,
  listeners: readonly string[],
): Omit<ConnectionLimits, 'addresses'> {
  const number = (name: string) => Number(effectiveBrokerConfig(name, layers))
  return {
    total: number('max.connections'),
    perAddress: number('max.connections.per.ip'),
    listeners: new Map(
      listeners.map(name => [name, number(`listener.name.${name.toLowerCase()}.max.connections`)] as const),
    ),
  }
}
