/** Keeps the quota of connections as the effective server properties say, also while the node runs; the composition root subscribes it to the image. */
import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { sampleWindows } from '../broker/broker-settings.ts'
import { messageOf } from '../core/errors.ts'
import type { Logger } from '../core/logger.ts'
import { connectionRates } from '../metadata/client-quotas.ts'
import { type ConfigLayers, configLayers, effectiveBrokerConfig } from '../metadata/config-resolution.ts'
import type { ImageSubscriber } from '../metadata/controller-port.ts'
import type { MetadataDelta } from '../metadata/metadata-delta.ts'
import { ConfigResourceType, type MetadataImage } from '../metadata/metadata-image.ts'
import { type ConnectionLimits, ConnectionQuota, noConnectionLimits } from '../network/connection-quota.ts'
import { type ConnectionRateLimits, ConnectionRates } from '../network/connection-rates.ts'

/** What Kafka takes for no limit. */
const INT_MAX = 2 ** 31 - 1

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
  readonly quota: ConnectionQuota
  readonly #options: ConnectionLimitsOptions
  /** What the addresses were last made of. */
  #overrides: string | undefined
  #addresses: ReadonlyMap<string, number> = new Map()

  constructor(options: ConnectionLimitsOptions) {
    this.#options = options
    this.quota = new ConnectionQuota(
      noConnectionLimits,
      new ConnectionRates(sampleWindows(options.file, 'quota.window')),
    )
  }

  async onImage(image: MetadataImage, delta: MetadataDelta): Promise<void> {
    const first = this.#overrides === undefined
    if (first || delta.clientQuotasChanged) this.quota.rates.change({ addresses: await this.#ratesOf(image) })
    if (!first && !delta.changedConfigs.some(({ type }) => type === ConfigResourceType.BROKER)) return
    const { nodeId, file, listeners } = this.#options
    const layers = configLayers(image, { brokerId: nodeId, file })
    const overrides = effectiveBrokerConfig('max.connections.per.ip.overrides', layers) ?? ''
    if (overrides !== this.#overrides) this.#addresses = await this.#addressesOf(overrides)
    this.#overrides = overrides
    this.quota.change({ ...limitsOf(layers, listeners), addresses: this.#addresses })
    this.quota.rates.change(rateLimitsOf(layers, listeners))
  }

  async #ratesOf(image: MetadataImage): Promise<Map<string | null, number>> {
    const rates = new Map<string | null, number>()
    for (const [name, rate] of connectionRates(image.clientQuotas)) {
      const addresses = name === null || isIP(name) ? [name] : await this.#addressesOfHost(name, 'a client quota')
      for (const address of addresses) rates.set(address, rate)
    }
    return rates
  }

  /** Names of hosts count for the addresses that they have now; one without an address is left out with a warning. */
  async #addressesOf(overrides: string): Promise<Map<string, number>> {
    const limits = new Map<string, number>()
    for (const item of overrides.split(',').flatMap(text => text.trim() || [])) {
      const at = item.lastIndexOf(':')
      const [host, limit] = [item.slice(0, at).trim(), Number(item.slice(at + 1))]
      const addresses = isIP(host) ? [host] : await this.#addressesOfHost(host, 'max.connections.per.ip.overrides')
      for (const address of addresses) limits.set(address, limit)
    }
    return limits
  }

  async #addressesOfHost(host: string, where: string): Promise<string[]> {
    try {
      return (await lookup(host, { all: true })).map(({ address }) => address)
    } catch (error) {
      this.#options.logger.warn(`${where} names a host without an address`, { host, reason: messageOf(error) })
      return []
    }
  }
}

function rateLimitsOf(
  layers: Omit<ConfigLayers, 'topic'>,
  listeners: readonly string[],
): Omit<ConnectionRateLimits, 'addresses'> {
  const number = (name: string) => {
    const rate = Number(effectiveBrokerConfig(name, layers))
    return rate === INT_MAX ? Number.POSITIVE_INFINITY : rate
  }
  return {
    total: number('max.connection.creation.rate'),
    listeners: new Map(
      listeners.map(
        name => [name, number(`listener.name.${name.toLowerCase()}.max.connection.creation.rate`)] as const,
      ),
    ),
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
