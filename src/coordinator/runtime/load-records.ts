/** Reads the whole log of a state partition, record by record; StatePartition loads its state through it. */
import type { Clock } from '../../core/clock.ts'
import { messageOf } from '../../core/errors.ts'
import { type BatchHeader, isControl } from '../../protocol/batches/batch-header.ts'
import { batchesIn } from '../../protocol/batches/batch-iteration.ts'
import { decodeControlRecord } from '../../protocol/batches/control-batch.ts'
import { recordsOf } from '../../protocol/batches/records-of.ts'
import { verifyBatch } from '../../protocol/batches/verify-batch.ts'
import type { Partition } from '../../replica/partition.ts'

/** A record of a coordinator: what it is about, and its state or null for none any more. */
export interface StateRecord {
  readonly key: Buffer
  readonly value: Buffer | null
}

/** The end of a transaction in an internal topic. */
export interface TransactionMarker {
  readonly producerId: bigint
  readonly producerEpoch: number
  readonly committed: boolean
  readonly offset: number
}

export interface RecordSink {
  record(record: StateRecord, batch: BatchHeader): void
  marker(marker: TransactionMarker): void
}

/** Kafka's `offsets.load.buffer.size` is five times this; smaller reads leave the node to others sooner. */
const READ_BYTES = 1024 * 1024
const REPLICATION_TIMEOUT_MS = 30_000

/**
 * Gives everything from `offset` to the log end to the sink, having made it durable and replicated first: what it tells cannot
 * be lost any more. Resolves to where it came to. Rejects where the log cannot be read.
 */
export async function loadRecords(
  partition: Partition,
  from: { readonly offset: number; readonly sink: RecordSink },
  clock: Clock,
): Promise<number> {
  const { log } = partition
  const end = log.logEndOffset
  await makeDurable(partition, end, clock)
  let { offset } = from
  while (offset < end) {
    partition.assertAvailable()
    // The cleaner and DeleteRecords move the start while we read.
    offset = Math.max(offset, log.logStartOffset)
    const result = await log.read({ offset, maxBytes: READ_BYTES, maxOffset: end, minOneBatch: true })
    if (result.kind !== 'batches') continue
    deliver(partition, result.records, from.sink)
    // Nothing before the end: a hole, where the cleaner removed what was there.
    offset = result.nextOffset > offset ? result.nextOffset : end
  }
  return offset
}

async function makeDurable(partition: Partition, end: number, clock: Clock): Promise<void> {
  await partition.log.flush()
  const reached = await partition.reachHighWatermark(end, { timeoutMs: REPLICATION_TIMEOUT_MS, clock })
  if (reached !== 'reached') throw new Error(`${partition.name} is not replicated up to offset ${end}: ${reached}`)
}

function deliver(partition: Partition, bytes: Buffer, sink: RecordSink): void {
  for (const header of batchesIn(bytes)) {
    try {
      // After a clean stop nobody else looks whether the disk still holds what was written.
      verifyBatch(bytes, header)
      if (isControl(header)) deliverMarker(bytes, header, sink)
      else for (const { key, value } of recordsOf(bytes, header)) if (key) sink.record({ key, value }, header)
    } catch (cause) {
      const message = `${partition.name} cannot be loaded at offset ${header.baseOffset}: ${messageOf(cause)}`
      throw new Error(message, { cause })
    }
  }
}

function deliverMarker(bytes: Buffer, header: BatchHeader, sink: RecordSink): void {
  const marker = decodeControlRecord(bytes, header)
  if (marker?.type !== 'commit' && marker?.type !== 'abort') return
  const { producerId, producerEpoch } = header
  sink.marker({ producerId, producerEpoch, committed: marker.type === 'commit', offset: header.baseOffset })
}
