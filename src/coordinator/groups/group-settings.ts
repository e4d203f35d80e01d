/** The server properties that groups obey, as numbers; the composition root builds them once. */
import { type ConsumerGroupSettings, consumerGroupSettings } from '../consumer-groups/consumer-settings.ts'
import type { PropertyText } from '../runtime/internal-topics.ts'
import { type ShareGroupSettings, shareGroupSettings } from '../share-groups/share-settings.ts'

export interface GroupSettings {
  /** `group.min.session.timeout.ms` and `group.max.session.timeout.ms` */
  readonly sessionTimeoutMsMin: number
  readonly sessionTimeoutMsMax: number
  /** `group.max.size`: members of one group. */
  readonly membersMax: number
  /** `group.initial.rebalance.delay.ms`: how long the first member of an empty group waits for others. */
  readonly initialRebalanceDelayMs: number
  /** `offset.metadata.max.bytes`; counted in characters, as in Kafka. */
  readonly offsetMetadataMax: number
  /** `offsets.retention.minutes` */
  readonly offsetsRetentionMs: number
  /** `offsets.retention.check.interval.ms` */
  readonly retentionCheckMs: number
  readonly consumer: ConsumerGroupSettings
  readonly share: ShareGroupSettings
}

/** From properties that have been validated. */
export const groupSettings = (property: PropertyText): GroupSettings => ({
  sessionTimeoutMsMin: Number(property('group.min.session.timeout.ms')),
  sessionTimeoutMsMax: Number(property('group.max.session.timeout.ms')),
  membersMax: Number(property('group.max.size')),
  initialRebalanceDelayMs: Number(property('group.initial.rebalance.delay.ms')),
  offsetMetadataMax: Number(property('offset.metadata.max.bytes')),
  offsetsRetentionMs: Number(property('offsets.retention.minutes')) * 60_000,
  retentionCheckMs: Number(property('offsets.retention.check.interval.ms')),
  consumer: consumerGroupSettings(property),
  share: shareGroupSettings(property),
})
