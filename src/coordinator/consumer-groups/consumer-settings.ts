/** The server properties that consumer groups of KIP-848 obey, and what a group's own configs make of them; GroupSettings carries them. */
import { ConfigResourceType, configOverrides, type MetadataImage } from '../../metadata/metadata-image.ts'
import type { PropertyText } from '../runtime/internal-topics.ts'
import { assignorNames } from './assignors.ts'

export interface ConsumerGroupSettings {
  /** `group.coordinator.rebalance.protocols` has `consumer`. */
  readonly isEnabled: boolean
  /** `group.consumer.session.timeout.ms` */
  readonly sessionTimeoutMs: number
  /** `group.consumer.heartbeat.interval.ms` */
  readonly heartbeatIntervalMs: number
  /** `group.consumer.assignment.interval.ms`: least time between two targets of a group (KIP-1263). */
  readonly assignmentIntervalMs: number
  /** `group.consumer.max.size` */
  readonly membersMax: number
  /** `group.consumer.assignors`; the first one is taken where members do not say. Not empty. */
  readonly assignors: readonly string[]
  /** `group.consumer.migration.policy` */
  readonly mayUpgrade: boolean
  readonly mayDowngrade: boolean
  /** `group.consumer.regex.refresh.interval.ms`: until permissions are looked at again. */
  readonly regexRefreshMs: number
}

/** From properties that have been validated. */
export function consumerGroupSettings(property: PropertyText): ConsumerGroupSettings {
  const protocols = property('group.coordinator.rebalance.protocols')
    .split(',')
    .map(name => name.trim())
  const policy = property('group.consumer.migration.policy').toLowerCase()
  const assignors = assignorNames(property('group.consumer.assignors'))
  return {
    isEnabled: protocols.includes('consumer'),
    sessionTimeoutMs: Number(property('group.consumer.session.timeout.ms')),
    heartbeatIntervalMs: Number(property('group.consumer.heartbeat.interval.ms')),
    assignmentIntervalMs: Number(property('group.consumer.assignment.interval.ms')),
    membersMax: Number(property('group.consumer.max.size')),
    assignors: assignors.length > 0 ? assignors : ['uniform'],
    mayUpgrade: policy === 'bidirectional' || policy === 'upgrade',
    mayDowngrade: policy === 'bidirectional' || policy === 'downgrade',
    regexRefreshMs: Number(property('group.consumer.regex.refresh.interval.ms')),
  }
}

/** With the configs of the group, and those of the broker for what is dynamic there. */
export function settingsOf(
  server: ConsumerGroupSettings,
  image: MetadataImage,
  { brokerId, groupId }: { readonly brokerId: number; readonly groupId: string },
) {
  const own = configOverrides(image, { type: ConfigResourceType.GROUP, name: groupId })
  const broker = [String(brokerId), ''].map(name => configOverrides(image, { type: ConfigResourceType.BROKER, name }))
  const [dynamic] = broker.flatMap(configs => configs.get('group.consumer.assignment.interval.ms') ?? [])
  const interval = own.get('consumer.assignment.interval.ms') ?? dynamic
  return {
    sessionTimeoutMs: Number(own.get('consumer.session.timeout.ms') ?? server.sessionTimeoutMs),
    heartbeatIntervalMs: Number(own.get('consumer.heartbeat.interval.ms') ?? server.heartbeatIntervalMs),
    assignmentIntervalMs: Number(interval ?? server.assignmentIntervalMs),
  }
}

/** Level of the feature `group.version`: 1 has the consumer protocol. */
export const consumerProtocolLevel = (image: MetadataImage): number => image.features.get('group.version') ?? 0
