/**
 * Decides whether records that a client produced may enter a partition, and prepares them: what Kafka does between
 * `ProduceRequest.validateRecords` and the append. Pure; append-from-client.ts calls it.
 */
import type { TopicSettings } from '../metadata/topic-settings.ts'
import { BatchError } from '../protocol/batches/batch-error.ts'
import {
  type BatchHeader,
  type Compression,
  compressionOf,
  hasProducerId,
  isControl,
  readBatchHeader,
  usesLogAppendTime,
} from '../protocol/batches/batch-header.ts'
import { nextBatchPosition, recordBytesOf } from '../protocol/batches/batch-iteration.ts'
import { at, magicAt } from '../protocol/batches/batch-layout.ts'
import { decompress } from '../protocol/batches/compression/codecs.ts'
import { restampBatch } from '../protocol/batches/restamp-batch.ts'
import { verifyBatch } from '../protocol/batches/verify-batch.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { ClientAppendError, MalformedAppend } from './client-append-error.ts'
import { rebuildBatch } from './rebuild-batch.ts'
import { checkRecords, type RecordRules } from './record-rules.ts'
import { MalformedRecords, type RecordScan, scanRecords } from './record-scan.ts'

/** The effective topic configs that decide over a client's batch. */
export type AppendRules = RecordRules &
  Pick<TopicSettings, 'maxMessageBytes' | 'segmentBytes' | 'compressionType' | 'compressionLevels'>

/** A batch that may be appended. */
export interface ValidBatch {
  /** Exactly one batch. */
  readonly bytes: Buffer
  readonly header: BatchHeader
  /** Append time where the topic uses LogAppendTime, else -1. */
  readonly logAppendTimeMs: bigint
}

/** Bound of one decompressed batch: more is an attack or a mistake, and a broker must stay in memory. */
const PLAIN_BYTES_MAX = 256 * 1024 * 1024
/** The first Produce version whose clients may use zstd (KIP-110). */
const ZSTD_PRODUCE_VERSION = 7

/**
 * Checks the records of one partition of a Produce request. The batch may be restamped in place, or rebuilt where the
 * topic asks for another codec. Throws ClientAppendError with the code that Kafka answers.
 */
export function validateClientBatch(
  records: Buffer | null,
  rules: AppendRules,
  request: { readonly nowMs: number; readonly produceVersion: number },
): ValidBatch {
  try {
    const header = onlyBatch(records, request.produceVersion)
    const bytes = records?.subarray(0, header.sizeBytes) ?? Buffer.alloc(0)
    if (header.baseOffset !== 0) throw invalid(`the batch must have base offset 0, not ${header.baseOffset}`)
    checkSize(header, rules)
    verifyBatch(bytes, header)
    checkHeader(header)
    return prepare(bytes, header, { rules, nowMs: request.nowMs })
  } catch (error) {
    throw asAppendError(error)
  }
}

/** The one batch that a Produce request may carry per partition; bytes of a batch that was cut off are ignored, as Kafka does. */
function onlyBatch(records: Buffer | null, produceVersion: number): BatchHeader {
  if (records !== null) checkMagic(records)
  if (records === null || nextBatchPosition(records, 0) === -1)
    throw malformed('a Produce request must have one record batch per partition')
  const header = readBatchHeader(records, 0)
  if (nextBatchPosition(records, header.sizeBytes) !== -1)
    throw malformed('a Produce request may have only one record batch per partition')
  if (compressionOf(header) === 'zstd' && produceVersion < ZSTD_PRODUCE_VERSION)
    throw new MalformedAppend(
      ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
      `zstd needs Produce version ${ZSTD_PRODUCE_VERSION}, the request has ${produceVersion}`,
    )
  return header
}

/** Old formats are refused by name, bytes of no format at all are corrupt. */
function checkMagic(records: Buffer): void {
  if (records.length <= at.magic) return
  const magic = magicAt(records, 0)
  if (magic === 0 || magic === 1) throw malformed(`message format ${magic} is not supported, only record batches are`)
  if (magic !== 2) throw new ClientAppendError(ErrorCode.CORRUPT_MESSAGE, `magic ${magic} is no record format`)
}

