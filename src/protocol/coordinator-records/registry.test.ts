/** The frame of coordinator records. */
import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { OffsetCommitKey, OffsetCommitValue } from './group-01-offset-commit.ts'
import { decodeCoordinatorRecord, decodeRecordValue, encodeRecordKey, encodeRecordValue } from './registry.ts'

const key = { group: 'g', topic: 't', partition: 3 }
const value = { offset: 7n, metadata: 'm', commitTimestamp: 12n }

test('a key starts with its record type, a value with its version', () => {
  const keyBytes = encodeRecordKey(OffsetCommitKey, key)
  const valueBytes = encodeRecordValue(OffsetCommitValue, value, 3)
  strictEqual(keyBytes.readInt16BE(0), 1)
  strictEqual(valueBytes.readInt16BE(0), 3)
  const decoded = decodeRecordValue(OffsetCommitValue, valueBytes)
  strictEqual(decoded.value.offset, 7n)
  deepStrictEqual(decodeCoordinatorRecord('group', keyBytes, valueBytes), {
    name: 'OffsetCommit',
    type: 1,
    key,
    valueVersion: 3,
    value: decoded.value,
  })
})

test('a tombstone has no value, an unknown record type no record', () => {
  strictEqual(decodeCoordinatorRecord('group', encodeRecordKey(OffsetCommitKey, key), null)?.value, null)
  strictEqual(decodeCoordinatorRecord('group', Buffer.from('7fff00', 'hex'), null), undefined)
})

test('a value of a later version is refused', () => {
  throws(() => decodeRecordValue(OffsetCommitValue, Buffer.from('7fff00', 'hex')), {
    name: 'DecodeError',
    kind: 'unsupported-version',
  })
})
