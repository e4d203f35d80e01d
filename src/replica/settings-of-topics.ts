/** Effective configs of topics under the present image, worked out once per topic; ReplicaSet owns one. */
import assert from 'node:assert/strict'
import { configLayers } from '../metadata/config-resolution.ts'
import type { MetadataImage } from '../metadata/metadata-image.ts'
import { type TopicSettings, topicSettings } from '../metadata/topic-settings.ts'

export class SettingsOfTopics {
  readonly #of: { readonly brokerId: number; readonly file: ReadonlyMap<string, string> }
  /** The partitions of a topic share them. */
  readonly #known = new Map<string, TopicSettings>()
  #image: MetadataImage | undefined

  constructor(of: { readonly brokerId: number; readonly file: ReadonlyMap<string, string> }) {
    this.#of = of
  }

  follow(image: MetadataImage): void {
    this.#image = image
    this.#known.clear()
  }

  of(topic: string): TopicSettings {
    assert(this.#image)
    const { brokerId, file } = this.#of
    const known = this.#known.get(topic)
    if (known) return known
    const settings = topicSettings(configLayers(this.#image, { brokerId, file, topic }))
    this.#known.set(topic, settings)
    return settings
  }
}
