/** Which old part of the metadata log goes once snapshots cover it: Kafka's rules for `metadata.max.retention.*`. Called by the Snapshotter. */
import type { MetadataLog } from './metadata-log.ts'
import type { SnapshotId } from './metadata-snapshots.ts'

export interface MetadataRetention {
  /** `metadata.max.retention.bytes`, of log and snapshots together; −1 = without bound. */
  readonly bytes: number
  /** `metadata.max.retention.ms`, by the last record that a snapshot covers; −1 = for ever. */
  readonly ms: number
}

/**
 * Drops the oldest snapshot, with the log below the one after it, for as long as the whole is too large or that snapshot too
 * old. The newest snapshot always stays. The log goes by whole segments.
 */
export async function cleanMetadataLog(log: MetadataLog, retention: MetadataRetention, nowMs: number): Promise<void> {
  for (;;) {
    const [oldest, next] = log.snapshots.ids
    if (!oldest || !next) return
    const breached =
      (await isTooLarge(log, retention.bytes)) || (await isTooOld(log, oldest, { ms: retention.ms, nowMs }))
    if (!breached) return
    await log.startAt(next)
  }
}

async function isTooLarge(log: MetadataLog, bytesMax: number): Promise<boolean> {
  if (bytesMax < 0) return false
  let bytes = log.sizeBytes
  for (const id of log.snapshots.ids) bytes += await log.snapshots.sizeBytes(id)
  return bytes > bytesMax
}

async function isTooOld(log: MetadataLog, id: SnapshotId, limit: { ms: number; nowMs: number }): Promise<boolean> {
  if (limit.ms < 0) return false
  const timestamp = await log.snapshots.lastContainedTimestamp(id)
  return timestamp !== undefined && limit.nowMs - Number(timestamp) > limit.ms
}
