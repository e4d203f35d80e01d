/** The server properties that share groups obey as groups, and what a group's own configs make of them; GroupSettings carries them. */
import { ConfigResourceType, configOverrides, type MetadataImage } from '../../metadata/metadata-image.ts'
import type { PropertyText } from '../runtime/internal-topics.ts'

export interface ShareGroupSettings {
  /** `group.share.session.timeout.ms` */
  readonly sessionTimeoutMs: number
  /** `group.share.heartbeat.interval.ms` */
  readonly heartbeatIntervalMs: number
  /** `group.share.assignment.interval.ms`: least time between two targets of a group (KIP-1263). */
  readonly assignmentIntervalMs: number
  /** `group.share.max.size` */
  readonly membersMax: number
  /** `group.share.initialize.retry.interval.ms`: until the share coordinator is asked again. */
  readonly initialiseRetryMs: number
}

/** From properties that have been validated. */
export const shareGroupSettings = (property: PropertyText): ShareGroupSettings => ({
  sessionTimeoutMs: Number(property('group.share.session.timeout.ms')),
  heartbeatIntervalMs: Number(property('group.share.heartbeat.interval.ms')),
  assignmentIntervalMs: Number(property('group.share.assignment.interval.ms')),
  membersMax: Number(property('group.share.max.size')),
  initialiseRetryMs: Number(property('group.share.initialize.retry.interval.ms')),
})

/** With the configs of the group, and those of the broker for what is dynamic there. */
export function shareSettingsOf(
  server: ShareGroupSettings,
  image: MetadataImage,
  { brokerId, groupId }: { readonly brokerId: number; readonly groupId: string },
) {
  const own = configOverrides(image, { type: ConfigResourceType.GROUP, name: groupId })
  const broker = [String(brokerId), ''].map(name => configOverrides(image, { type: ConfigResourceType.BROKER, name }))
  const [dynamic] = broker.flatMap(configs => configs.get('group.share.assignment.interval.ms') ?? [])
  return {
    sessionTimeoutMs: Number(own.get('share.session.timeout.ms') ?? server.sessionTimeoutMs),
    heartbeatIntervalMs: Number(own.get('share.heartbeat.interval.ms') ?? server.heartbeatIntervalMs),
    assignmentIntervalMs: Number(own.get('share.assignment.interval.ms') ?? dynamic ?? server.assignmentIntervalMs),
  }
}

/** Level of the feature `share.version`: 1 has share groups. */
export const shareProtocolLevel = (image: MetadataImage): number => image.features.get('share.version') ?? 0
