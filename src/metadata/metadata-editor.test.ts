/** Tests of building images from records: rules of single record types, and properties over random record sequences. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import type { Uuid } from '../core/uuid.ts'
import { type MetadataRecord, MetadataRecordType as T } from '../protocol/metadata-records/registry.ts'
import { plainImage } from './fakes/plain-image.ts'
import { randomRecords } from './fakes/random-records.ts'
import { wholeImageDelta } from './metadata-delta.ts'
import { applyRecords, type LogPosition, MetadataEditor } from './metadata-editor.ts'
import { configOverrides, emptyImage, type MetadataImage, partitionOf, topicByName } from './metadata-image.ts'
import { MetadataTransactions } from './metadata-transactions.ts'
import { MetadataReplayError } from './replay-error.ts'

const at = (offset: number): LogPosition => ({ offset, epoch: 1, controllerId: 1 })
const empty = emptyImage('cluster')
const id = 'AQAAAAAAAAAAAAAAAAAAAA' as Uuid

const topic = (name: string, topicId = id): MetadataRecord => ({ type: T.Topic, version: 0, value: { name, topicId } })

const partition = (partitionId: number): MetadataRecord => ({
  type: T.Partition,
  version: 2,
  value: {
    partitionId,
    topicId: id,
    replicas: [1, 2],
    isr: [1, 2],
    removingReplicas: [],
    addingReplicas: [],
    leader: 1,
    leaderRecoveryState: 0,
    leaderEpoch: 5,
    partitionEpoch: 7,
    directories: [],
    eligibleLeaderReplicas: null,
    lastKnownElr: null,
  },
})

const change = (fields: { isr?: number[]; leader?: number; eligibleLeaderReplicas?: number[] }): MetadataRecord => ({
  type: T.PartitionChange,
  version: 2,
  value: {
    partitionId: 0,
    topicId: id,
    isr: null,
    leader: -2,
    replicas: null,
    removingReplicas: null,
    addingReplicas: null,
    leaderRecoveryState: -1,
    directories: null,
    eligibleLeaderReplicas: null,
    lastKnownElr: null,
    ...fields,
  },
})

const config = (name: string, value: string | null): MetadataRecord => ({
  type: T.Config,
  version: 0,
  value: { resourceType: 2, resourceName: 'a', name, value },
})

test('every change of a partition raises its partition epoch, and naming a leader, even the same, its leader epoch', () => {
  const created = applyRecords(empty, [topic('a'), partition(0)], at(2)).image
  const epochs = (image: MetadataImage) => {
    const found = partitionOf(image, id, 0)
    return [found?.leader, found?.leaderEpoch, found?.partitionEpoch]
  }
  assert.deepEqual(epochs(created), [1, 5, 7])
  const shrunk = applyRecords(created, [change({ isr: [1] })], at(3)).image
  assert.deepEqual(epochs(shrunk), [1, 5, 8])
  const sameLeader = applyRecords(shrunk, [change({ leader: 1 })], at(4)).image
  assert.deepEqual(epochs(sameLeader), [1, 6, 9])
  assert.deepEqual(epochs(created), [1, 5, 7])
})

test('a deleted topic takes its configs along, and its name can be used again', () => {
  const before = applyRecords(empty, [topic('a'), partition(0), config('retention.ms', '5')], at(2)).image
  assert.equal(configOverrides(before, { type: 2, name: 'a' }).get('retention.ms'), '5')
  const other = 'AgAAAAAAAAAAAAAAAAAAAA' as Uuid
  const remove: MetadataRecord = { type: T.RemoveTopic, version: 0, value: { topicId: id } }
  const { image, delta } = applyRecords(before, [remove, topic('a', other)], at(4))
  assert.equal(topicByName(image, 'a')?.id, other)
  assert.equal(configOverrides(image, { type: 2, name: 'a' }).size, 0)
  assert.equal(image.configs.size, 0)
  assert.deepEqual([...delta.deletedTopics.keys()], [id])
  assert.deepEqual([...delta.changedTopics.keys()], [other])
})

test('a topic that is created and deleted in one step is in no delta', () => {
  const remove: MetadataRecord = { type: T.RemoveTopic, version: 0, value: { topicId: id } }
  const { image, delta } = applyRecords(empty, [topic('a'), partition(0), remove], at(3))
  assert.equal(image.topics.size, 0)
  assert.equal(delta.changedTopics.size + delta.deletedTopics.size, 0)
})

test('partitions may arrive in any order, but a topic with a hole is an error', () => {
  const { image, delta } = applyRecords(empty, [topic('a'), partition(1), partition(0)], at(3))
  assert.equal(image.topics.get(id)?.partitions.length, 2)
  assert.deepEqual(delta.changedTopics.get(id)?.partitions, [0, 1])
  assert.throws(() => applyRecords(empty, [topic('a'), partition(1)], at(3)), MetadataReplayError)
})

test('clearing the ELR of all topics touches only those that have one', () => {
  const base = applyRecords(empty, [topic('a'), partition(0), partition(1)], at(3)).image
  const withElr = applyRecords(base, [change({ isr: [1], eligibleLeaderReplicas: [2] })], at(4)).image
  assert.deepEqual(partitionOf(withElr, id, 0)?.eligibleLeaderReplicas, [2])
  const clear: MetadataRecord = { type: T.ClearElr, version: 0, value: { topicName: '' } }
  const { image, delta } = applyRecords(withElr, [clear], at(5))
  assert.deepEqual(partitionOf(image, id, 0)?.eligibleLeaderReplicas, [])
  assert.deepEqual(delta.changedTopics.get(id)?.partitions, [0])
  assert.equal(applyRecords(image, [clear], at(6)).delta.changedTopics.size, 0)
})

test('records that contradict the image are refused with a typed error', () => {
  const base = applyRecords(empty, [topic('a'), partition(0)], at(2)).image
  const wrong: MetadataRecord[] = [
    topic('a'),
    topic('a', 'AgAAAAAAAAAAAAAAAAAAAA' as Uuid),
    { type: T.RemoveTopic, version: 0, value: { topicId: 'AgAAAAAAAAAAAAAAAAAAAA' as Uuid } },
    { type: T.UnregisterBroker, version: 0, value: { brokerId: 9, brokerEpoch: 1n } },
    { type: T.ClearElr, version: 0, value: { topicName: 'b' } },
  ]
  for (const record of wrong) assert.throws(() => applyRecords(base, [record], at(3)), MetadataReplayError)
})

test('records of a metadata transaction take effect when it ends, and never if it is aborted', () => {
  const transactions = new MetadataTransactions()
  const begin: MetadataRecord = { type: T.BeginTransaction, version: 0, value: { name: null } }
  const end: MetadataRecord = { type: T.EndTransaction, version: 0, value: {} }
  const abort: MetadataRecord = { type: T.AbortTransaction, version: 0, value: { reason: null } }
  assert.deepEqual(transactions.push(topic('a')), [topic('a')])
  assert.deepEqual(transactions.push(begin), [])
  assert.deepEqual(transactions.push(topic('b')), [])
  assert.equal(transactions.isOpen, true)
  assert.deepEqual(transactions.push(end), [topic('b')])
  transactions.push(begin)
  transactions.push(topic('c'))
  assert.deepEqual(transactions.push(abort), [])
  assert.equal(transactions.isOpen, false)
  assert.throws(() => transactions.push(end), MetadataReplayError)
})

const sequence = fc.record({ seed: fc.integer(), steps: fc.integer({ min: 1, max: 60 }) })

test('records applied one by one give the same image as all in one step', () => {
  fc.assert(
    fc.property(sequence, ({ seed, steps }) => {
      const records = randomRecords(seed, steps)
      let image = applyRecords(empty, [], at(records.length)).image
      // A topic is complete only with its last partition record, so a step ends before the next topic record at the earliest.
      for (const group of topicWise(records)) image = applyRecords(image, group, at(records.length)).image
      const atOnce = applyRecords(empty, records, at(records.length)).image
      assert.deepEqual(plainImage(image), plainImage(atOnce))
    }),
  )
})

test('a delta names exactly what differs between the two images, and the image before is untouched', () => {
  fc.assert(
    fc.property(sequence, fc.double({ min: 0, max: 1, noNaN: true }), ({ seed, steps }, share) => {
      const groups = topicWise(randomRecords(seed, steps))
      const cut = Math.floor(groups.length * share)
      const before = applyRecords(empty, groups.slice(0, cut).flat(), at(1)).image
      const plainBefore = plainImage(before)
      const { image: after, delta } = applyRecords(before, groups.slice(cut).flat(), at(2))
      assert.deepEqual(plainImage(before), plainBefore)
      assert.deepEqual([...delta.deletedTopics.keys()].sort(), missing(before, after).sort())
      assert.deepEqual([...missing(after, before)].sort(), created(delta.changedTopics).sort())
      for (const { id: topicId } of after.topics.values()) {
        const changed = delta.changedTopics.get(topicId)?.partitions ?? []
        const old = before.topics.get(topicId)?.partitions ?? []
        for (const [index, state] of (after.topics.get(topicId)?.partitions ?? []).entries())
          if (!changed.includes(index)) assert.ok(isDeepStrictEqual(state, old[index]))
      }
      for (const [key, values] of after.configs)
        if (!isDeepStrictEqual(values, before.configs.get(key)))
          assert.ok(delta.changedConfigs.some(({ type, name }) => `${type}:${name}` === key))
    }),
  )
})

test('the delta of a whole image names everything in it', () => {
  const image = applyRecords(empty, [topic('a'), partition(0), partition(1), config('x', 'y')], at(4)).image
  const delta = wholeImageDelta(image)
  assert.equal(delta.fromOffset, -1)
  assert.deepEqual(delta.changedTopics.get(id)?.partitions, [0, 1])
  assert.deepEqual(delta.changedConfigs, [{ type: 2, name: 'a' }])
})

test('10 000 topics can be created, and one partition changed, without copying them all', () => {
  const editor = new MetadataEditor(empty)
  const ids: Uuid[] = []
  for (let i = 0; i < 10_000; i++) {
    const topicId = Buffer.from(i.toString().padStart(16, '0')).toString('base64url') as Uuid
    ids.push(topicId)
    editor.apply(topic(`t-${i}`, topicId))
    const record = partition(0)
    if (record.type === T.Partition) editor.apply({ ...record, value: { ...record.value, topicId } })
  }
  const base = editor.finish(at(20_000)).image
  assert.equal(base.topics.size, 10_000)
  let image = base
  for (const topicId of ids.slice(0, 1_000)) {
    const record = change({ leader: 2 })
    if (record.type === T.PartitionChange)
      image = applyRecords(image, [{ ...record, value: { ...record.value, topicId } }], at(1)).image
  }
  assert.equal([...image.topics.values()].filter(found => found.partitions[0]?.leader === 2).length, 1_000)
})

function topicWise(records: readonly MetadataRecord[]): MetadataRecord[][] {
  const groups: MetadataRecord[][] = []
  for (const record of records) {
    if (record.type !== T.Partition || groups.length === 0) groups.push([])
    groups.at(-1)?.push(record)
  }
  return groups
}

const missing = (from: MetadataImage, there: MetadataImage): Uuid[] =>
  [...from.topics.keys()].filter(key => !there.topics.has(key))

const created = (changed: ReadonlyMap<Uuid, { before: unknown }>): Uuid[] =>
  [...changed].filter(([, delta]) => delta.before === undefined).map(([key]) => key)
