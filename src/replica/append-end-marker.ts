/**
 * Appends the marker that ends a transaction to one partition; the transaction coordinator and WriteTxnMarkers call it. Kafka's
 * checks of producer and coordinator epoch are made in the same step.
 */
import type { Clock } from '../core/clock.ts'
import { buildEndMarker } from '../protocol/batches/control-batch.ts'
import { ErrorCode } from '../protocol/errors.ts'
import type { AppendContext } from './append-from-client.ts'
import { errorCodeOf } from './log-failure.ts'
import type { Partition } from './partition.ts'
import { PartitionUnavailable } from './partition-unavailable.ts'

/** The end of a producer's transaction, as its coordinator decided it. */
export interface TransactionEnd {
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly committed: boolean
  /** Leader epoch of the coordinator's partition of `__transaction_state`. */
  readonly coordinatorEpoch: number
  /** From 2 on the epoch of the marker must be above the one of the records (KIP-890). */
  readonly transactionVersion: number
}

/** How long the in-sync replicas may take. */
const REPLICATION_TIMEOUT_MS = 30_000

/**
 * Resolves to 0 when the marker is durable and below the high watermark, else to the error code of Kafka: INVALID_PRODUCER_EPOCH,
 * TRANSACTION_COORDINATOR_FENCED, or why the partition cannot be written now. `appended` is called when the marker has its place
 * in the log, before anything that is appended later. Never rejects.
 */
export async function appendEndMarker(
  partition: Partition,
  end: TransactionEnd,
  context: AppendContext & { readonly appended?: () => void },
): Promise<number> {
  try {
    const appended = await partition.writes.run(() => append(partition, end, context))
    if ('errorCode' in appended) return appended.errorCode
    await partition.log.flush()
    const until = { timeoutMs: REPLICATION_TIMEOUT_MS, clock: context.clock }
    const reached = await partition.reachHighWatermark(appended.endOffset, until)
    if (reached === 'reached') return ErrorCode.NONE
    return reached === 'gone' ? ErrorCode.NOT_LEADER_OR_FOLLOWER : ErrorCode.REQUEST_TIMED_OUT
  } catch (error) {
    if (error instanceof PartitionUnavailable) return error.errorCode
    if (partition.unavailable) return partition.unavailable.errorCode
    const errorCode = errorCodeOf(error)
    if (errorCode === ErrorCode.KAFKA_STORAGE_ERROR) context.storageFailed(partition, error)
    return errorCode
  }
}

async function append(
  partition: Partition,
  end: TransactionEnd,
  { clock, appended }: { readonly clock: Clock; readonly appended?: () => void },
): Promise<{ readonly endOffset: number } | { readonly errorCode: number }> {
  partition.assertAvailable()
  if (partition.isr.length < partition.effectiveMinIsr) return { errorCode: ErrorCode.NOT_ENOUGH_REPLICAS }
  const { leaderEpoch, log } = partition
  const marker = buildEndMarker({
    type: end.committed ? 'commit' : 'abort',
    producerId: end.producerId,
    producerEpoch: end.producerEpoch,
    coordinatorEpoch: end.coordinatorEpoch,
    offset: log.logEndOffset,
    timestamp: BigInt(clock.nowMs()),
    leaderEpoch,
  })
  const { transactionVersion } = end
  const result = await log.appendAsLeader(marker, { leaderEpoch, origin: 'coordinator', transactionVersion })
  if (result.kind === 'refused') return { errorCode: result.errorCode }
  partition.verifications.ended(end)
  partition.appended(marker.length)
  appended?.()
  return { endOffset: result.lastOffset + 1 }
}
