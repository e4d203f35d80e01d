/** Frame of the records in `__cluster_metadata` and its snapshots; used by the metadata image, the controllers and log dumps. */
import { EncodeError } from '../schema/codec-errors.ts'
import type { Infer, Input, Message } from '../schema/message.ts'
import { Reader } from '../schema/reader.ts'
import { Writer } from '../schema/writer.ts'
import { MetadataRecordType, metadataRecordTables } from './record-list.ts'

export { MetadataRecordType }

/** Version of the frame around type, version and body. */
const FRAME_VERSION = 1

type Tables = typeof metadataRecordTables

/** A decoded metadata record; `switch` on `type` with MetadataRecordType tells the type of `value`. */
export type MetadataRecord = {
  [K in keyof Tables]: { readonly type: K; readonly version: number; readonly value: Infer<Tables[K]> }
}[keyof Tables]

/** A metadata record to write, in the version of its type that the metadata version asks for. */
export type MetadataRecordInput = {
  [K in keyof Tables]: { readonly type: K; readonly version: number; readonly value: Input<Tables[K]> }
}[keyof Tables]

/** A record of a type or version that this release does not know. */
export interface UnknownMetadataRecord {
  readonly type: number
  readonly version: number
  readonly unknown: true
}

const tables: Readonly<Record<number, Message<unknown, unknown>>> = metadataRecordTables

/** The value bytes of the record. Throws EncodeError. */
export function encodeMetadataRecord(record: MetadataRecordInput): Buffer {
  const table = tables[record.type]
  if (!table) throw new EncodeError('unsupported-version', `there is no metadata record type ${record.type}`)
  const writer = new Writer()
  writer.uvarint(FRAME_VERSION)
  writer.uvarint(record.type)
  writer.uvarint(record.version)
  table.write(writer, record.value, record.version)
  return writer.toBuffer()
}

/** Reads the value bytes of a record. Throws DecodeError for bytes that are not a metadata record. */
export function decodeMetadataRecord(buffer: Buffer): MetadataRecord | UnknownMetadataRecord {
  const reader = new Reader(buffer)
  const frameVersion = reader.uvarint()
  if (frameVersion !== FRAME_VERSION) throw reader.failure('malformed', `frame version ${frameVersion}`)
  const type = reader.uvarint()
  const version = reader.uvarint()
  const table = tables[type]
  if (!table || version < table.versions.min || version > table.versions.max) return { type, version, unknown: true }
  const value = table.read(reader, version)
  reader.expectEnd()
  return { type, version, value } as MetadataRecord
}
