/** Appends the writes of one state partition that came together and makes them durable at once; StatePartition runs the rounds. */
import type { Clock } from '../../core/clock.ts'
import type { Compression } from '../../protocol/batches/batch-header.ts'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { ClientAppendError } from '../../replica/client-append-error.ts'
import type { Partition } from '../../replica/partition.ts'
import { checkOpen, type TransactionProof } from '../../replica/transactional-records.ts'
import { CoordinatorError } from './coordinator-error.ts'
import type { StateRecord } from './load-records.ts'

/** The transaction that a write belongs to: it counts only once the transaction is committed. */
export interface WriteTransaction {
  readonly producerId: bigint
  readonly producerEpoch: number
  /** That the transaction coordinator has the partition in it (KIP-890); checked once more right before the append. */
  readonly proof?: TransactionProof
}

export interface Write {
  readonly records: readonly StateRecord[]
  readonly transaction?: WriteTransaction | undefined
  /** Called when the records are in the log, in the batch at `baseOffset`, before anything that is appended later; must not throw. */
  readonly appended?: ((baseOffset: number) => void) | undefined
}

/** A write that waits for its round. */
export interface QueuedWrite extends Write {
  readonly bytes: number
  readonly resolve: () => void
  readonly reject: (error: Error) => void
}

export interface RoundContext {
  readonly clock: Clock
  readonly compression: Compression
  /** How long the in-sync replicas may take. */
  readonly timeoutMs: number
}

/** Room for what a batch adds to its records: the header, and a few bytes per record. */
const BATCH_OVERHEAD_BYTES = 100
const RECORD_OVERHEAD_BYTES = 32

/** An upper bound of what the records take in a batch of their own. */
export const batchBytesOf = (records: readonly StateRecord[]): number =>
  records.reduce(
    (sum, { key, value }) => sum + key.length + (value?.length ?? 0) + RECORD_OVERHEAD_BYTES,
    BATCH_OVERHEAD_BYTES,
  )

/**
 * Resolves when every write of the round is durable, below the high watermark, and its promise settled; a write of a fenced
 * producer is rejected alone. Rejects if the partition failed: then nobody knows which of the writes are in the log.
 */
export async function writeRound(
  partition: Partition,
  writes: readonly QueuedWrite[],
  context: RoundContext,
): Promise<void> {
  const accepted: QueuedWrite[] = []
  const end = await partition.writes.run(async () => {
    partition.assertAvailable()
    if (partition.isr.length < partition.effectiveMinIsr)
      throw new CoordinatorError(ErrorCode.COORDINATOR_NOT_AVAILABLE, `${partition.name}: too few in-sync replicas`)
    for (const batch of batchesOf(writes, partition.settings.maxMessageBytes))
      accepted.push(...(await append(partition, batch, context)))
    return partition.log.logEndOffset
  })
  await partition.log.flush()
  const reached = await partition.reachHighWatermark(end, context)
  if (reached !== 'reached')
    throw new CoordinatorError(
      reached === 'gone' ? ErrorCode.NOT_COORDINATOR : ErrorCode.COORDINATOR_NOT_AVAILABLE,
      `${partition.name} is not replicated up to offset ${end}: ${reached}`,
    )
  for (const write of accepted) write.resolve()
}

/** Neighbours that may share a batch: of the same transaction or of none, within what the topic accepts. */
function* batchesOf(writes: readonly QueuedWrite[], bytesMax: number): Generator<QueuedWrite[]> {
  let batch: QueuedWrite[] = []
  let bytes = 0
  for (const write of writes) {
    const fits = batch[0] === undefined || (sameProducer(batch[0], write) && bytes + write.bytes <= bytesMax)
    if (!fits) {
      yield batch
      batch = []
      bytes = 0
    }
    batch.push(write)
    bytes += write.bytes
  }
  if (batch.length > 0) yield batch
}

const sameProducer = (a: Write, b: Write): boolean =>
  a.transaction?.producerId === b.transaction?.producerId &&
  a.transaction?.producerEpoch === b.transaction?.producerEpoch

/** Resolves to the writes that are in the log now: all, or none if their producer is fenced, or those whose transaction is open. */
async function append(
  partition: Partition,
  queued: readonly QueuedWrite[],
  { clock, compression }: RoundContext,
): Promise<readonly QueuedWrite[]> {
  const timestamp = BigInt(clock.nowMs())
  const writes = queued.filter(write => isAdmitted(partition, write))
  if (writes.length === 0) return []
  const transaction = writes[0]?.transaction
  const { producerId = -1n, producerEpoch = -1 } = transaction ?? {}
  const batch = buildBatch({
    compression,
    ...(transaction ? { producerId, producerEpoch, transactional: true } : {}),
    records: writes.flatMap(({ records }) => records.map(({ key, value }) => ({ timestamp, key, value }))),
  })
  const result = await partition.log.appendAsLeader(batch, {
    leaderEpoch: partition.leaderEpoch,
    origin: 'coordinator',
  })
  if (result.kind === 'refused') {
    const error = new CoordinatorError(result.errorCode, `${partition.name}: ${result.message}`)
    for (const write of writes) write.reject(error)
    return []
  }
  if (transaction) partition.verifications.appended(producerId)
  partition.appended(batch.length)
  for (const write of writes) write.appended?.(result.baseOffset)
  return writes
}

/** Rejects a write whose transaction has ended since the coordinator was asked. */
function isAdmitted(partition: Partition, write: QueuedWrite): boolean {
  const { transaction } = write
  if (!transaction?.proof) return true
  try {
    checkOpen(partition, transaction, transaction.proof)
    return true
  } catch (error) {
    if (!(error instanceof ClientAppendError)) throw error
    write.reject(new CoordinatorError(error.errorCode, error.message))
    return false
  }
}
