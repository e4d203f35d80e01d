/** The frame of metadata records. */
import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { randomUuid } from '../../core/uuid.ts'
import { decodeMetadataRecord, encodeMetadataRecord, MetadataRecordType } from './registry.ts'

test('a record is framed by frame version, type and version', () => {
  const topicId = randomUuid()
  const bytes = encodeMetadataRecord({ type: MetadataRecordType.Topic, version: 0, value: { name: 'orders', topicId } })
  strictEqual(bytes.subarray(0, 3).toString('hex'), '010200')
  deepStrictEqual(decodeMetadataRecord(bytes), { type: 2, version: 0, value: { name: 'orders', topicId } })
})

test('a decoded record narrows by its type', () => {
  const bytes = encodeMetadataRecord({ type: 12, version: 0, value: { name: 'metadata.version', featureLevel: 30 } })
  const record = decodeMetadataRecord(bytes)
  if ('unknown' in record || record.type !== MetadataRecordType.FeatureLevel) throw new Error('not a FeatureLevel')
  strictEqual(record.value.featureLevel, 30)
})

test('a type or version of a later Kafka is reported as unknown', () => {
  deepStrictEqual(decodeMetadataRecord(Buffer.from('01c80100ff', 'hex')), { type: 200, version: 0, unknown: true })
  deepStrictEqual(decodeMetadataRecord(Buffer.from('010209ff', 'hex')), { type: 2, version: 9, unknown: true })
})

test('another frame and bytes too many are refused', () => {
  throws(() => decodeMetadataRecord(Buffer.from('020200', 'hex')), { name: 'DecodeError', kind: 'malformed' })
  throws(() => decodeMetadataRecord(Buffer.from('0114000000', 'hex')), { name: 'DecodeError', kind: 'trailing' })
})
