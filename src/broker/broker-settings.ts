/** What handlers need to know of the server's properties file; the composition root builds it once. */

import type { SampleWindows } from '../core/sampled-rate.ts'

export interface BrokerSettings {
  /** The file as it is: DescribeConfigs shows it, and topic configs take their defaults from it. */
  readonly file: ReadonlyMap<string, string>
  /** `auto.create.topics.enable`; off unless the file says so, unlike Kafka: a typo must not create a topic. */
  readonly autoCreateTopics: boolean
  /** `delete.topic.enable` */
  readonly deleteTopics: boolean
  /** `fetch.max.bytes`: bound of one Fetch answer. */
  readonly fetchBytesMax: number
  /** `max.incremental.fetch.session.cache.slots` */
  readonly fetchSessionSlots: number
  /** `max.request.partition.size.limit`: partitions in one DescribeTopicPartitions answer. */
  readonly describedPartitionsMax: number
  /** `quota.window.*`, `controller.quota.window.*` */
  readonly quotaWindows: { readonly windows: SampleWindows; readonly mutationWindows: SampleWindows }
}

const flag = (text: string | undefined, otherwise: boolean): boolean =>
  text === undefined ? otherwise : text.trim().toLowerCase() === 'true'

/** From a file that has been validated. */
export const brokerSettings = (file: ReadonlyMap<string, string>): BrokerSettings => ({
  file,
  autoCreateTopics: flag(file.get('auto.create.topics.enable'), false),
  deleteTopics: flag(file.get('delete.topic.enable'), true),
  fetchBytesMax: Number(file.get('fetch.max.bytes') ?? 57_671_680),
  fetchSessionSlots: Number(file.get('max.incremental.fetch.session.cache.slots') ?? 1000),
  describedPartitionsMax: Number(file.get('max.request.partition.size.limit') ?? 2000),
  quotaWindows: {
    windows: sampleWindows(file, 'quota.window'),
    mutationWindows: sampleWindows(file, 'controller.quota.window'),
  },
})

/** @param prefix of the two properties, e.g. `quota.window` */
export const sampleWindows = (file: ReadonlyMap<string, string>, prefix: string): SampleWindows => ({
  count: Number(file.get(`${prefix}.num`) ?? 11),
  sizeMs: Number(file.get(`${prefix}.size.seconds`) ?? 1) * 1000,
})
