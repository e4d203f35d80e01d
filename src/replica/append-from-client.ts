/** Appends what a client produced to one partition and waits as long as its `acks` asks; the Produce handler calls it. */
import type { Clock } from '../core/clock.ts'
import { isTransactional } from '../protocol/batches/batch-header.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { ClientAppendError, MalformedAppend, type RecordError } from './client-append-error.ts'
import { errorCodeOf } from './log-failure.ts'
import type { Partition } from './partition.ts'
import { PartitionUnavailable } from './partition-unavailable.ts'
import { checkTransactional, type TransactionProof } from './transactional-records.ts'
import { type ValidBatch, validateClientBatch } from './validate-client-batch.ts'
import type { WriteRefusal } from './write-gate.ts'

/** acks=0: nobody waits; 1: durable here; -1: durable here and below the high watermark. */
export type Acks = 0 | 1 | -1

export interface ClientAppend {
  readonly records: Buffer | null
  readonly acks: Acks
  /** How long acks=-1 may take. */
  readonly timeoutMs: number
  readonly produceVersion: number
  /** Asked right before the append, after everything queued earlier is written; and before records are refused. */
  readonly refusal: () => WriteRefusal | undefined
  /** For transactional records. */
  readonly transaction?: TransactionProof | undefined
}

/** Offsets and times are -1 where an error leaves them unknown. */
export interface AppendOutcome {
  readonly errorCode: number
  readonly errorMessage: string | null
  readonly recordErrors: readonly RecordError[]
  readonly baseOffset: number
  readonly logAppendTimeMs: bigint
  readonly logStartOffset: number
}

export interface AppendContext {
  readonly clock: Clock
  /** A log that cannot be written: told to the operator. */
  storageFailed(partition: Partition, error: unknown): void
  /** Makes sure that an append nobody waits for reaches the disk in time. */
  flushSoon(partition: Partition): void
}

interface Appended {
  readonly baseOffset: number
  readonly endOffset: number
  readonly logAppendTimeMs: bigint
}

/** Never rejects: the outcome says what went wrong. */
export async function appendFromClient(
  partition: Partition,
  request: ClientAppend,
  context: AppendContext,
): Promise<AppendOutcome> {
  try {
    const batch = validated(partition, request, context)
    const appended = await partition.writes.run(() => append(partition, batch, request))
    if (request.acks === 0) context.flushSoon(partition)
    else await acknowledge(partition, appended, { request, clock: context.clock })
    return {
      errorCode: ErrorCode.NONE,
      errorMessage: null,
      recordErrors: [],
      baseOffset: appended.baseOffset,
      logAppendTimeMs: appended.logAppendTimeMs,
      logStartOffset: partition.log.logStartOffset,
    }
  } catch (error) {
    return refusedOutcome(partition, error, context)
  }
}

/** Of a partition that is closed to clients that is said, not what is wrong with records: a mirror's configs bind nobody but its followers. */
function validated(partition: Partition, request: ClientAppend, { clock }: AppendContext): ValidBatch {
  const { records, produceVersion } = request
  try {
    return validateClientBatch(records, partition.settings, { nowMs: clock.nowMs(), produceVersion })
  } catch (error) {
    assertWritable(request)
    throw error
  }
}

function assertWritable(request: ClientAppend): void {
  const refusal = request.refusal()
  if (refusal) throw new ClientAppendError(refusal.errorCode, refusal.message)
}

/** Runs inside the partition's write queue: nothing changes between the checks and the append. */
async function append(partition: Partition, batch: ValidBatch, request: ClientAppend): Promise<Appended> {
  partition.assertAvailable()
  assertWritable(request)
  if (request.acks === -1 && partition.isr.length < partition.effectiveMinIsr)
    throw new ClientAppendError(
      ErrorCode.NOT_ENOUGH_REPLICAS,
      `${partition.name} has ${partition.isr.length} in-sync replicas, ${partition.effectiveMinIsr} are needed`,
    )
  const transactional = isTransactional(batch.header)
  if (transactional) checkTransactional(partition, batch.header, request.transaction)
  const result = await partition.log.appendAsLeader(batch.bytes, { leaderEpoch: partition.leaderEpoch })
  switch (result.kind) {
    case 'refused':
      throw new ClientAppendError(result.errorCode, `${partition.name}: ${result.message}`)
    case 'duplicate':
      // One of the producer's last batches again: answered with where it already is.
      return {
        baseOffset: result.baseOffset,
        endOffset: result.lastOffset + 1,
        logAppendTimeMs: result.timestamp,
      }
    case 'appended':
      if (transactional) partition.verifications.appended(batch.header.producerId)
      partition.appended(batch.bytes.length)
      return {
        baseOffset: result.baseOffset,
        endOffset: result.lastOffset + 1,
        logAppendTimeMs: batch.logAppendTimeMs,
      }
  }
}

async function acknowledge(
  partition: Partition,
  appended: Appended,
  wait: { readonly request: ClientAppend; readonly clock: Clock },
): Promise<void> {
  await partition.log.flush()
  if (wait.request.acks !== -1) return
  const result = await partition.reachHighWatermark(appended.endOffset, {
    timeoutMs: wait.request.timeoutMs,
    clock: wait.clock,
  })
  if (result === 'reached') {
    if (partition.isr.length >= partition.effectiveMinIsr) return
    throw new ClientAppendError(
      ErrorCode.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
      `${partition.name}: written, but the in-sync replicas became too few`,
    )
  }
  if (result === 'gone')
    throw partition.unavailable ?? new PartitionUnavailable(ErrorCode.NOT_LEADER_OR_FOLLOWER, `${partition.name} moved`)
  throw new ClientAppendError(
    ErrorCode.REQUEST_TIMED_OUT,
    `${partition.name}: not replicated in ${wait.request.timeoutMs} ms`,
  )
}

function refusedOutcome(partition: Partition, error: unknown, context: AppendContext): AppendOutcome {
  if (error instanceof ClientAppendError) {
    const refused = failedAppend(error.errorCode, error.message, error.recordErrors)
    const tellsLogStart = !(error instanceof MalformedAppend) && !WITHOUT_LOG_START.has(error.errorCode)
    return tellsLogStart ? { ...refused, logStartOffset: partition.log.logStartOffset } : refused
  }
  if (error instanceof PartitionUnavailable) return failedAppend(error.errorCode, error.message)
  if (partition.unavailable) return failedAppend(partition.unavailable.errorCode, partition.unavailable.message)
  const errorCode = errorCodeOf(error)
  if (errorCode === ErrorCode.KAFKA_STORAGE_ERROR) context.storageFailed(partition, error)
  return failedAppend(errorCode, `${partition.name}: the log cannot be written`)
}

/** Refusals that Kafka answers without the log start. */
const WITHOUT_LOG_START: ReadonlySet<number> = new Set([
  ErrorCode.MESSAGE_TOO_LARGE,
  ErrorCode.RECORD_LIST_TOO_LARGE,
  ErrorCode.CORRUPT_MESSAGE,
])

/** The outcome of an append that was refused. */
export const failedAppend = (
  errorCode: number,
  errorMessage: string | null,
  recordErrors: readonly RecordError[] = [],
): AppendOutcome => ({
  errorCode,
  errorMessage,
  recordErrors,
  baseOffset: -1,
  logAppendTimeMs: -1n,
  logStartOffset: -1,
})
