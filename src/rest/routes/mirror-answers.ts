/** Mirrors and outcomes of verbs in the words of REST; called by the mirror routes. */
import type { AlterMirrorRow, MirrorLagView, MirrorView } from '../../link/engine-api.ts'
import type { AlterMirrorsAnswer, MirrorData } from '../schemas/mirrors.ts'

/** KafkaMirrorData. */
export function mirrorData(mirror: MirrorView, view: { base: string; withErrors: boolean }): MirrorData {
  return {
    kind: 'KafkaMirrorData',
    metadata: { self: `${view.base}/links/${mirror.linkName}/mirrors/${mirror.mirrorTopicName}`, resource_name: null },
    link_name: mirror.linkName,
    mirror_topic_name: mirror.mirrorTopicName,
    source_topic_name: mirror.sourceTopicName,
    num_partitions: mirror.numPartitions,
    mirror_lags: mirror.lags.map(lagData),
    mirror_status: mirror.status,
    mirror_topic_error: mirror.error,
    state_time_ms: mirror.stateTimeMs,
    ...(view.withErrors
      ? {
          mirror_state_transition_errors: mirror.stateTransitionErrors.map(({ code, message, sinceMs }) => ({
            error_code: code,
            error_message: message,
            since_ms: sinceMs,
          })),
        }
      : {}),
    allowed_actions: [...mirror.allowedActions],
    lag_ms: mirror.lagMs,
    reason: mirror.reason,
    held: mirror.held,
    stop_points: mirror.stopPoints.map(point => ({
      partition: point.partition,
      stop_offset: point.stopOffset,
      last_source_epoch: point.lastSourceEpoch,
      stop_time_ms: point.stopTimeMs,
    })),
    reversal: mirror.reversal && {
      role: mirror.reversal.role,
      peer_status: mirror.reversal.peerStatus,
      peer_reason: mirror.reversal.peerReason,
      read_only_ms: mirror.reversal.readOnlyMs,
      aborted_transactions: mirror.reversal.abortedTransactions,
    },
  }
}

function lagData(lag: MirrorLagView) {
  return {
    partition: lag.partition,
    lag: lag.lag,
    last_source_fetch_offset: lag.lastSourceFetchOffset,
    lag_ms: lag.lagMs,
    log_start_offset: lag.logStartOffset,
    log_end_offset: lag.logEndOffset,
    source_high_watermark: lag.sourceHighWatermark,
    source_last_stable_offset: lag.sourceLastStableOffset,
    stable_lag: lag.stableLag,
    mirrored_bytes: lag.mirroredBytes,
    partition_state: lag.state,
    reason: lag.reason,
  }
}

/** AlterMirrorsData. */
export function alterData(
  row: AlterMirrorRow,
  { self, withPartitions }: { readonly self: string; readonly withPartitions: boolean },
): AlterMirrorsAnswer['data'][number] {
  return {
    kind: 'AlterMirrorsData',
    metadata: { self: `${self}/${row.mirrorTopicName}`, resource_name: null },
    mirror_topic_name: row.mirrorTopicName,
    error_code: row.errorCode,
    error_message: row.errorMessage,
    mirror_lags: row.lags.map(lagData),
    messages_truncated: row.messagesTruncated ?? null,
    partition_level_truncation_data: (withPartitions ? (row.truncation ?? []) : []).map(part => ({
      partition_id: part.partition,
      offset_truncated_to: part.offsetTruncatedTo,
      messages_truncated: part.messagesTruncated,
    })),
    partitions: row.partitions.map(part => ({
      partition: part.partition,
      end_offset: part.endOffset,
      stop_offset: part.stopOffset,
      last_known_lag: part.lastKnownLag,
      waiting_for: part.waitingFor,
      deleted_at_source: part.deletedAtSource ?? null,
    })),
    open_transactions: row.openTransactions,
    groups_behind: [...(row.groupsBehind ?? [])],
    groups_in_use: [...(row.groupsInUse ?? [])],
    retention_bytes_at_risk: row.retentionBytesAtRisk ?? null,
    overlapping_producer_ids: [...(row.overlappingProducerIds ?? [])],
    warnings: [...(row.warnings ?? [])],
  }
}
