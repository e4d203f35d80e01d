/** Frame of the records in `__consumer_offsets`, `__transaction_state` and `__share_group_state`; used by coordinators and log dumps. */
import type { Message } from '../schema/message.ts'
import { Reader } from '../schema/reader.ts'
import { Writer } from '../schema/writer.ts'
import { groupRecordList, shareRecordList, transactionRecordList } from './record-list.ts'

/** Which coordinator's topic the record is in. */
export type CoordinatorFamily = 'group' | 'transaction' | 'share'

interface RecordTables {
  readonly key: Message<unknown, unknown>
  readonly value: Message<unknown, unknown>
}

const families: Readonly<Record<CoordinatorFamily, readonly RecordTables[]>> = {
  group: groupRecordList,
  transaction: transactionRecordList,
  share: shareRecordList,
}

/** A decoded record; `name` is the record type without `Key`. `value` is null for a tombstone. */
export interface CoordinatorRecord {
  readonly name: string
  readonly type: number
  readonly key: unknown
  /** Version of the value, −1 for a tombstone. */
  readonly valueVersion: number
  readonly value: unknown
}

/** The key bytes of a record: its type, then the key (keys have one version). Throws EncodeError. */
export function encodeRecordKey<I>(table: Message<unknown, I>, key: I): Buffer {
  const writer = new Writer()
  writer.int16(table.apiKey)
  table.write(writer, key, 0)
  return writer.toBuffer()
}

/** The value bytes of a record: version, then value. Throws EncodeError. */
export function encodeRecordValue<I>(table: Message<unknown, I>, value: I, version: number): Buffer {
  const writer = new Writer()
  writer.int16(version)
  table.write(writer, value, version)
  return writer.toBuffer()
}

/** The value behind the version in front of it. Throws DecodeError, also for versions the table does not have. */
export function decodeRecordValue<T>(table: Message<T, never>, buffer: Buffer): { version: number; value: T } {
  const reader = new Reader(buffer)
  const version = reader.int16()
  const value = table.read(reader, version)
  reader.expectEnd()
  return { version, value }
}

/** Reads a record of a coordinator's topic; undefined for a record type this release does not know. Throws DecodeError. */
export function decodeCoordinatorRecord(
  family: CoordinatorFamily,
  keyBytes: Buffer,
  valueBytes: Buffer | null,
): CoordinatorRecord | undefined {
  const reader = new Reader(keyBytes)
  const type = reader.int16()
  const tables = families[family].find(({ key }) => key.apiKey === type)
  if (!tables) return undefined
  const key = tables.key.read(reader, 0)
  reader.expectEnd()
  const name = tables.key.name.replace(/Key$/, '')
  if (valueBytes === null) return { name, type, key, valueVersion: -1, value: null }
  const { version, value } = decodeRecordValue(tables.value, valueBytes)
  return { name, type, key, valueVersion: version, value }
}
