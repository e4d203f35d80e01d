/** Tests of replaying metadata bytes and of the order in which images are published. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { type Logger, silentLogger } from '../core/logger.ts'
import { plainImage } from '../metadata/fakes/plain-image.ts'
import { randomRecords } from '../metadata/fakes/random-records.ts'
import { applyRecords } from '../metadata/metadata-editor.ts'
import { emptyImage } from '../metadata/metadata-image.ts'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { type MetadataRecordInput, MetadataRecordType as T } from '../protocol/metadata-records/registry.ts'
import { LeaderChangeMessage } from '../protocol/raft-records/leader-change.ts'
import {
  atomicBatches,
  metadataBatch,
  metadataBatchesIn,
  RaftControlType,
  raftControlBatch,
} from './metadata-batches.ts'
import { ReplayLoop } from './replay-loop.ts'

const newLoop = (logger: Logger = silentLogger) => new ReplayLoop({ clusterId: 'c', logger })
const at = (baseOffset: number) => ({ timestamp: 5n, baseOffset, leaderEpoch: 3 })
const feature = (name: string): MetadataRecordInput => ({
  type: T.FeatureLevel,
  version: 0,
  value: { name, featureLevel: 1 },
})

test('subscribers get each image one after the other, in the order of their registration', async () => {
  const loop = newLoop()
  const calls: string[] = []
  const subscriber = (name: string) => ({
    name,
    onImage: async () => {
      calls.push(`${name} begins`)
      await new Promise<void>(resolve => setImmediate(resolve))
      calls.push(`${name} ends`)
    },
  })
  await loop.subscribe(subscriber('replica'))
  await loop.subscribe(subscriber('broker'))
  calls.length = 0
  loop.replay(metadataBatch([feature('f')], at(0)))
  assert.equal(loop.image.offset, -1)
  await loop.publish()
  assert.deepEqual(calls, ['replica begins', 'replica ends', 'broker begins', 'broker ends'])
  assert.deepEqual([loop.image.offset, loop.image.epoch], [0, 3])
})

test('a subscriber that fails is logged and does not stop the next one', async () => {
  const errors: string[] = []
  const loop = newLoop({ ...silentLogger, error: (_, fields) => errors.push(String(fields?.['reason'])) })
  let seen = 0
  await loop.subscribe({ name: 'a', onImage: () => Promise.reject(new Error('no space')) })
  await loop.subscribe({ name: 'b', onImage: () => void seen++ })
  loop.replay(metadataBatch([feature('f')], at(0)))
  await loop.publish()
  assert.deepEqual([seen, errors], [2, ['no space', 'no space']])
})

test('a leader change names controller and epoch, and nothing new means nothing published', async () => {
  const loop = newLoop()
  let published = 0
  await loop.subscribe({ name: 'a', onImage: () => void published++ })
  const value = LeaderChangeMessage.encode({ version: 0, leaderId: 7, voters: [], grantingVoters: [] }, 0)
  loop.replay(raftControlBatch([[RaftControlType.LEADER_CHANGE, value]], at(0)))
  await loop.publish()
  await loop.publish()
  assert.deepEqual([loop.image.controllerId, loop.image.epoch, published], [7, 3, 2])
})

test('nothing is published while a metadata transaction is open', async () => {
  const loop = newLoop()
  const begin: MetadataRecordInput = { type: T.BeginTransaction, version: 0, value: {} }
  const end: MetadataRecordInput = { type: T.EndTransaction, version: 0, value: {} }
  loop.replay(metadataBatch([begin, feature('f')], at(0)))
  await loop.publish()
  assert.deepEqual([loop.inTransaction, loop.image.offset], [true, -1])
  loop.replay(metadataBatch([end], at(2)))
  await loop.publish()
  assert.deepEqual([loop.inTransaction, loop.image.offset, loop.image.features.get('f')], [false, 2, 1])
})

test('records of a newer Kafka are skipped and told once', async () => {
  const warnings: unknown[] = []
  const loop = newLoop({ ...silentLogger, warn: (_, fields) => warnings.push(fields) })
  const unknown = { timestamp: 5n, key: null, value: Buffer.from([1, 99, 0, 1, 2, 3]) }
  loop.replay(buildBatch({ ...at(0), records: [unknown, unknown] }))
  loop.replay(metadataBatch([feature('f')], at(2)))
  await loop.publish()
  assert.equal(loop.image.features.get('f'), 1)
  assert.deepEqual(warnings, [{ type: 99, version: 0 }])
})

test('a batch that is not complete is left alone', async () => {
  const loop = newLoop()
  const batch = metadataBatch([feature('f')], at(0))
  loop.replay(Buffer.concat([batch, metadataBatch([feature('g')], at(1)).subarray(0, 50)]))
  await loop.publish()
  assert.equal(loop.image.offset, 0)
})

test('records too many for one batch become a metadata transaction of several', async () => {
  const records = Array.from({ length: 100 }, (_, i) => feature(`feature-${i}`))
  const bytes = Buffer.concat(atomicBatches(records, at(10), 500))
  const batches = [...metadataBatchesIn(bytes)]
  assert.ok(batches.length > 3)
  assert.equal(batches.at(-1)?.lastOffset, 10 + 100 + 2 - 1)
  assert.deepEqual(
    [batches[0]?.records[0], batches.at(-1)?.records.at(-1)].map(record => record?.type),
    [T.BeginTransaction, T.EndTransaction],
  )
  const loop = newLoop()
  loop.replay(bytes)
  await loop.publish()
  assert.equal(loop.image.features.size, 100)
  assert.equal([...metadataBatchesIn(Buffer.concat(atomicBatches(records, at(0), 1_000_000)))].length, 1)
})

test('replaying encoded batches gives the image that the records alone give', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer(), fc.integer({ min: 1, max: 40 }), async (seed, steps) => {
      const records = randomRecords(seed, steps)
      const loop = newLoop()
      loop.replay(Buffer.concat(atomicBatches(records, at(0), 300)))
      await loop.publish()
      const { offset, epoch, controllerId } = loop.image
      const { image } = applyRecords(emptyImage('c'), records, { offset, epoch, controllerId })
      assert.deepEqual(plainImage(loop.image), plainImage(image))
    }),
  )
})