function checkSize(header: Pick<BatchHeader, 'sizeBytes'>, rules: AppendRules): void {
  if (header.sizeBytes > rules.maxMessageBytes)
    throw new ClientAppendError(
      ErrorCode.MESSAGE_TOO_LARGE,
      `the batch has ${header.sizeBytes} bytes, max.message.bytes is ${rules.maxMessageBytes}`,
    )
  if (header.sizeBytes > rules.segmentBytes)
    throw new ClientAppendError(
      ErrorCode.RECORD_LIST_TOO_LARGE,
      `the batch has ${header.sizeBytes} bytes, segment.bytes is ${rules.segmentBytes}`,
    )
}

function checkHeader(header: BatchHeader): void {
  if (header.recordCount <= 0) throw invalid(`the batch says it has ${header.recordCount} records`)
  if (header.lastOffsetDelta + 1 !== header.recordCount)
    throw invalid(`the batch has ${header.recordCount} records but covers ${header.lastOffsetDelta + 1} offsets`)
  if (isControl(header)) throw invalid('clients may not write control batches')
  if (hasProducerId(header) && header.baseSequence < 0)
    throw invalid(`producer ${header.producerId} sent the sequence number ${header.baseSequence}`)
}

function prepare(bytes: Buffer, header: BatchHeader, to: { rules: AppendRules; nowMs: number }): ValidBatch {
  const { rules, nowMs } = to
  const source = compressionOf(header)
  const target = targetCodec(rules.compressionType, source)
  const plain =
    source === 'none' ? recordBytesOf(bytes, header) : decompress(source, recordBytesOf(bytes, header), PLAIN_BYTES_MAX)
  const scan = scanRecords(plain, header.recordCount)
  checkRecords({ header, plain, scan }, { rules, nowMs })
  const appendTime = rules.timestampType === 'LogAppendTime' ? BigInt(nowMs) : undefined
  const maxTimestamp = appendTime ?? maxTimestampOf(header, scan)
  if (source === target && scan.consecutive) {
    restampBatch(bytes, 0, {
      maxTimestamp: { timestamp: maxTimestamp, type: appendTime === undefined ? 'create' : 'append' },
    })
    return { bytes, header: { ...header, ...stampsOf(bytes) }, logAppendTimeMs: appendTime ?? -1n }
  }
  const level = levelOf(target, rules.compressionLevels)
  const rebuilt = rebuildBatch(bytes, header, { compression: target, level, appendTime })
  const rebuiltHeader = readBatchHeader(rebuilt, 0)
  checkSize(rebuiltHeader, rules)
  return { bytes: rebuilt, header: rebuiltHeader, logAppendTimeMs: appendTime ?? -1n }
}

function targetCodec(configured: TopicSettings['compressionType'], source: Compression): Compression {
  if (configured === 'producer') return source
  return configured === 'uncompressed' ? 'none' : configured
}

const levelOf = (codec: Compression, { gzip, zstd }: TopicSettings['compressionLevels']): number | undefined =>
  codec === 'gzip' ? gzip : codec === 'zstd' ? zstd : undefined

function stampsOf(bytes: Buffer): Pick<BatchHeader, 'crc' | 'attributes' | 'maxTimestamp'> {
  const { crc, attributes, maxTimestamp } = readBatchHeader(bytes, 0)
  return { crc, attributes, maxTimestamp }
}

const maxTimestampOf = (header: BatchHeader, scan: RecordScan): bigint =>
  usesLogAppendTime(header) ? header.maxTimestamp : header.baseTimestamp + BigInt(scan.maxTimestampDelta)

const malformed = (message: string) => new MalformedAppend(ErrorCode.INVALID_RECORD, message)
const invalid = (message: string) => new ClientAppendError(ErrorCode.INVALID_RECORD, message)

/** What Kafka's exception hierarchy answers for bytes that do not parse. */
function asAppendError(error: unknown): unknown {
  if (error instanceof MalformedRecords) return invalid(error.message)
  if (!(error instanceof BatchError)) return error
  switch (error.kind) {
    case 'crc-mismatch':
    case 'invalid-size':
      return new ClientAppendError(ErrorCode.CORRUPT_MESSAGE, error.message)
    case 'unsupported-compression':
      return new ClientAppendError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, error.message)
    case 'too-large':
      return new ClientAppendError(ErrorCode.MESSAGE_TOO_LARGE, error.message)
    default:
      return invalid(error.message)
  }
}
