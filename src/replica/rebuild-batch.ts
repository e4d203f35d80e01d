/** Writes a client's batch anew with another codec, or with proper offset deltas; validate-client-batch.ts calls it. */
import { type BatchHeader, type Compression, isTransactional } from '../protocol/batches/batch-header.ts'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { recordsOf } from '../protocol/batches/records-of.ts'

/**
 * The same records, producer and sequence in a batch of codec `compression`, offset deltas 0, 1, 2, ...
 * `appendTime` makes it a LogAppendTime batch. Throws BatchError if the records do not parse.
 */
export function rebuildBatch(
  bytes: Buffer,
  header: BatchHeader,
  to: {
    readonly compression: Compression
    /** Of gzip or zstd. */
    readonly level: number | undefined
    readonly appendTime: bigint | undefined
  },
): Buffer {
  return buildBatch({
    records: recordsOf(bytes, header).map(({ timestamp, key, value, headers }) => ({ timestamp, key, value, headers })),
    compression: to.compression,
    ...(to.level === undefined ? {} : { compressionLevel: to.level }),
    producerId: header.producerId,
    producerEpoch: header.producerEpoch,
    baseSequence: header.baseSequence,
    transactional: isTransactional(header),
    ...(to.appendTime === undefined ? {} : { logAppendTime: to.appendTime }),
  })
}
