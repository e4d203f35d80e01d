/** The server properties that share partitions obey, and what a group's own configs make of them; SharePartitions asks for each use. */
import { ConfigResourceType, configOverrides, type MetadataImage } from '../../metadata/metadata-image.ts'
import type { PropertyText } from '../runtime/internal-topics.ts'

export interface ShareServerSettings {
  /** `group.share.record.lock.duration.ms` */
  readonly lockMs: number
  /** `group.share.delivery.count.limit` */
  readonly deliveryCountMax: number
  /** `group.share.partition.max.record.locks` */
  readonly recordLocksMax: number
  /** `group.share.max.share.sessions` */
  readonly sessionsMax: number
}

export const shareServerSettings = (property: PropertyText): ShareServerSettings => ({
  lockMs: Number(property('group.share.record.lock.duration.ms')),
  deliveryCountMax: Number(property('group.share.delivery.count.limit')),
  recordLocksMax: Number(property('group.share.partition.max.record.locks')),
  sessionsMax: Number(property('group.share.max.share.sessions')),
})

/** Where a group begins in a partition that it has not read yet. */
export type ShareOffsetReset =
  | { readonly kind: 'latest' | 'earliest' }
  | { readonly kind: 'duration'; readonly ms: number }

/** What holds for one group now. */
export interface ShareGroupSettings {
  readonly lockMs: number
  readonly deliveryCountMax: number
  /** Offsets from the start to the end of what was fetched; more only to finish a batch. */
  readonly recordLocksMax: number
  readonly isolation: 'read_uncommitted' | 'read_committed'
  readonly offsetReset: ShareOffsetReset
  readonly mayRenew: boolean
}

export function shareGroupSettings(
  server: ShareServerSettings,
  image: MetadataImage,
  groupId: string,
): ShareGroupSettings {
  const own = configOverrides(image, { type: ConfigResourceType.GROUP, name: groupId })
  return {
    lockMs: Number(own.get('share.record.lock.duration.ms') ?? server.lockMs),
    deliveryCountMax: Number(own.get('share.delivery.count.limit') ?? server.deliveryCountMax),
    recordLocksMax: Number(own.get('share.partition.max.record.locks') ?? server.recordLocksMax),
    isolation: own.get('share.isolation.level') === 'read_committed' ? 'read_committed' : 'read_uncommitted',
    offsetReset: offsetReset(own.get('share.auto.offset.reset') ?? 'latest'),
    mayRenew: own.get('share.renew.acknowledge.enable') !== 'false',
  }
}

const BY_DURATION = 'by_duration:'

/** From text that has been validated. */
function offsetReset(text: string): ShareOffsetReset {
  if (text.startsWith(BY_DURATION)) return { kind: 'duration', ms: durationMs(text.slice(BY_DURATION.length)) }
  return { kind: text === 'earliest' ? 'earliest' : 'latest' }
}

/** ISO 8601: days, hours, minutes, seconds. */
function durationMs(text: string): number {
  const [, days = 0, hours = 0, minutes = 0, seconds = 0] =
    /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/i.exec(text) ?? []
  return (((Number(days) * 24 + Number(hours)) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000
}
