/** Tests of the bytes of metadata snapshots: their form, and that damaged ones are told. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type MetadataRecordInput, MetadataRecordType as T } from '../protocol/metadata-records/registry.ts'
import { RaftControlType } from './metadata-batches.ts'
import { readSnapshot, SnapshotDamaged, snapshotBatches } from './snapshot-batches.ts'

const features = (count: number): MetadataRecordInput[] =>
  Array.from({ length: count }, (_, i) => ({
    type: T.FeatureLevel,
    version: 0,
    value: { name: `feature-${i}`, featureLevel: 1 },
  }))

const frame = { epoch: 3, timestamp: 500n, lastContainedTimestamp: 400n }

test('a snapshot is a header, batches of 1024 records, and a footer, with offsets from 0', () => {
  const { batches, lastContainedTimestamp } = readSnapshot(Buffer.concat([...snapshotBatches(features(1500), frame)]))
  assert.deepEqual(
    batches.map(({ lastOffset, epoch, records, controls }) => [
      lastOffset,
      epoch,
      records.length,
      controls.map(control => control.type),
    ]),
    [
      [0, 3, 0, ['snapshot-header']],
      [1024, 3, 1024, []],
      [1500, 3, 476, []],
      [1501, 3, 0, ['snapshot-footer']],
    ],
  )
  assert.equal(lastContainedTimestamp, 400n)
})

test('the records of a quorum with changeable voters stand behind the header', () => {
  const quorum = [
    [RaftControlType.KRAFT_VERSION, Buffer.from([0, 0, 0, 1, 0])],
    [RaftControlType.KRAFT_VOTERS, Buffer.from([0, 0, 1, 0])],
  ] as const
  const [first, second] = readSnapshot(Buffer.concat([...snapshotBatches(features(1), { ...frame, quorum })])).batches
  assert.deepEqual(
    first?.controls.map(control => control.type),
    ['snapshot-header', 'kraft-version', 'kraft-voters'],
  )
  assert.equal(second?.lastOffset, 3)
})

test('a snapshot that is cut anywhere or changed anywhere is refused', () => {
  const whole = Buffer.concat([...snapshotBatches(features(3), frame)])
  for (let length = 0; length < whole.length; length++)
    assert.throws(() => readSnapshot(whole.subarray(0, length)), SnapshotDamaged, `${length} bytes`)
  for (let at = 16; at < whole.length; at++) {
    const changed = Buffer.from(whole)
    changed[at] = (changed[at] ?? 0) ^ 0x55
    if (isOutsideCrc(whole, at)) continue
    assert.throws(() => readSnapshot(changed), `byte ${at}`)
  }
})

/** Base offset, length and leader epoch of a batch are not under its CRC. */
function isOutsideCrc(bytes: Buffer, at: number): boolean {
  let start = 0
  while (start + 12 + bytes.readInt32BE(start + 8) <= at) start += 12 + bytes.readInt32BE(start + 8)
  return at - start < 16
}
