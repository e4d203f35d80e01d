/** Tests of the way from an image to the records of a snapshot and back. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import {
  decodeMetadataRecord,
  encodeMetadataRecord,
  type MetadataRecord,
  MetadataRecordType as T,
} from '../protocol/metadata-records/registry.ts'
import { plainImage } from './fakes/plain-image.ts'
import { randomRecords } from './fakes/random-records.ts'
import { imageRecords } from './image-records.ts'
import { applyRecords } from './metadata-editor.ts'
import { emptyImage, type MetadataImage } from './metadata-image.ts'

const at = { offset: 7, epoch: 2, controllerId: 1 }

const metadataVersion = (featureLevel: number): MetadataRecord => ({
  type: T.FeatureLevel,
  version: 0,
  value: { name: 'metadata.version', featureLevel },
})

/** The image that the records of a snapshot of `image` give. */
function throughSnapshot(image: MetadataImage): MetadataImage {
  const records = Array.from(imageRecords(image), record => decodeMetadataRecord(encodeMetadataRecord(record)))
  const known = records.flatMap(record => ('unknown' in record ? [] : [record]))
  assert.equal(known.length, records.length)
  return applyRecords(emptyImage(image.clusterId), known, at).image
}

test('an image, as records and back, is the same image', () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 1, max: 80 }), (seed, steps) => {
      const records = [metadataVersion(30), ...randomRecords(seed, steps)]
      const { image } = applyRecords(emptyImage('c'), records, at)
      assert.deepEqual(plainImage(throughSnapshot(image)), plainImage(image))
    }),
  )
})

test('at an old metadata version the records have its versions', () => {
  const records = [metadataVersion(7), ...randomRecords(3, 40)]
  const { image } = applyRecords(emptyImage('c'), records, at)
  const versions = new Map(Array.from(imageRecords(image), record => [record.type, record.version]))
  assert.deepEqual([versions.get(T.RegisterBroker), versions.get(T.Partition)], [1, 0])
  assert.equal(throughSnapshot(image).topics.size, image.topics.size)
})

test('metadata.version comes first, and an empty image has no records', () => {
  const { image } = applyRecords(emptyImage('c'), [...randomRecords(1, 30), metadataVersion(30)], at)
  const [first] = imageRecords(image)
  assert.deepEqual(first, metadataVersion(30))
  assert.deepEqual([...imageRecords(emptyImage('c'))], [])
})
