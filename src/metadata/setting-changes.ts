/** Applies the records about configs, features and producer ids (4, 12, 15) to a copy; used by the metadata editor. */

import type { ConfigRecord } from '../protocol/metadata-records/04-config.ts'
import type { FeatureLevelRecord } from '../protocol/metadata-records/12-feature-level.ts'
import { type ConfigResource, ConfigResourceType, configResourceKey, type MetadataImage } from './metadata-image.ts'

export class SettingChanges {
  readonly #base: MetadataImage
  readonly #configs = new Map<string, { resource: ConfigResource; values: Map<string, string> }>()
  #features: Map<string, number> | undefined
  #nextProducerId: bigint

  constructor(base: MetadataImage) {
    this.#base = base
    this.#nextProducerId = base.nextProducerId
  }

  config(record: ConfigRecord): void {
    const values = this.#edit({ type: record.resourceType, name: record.resourceName })
    if (record.value === null) values.delete(record.name)
    else values.set(record.name, record.value)
  }

  /** A removed topic takes its configs along, without records of their own. */
  topicRemoved(name: string): void {
    const resource = { type: ConfigResourceType.TOPIC, name }
    if (this.#base.configs.has(configResourceKey(resource)) || this.#configs.has(configResourceKey(resource)))
      this.#edit(resource).clear()
  }

  feature(record: FeatureLevelRecord): void {
    this.#features ??= new Map(this.#base.features)
    if (record.featureLevel === 0) this.#features.delete(record.name)
    else this.#features.set(record.name, record.featureLevel)
  }

  producerIds(next: bigint): void {
    this.#nextProducerId = next
  }

  finish(): Pick<MetadataImage, 'configs' | 'features' | 'nextProducerId'> & {
    readonly changedConfigs: readonly ConfigResource[]
  } {
    const configs = this.#base.configs.edit()
    for (const [key, { values }] of this.#configs) {
      if (values.size > 0) configs.set(key, values)
      else configs.delete(key)
    }
    return {
      configs: configs.finish(),
      changedConfigs: [...this.#configs.values()].map(changed => changed.resource),
      features: this.#features ?? this.#base.features,
      nextProducerId: this.#nextProducerId,
    }
  }

  #edit(resource: ConfigResource): Map<string, string> {
    const key = configResourceKey(resource)
    const changed = this.#configs.get(key)
    if (changed) return changed.values
    const values = new Map(this.#base.configs.get(key))
    this.#configs.set(key, { resource, values })
    return values
  }
}
