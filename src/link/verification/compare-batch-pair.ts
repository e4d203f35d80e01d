/** Two batches of the same place, one of each end: are they the same, and if not, what differs? Pure; used by compare-partition. */
import { isControl } from '../../protocol/batches/batch-header.ts'
import { controlRecordsOf } from '../../protocol/batches/control-batch.ts'
import { type DecodedRecord, recordsOf } from '../../protocol/batches/records-of.ts'
import type { ReadBatch } from './batch-reader.ts'
import type { End } from './cleaned-keys.ts'

/** Where two ends differ first. */
export interface Difference {
  readonly offset: number
  readonly message: string
}

/** Bytes 12 to 15 are the leader epoch, the only thing that a mirror changes. */
const epochAt = 12
const behindEpochAt = 16

export const isSameBatch = (a: Buffer, b: Buffer): boolean =>
  a.length === b.length &&
  a.compare(b, 0, epochAt, 0, epochAt) === 0 &&
  a.compare(b, behindEpochAt, b.length, behindEpochAt, a.length) === 0

const placeOf = ({ header: { baseOffset, lastOffset } }: ReadBatch): string => `offsets ${baseOffset} to ${lastOffset}`

/** Two batches that are not the same, or one that has no counterpart. */
export function differenceOfBatches(source: ReadBatch | undefined, mirror: ReadBatch | undefined): Difference {
  const offset = Math.min(source?.header.baseOffset ?? Infinity, mirror?.header.baseOffset ?? Infinity)
  if (source && (!mirror || source.header.lastOffset < mirror.header.baseOffset))
    return { offset, message: `the mirror has no batch where the source has one (${placeOf(source)})` }
  if (mirror && (!source || mirror.header.lastOffset < source.header.baseOffset))
    return { offset, message: `the source has no batch where the mirror has one (${placeOf(mirror)})` }
  if (!source || !mirror) throw new TypeError('a difference needs a batch')
  const { header: there } = source
  const { header: here } = mirror
  if (placeOf(source) !== placeOf(mirror))
    return { offset, message: `the source has a batch of ${placeOf(source)}, the mirror one of ${placeOf(mirror)}` }
  if (there.sizeBytes !== here.sizeBytes)
    return { offset, message: `the batch has ${there.sizeBytes} bytes at the source, ${here.sizeBytes} at the mirror` }
  const what = there.crc === here.crc ? 'other bytes under the same CRC' : `CRC ${hex(there.crc)} and ${hex(here.crc)}`
  return { offset, message: `the batch of ${placeOf(source)} is not the same at source and mirror: ${what}` }
}

const hex = (crc: number): string => crc.toString(16).padStart(8, '0')

export interface RecordComparison {
  readonly difference: Difference | undefined
  /** Records that are the same at both ends. */
  readonly pairs: readonly DecodedRecord[]
  readonly lone: readonly { readonly end: End; readonly record: DecodedRecord }[]
}

/** Of batches with the same offsets, at least one of which a cleaner may have been at. Throws BatchError. */
export function differenceOfRecords(source: ReadBatch, mirror: ReadBatch): RecordComparison {
  const { baseOffset } = source.header
  const differs = (offset: number, message: string) => ({ difference: { offset, message }, pairs: [], lone: [] })
  // A cleaner never changes who wrote a batch, nor of what kind it is.
  if (writerOf(source) !== writerOf(mirror))
    return differs(
      baseOffset,
      `the batch is of ${writerOf(source)} at the source, of ${writerOf(mirror)} at the mirror`,
    )
  if (isControl(source.header)) {
    const [there, here] = [source, mirror].map(({ buffer, header }) => controlRecordsOf(buffer, header)[0]?.type)
    const isSame = there === undefined || here === undefined || there === here
    return isSame ? { difference: undefined, pairs: [], lone: [] } : differs(baseOffset, `a ${there} marker is ${here}`)
  }
  const here = new Map(recordsOf(mirror.buffer, mirror.header).map(record => [record.offset, record]))
  const pairs: DecodedRecord[] = []
  const lone: { end: End; record: DecodedRecord }[] = []
  for (const record of recordsOf(source.buffer, source.header)) {
    const twin = here.get(record.offset)
    here.delete(record.offset)
    if (!twin) lone.push({ end: 'source', record })
    else {
      const what = unequalPart(record, twin)
      if (what !== undefined) return differs(record.offset, `the record's ${what} is another one at the mirror`)
      pairs.push(record)
    }
  }
  for (const record of here.values()) lone.push({ end: 'mirror', record })
  return { difference: undefined, pairs, lone: lone.sort((a, b) => a.record.offset - b.record.offset) }
}

function writerOf({ header }: ReadBatch): string {
  const kind = isControl(header) ? 'markers' : 'records'
  return header.producerId < 0n ? kind : `${kind} of producer ${header.producerId}, epoch ${header.producerEpoch}`
}

function unequalPart(a: DecodedRecord, b: DecodedRecord): string | undefined {
  if (!isSameBytes(a.key, b.key)) return 'key'
  if (!isSameBytes(a.value, b.value)) return 'value'
  if (a.timestamp !== b.timestamp) return 'timestamp'
  const isSame = (header: DecodedRecord['headers'][number], index: number) => {
    const twin = b.headers[index]
    return twin !== undefined && String(twin.key) === String(header.key) && isSameBytes(header.value, twin.value)
  }
  return a.headers.length === b.headers.length && a.headers.every(isSame) ? undefined : 'headers'
}

const isSameBytes = (a: Buffer | null, b: Buffer | null): boolean => (a === null || b === null ? a === b : a.equals(b))
