/** Tests of the commands about partitions, leadership and producer ids as pure decisions. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ZERO_UUID } from '../../core/uuid.ts'
import { partitionOf, topicByName } from '../../metadata/metadata-image.ts'
import { errorName } from '../../protocol/errors.ts'
import { type MetadataRecordInput, MetadataRecordType as T } from '../../protocol/metadata-records/registry.ts'
import { alterPartition, bumpLeaderEpoch } from './alter-partition.ts'
import { createTopics } from './create-topics.ts'
import { after, clusterOf, directoryId, newTopic, ownBroker, topicDefaults, withTopic } from './fakes/cluster-images.ts'
import { allocateProducerIds, skipProducerIdsBelow } from './producer-ids.ts'
import { registerBroker, unfenceBroker } from './register-broker.ts'

test('an ISR change must name the exact leader and partition epoch', () => {
  const image = withTopic('t')
  const topicId = topicByName(image, 't')?.id ?? ZERO_UUID
  const change = (fields: object) => {
    const asked = { topicId, partition: 0, leaderEpoch: 0, partitionEpoch: 0, isr: [1], ...fields }
    const { records, answer } = alterPartition(image, [asked], 1)
    return [errorName(answer[0]?.errorCode ?? -99), records.length]
  }
  assert.deepEqual(change({}), ['NONE', 0])
  assert.deepEqual(change({ leaderEpoch: 1 }), ['NOT_CONTROLLER', 0])
  assert.deepEqual(change({ leaderEpoch: -1 }), ['FENCED_LEADER_EPOCH', 0])
  assert.deepEqual(change({ partitionEpoch: -1 }), ['INVALID_UPDATE_VERSION', 0])
  assert.deepEqual(change({ isr: [1, 2] }), ['INVALID_REQUEST', 0])
  assert.deepEqual(change({ isr: [] }), ['INVALID_REQUEST', 0])
  assert.deepEqual(change({ partition: 9 }), ['UNKNOWN_TOPIC_OR_PARTITION', 0])
  assert.deepEqual(change({ topicId: directoryId }), ['UNKNOWN_TOPIC_ID', 0])
  assert.deepEqual(alterPartition(image, [], 1), { records: [], answer: [] })
})

test('a leader shrinks and grows the ISR of a replicated partition step by step', () => {
  let image = clusterOf(1, 2)
  image = after(image, createTopics(image, [newTopic('t', { replicationFactor: 2 })], topicDefaults).records)
  const topicId = topicByName(image, 't')?.id ?? ZERO_UUID
  const leader = partitionOf(image, topicId, 0)?.leader ?? -1
  const change = (partitionEpoch: number, isr: number[]) => {
    const asked = { topicId, partition: 0, leaderEpoch: 0, partitionEpoch, isr }
    const { records, answer } = alterPartition(image, [asked], leader)
    image = after(image, records)
    const state = partitionOf(image, topicId, 0)
    return [errorName(answer[0]?.errorCode ?? -99), answer[0]?.partitionEpoch, state?.partitionEpoch, state?.isr]
  }
  assert.deepEqual(change(0, [leader]), ['NONE', 1, 1, [leader]])
  assert.deepEqual(change(0, [1, 2]), ['INVALID_UPDATE_VERSION', 0, 1, [leader]])
  assert.deepEqual(change(1, [1, 2]), ['NONE', 2, 2, [1, 2]])
})

test('a fenced broker cannot join an ISR', () => {
  let image = clusterOf(1, 2)
  image = after(image, createTopics(image, [newTopic('t', { replicationFactor: 2 })], topicDefaults).records)
  const topicId = topicByName(image, 't')?.id ?? ZERO_UUID
  const leader = partitionOf(image, topicId, 0)?.leader ?? -1
  const shrink = { topicId, partition: 0, leaderEpoch: 0, partitionEpoch: 0, isr: [leader] }
  image = after(image, alterPartition(image, [shrink], leader).records)
  image = after(image, registerBroker(image, { ...ownBroker, id: 3 - leader }, 50).records)
  const { answer } = alterPartition(image, [{ ...shrink, partitionEpoch: 1, isr: [1, 2] }], leader)
  assert.equal(errorName(answer[0]?.errorCode ?? -99), 'INELIGIBLE_REPLICA')
})

test('a bumped leader epoch keeps the leader', () => {
  const image = withTopic('t')
  const topicId = topicByName(image, 't')?.id ?? ZERO_UUID
  const { records, answer } = bumpLeaderEpoch(image, topicId, 0)
  assert.deepEqual(answer, { leaderEpoch: 1 })
  const state = partitionOf(after(image, records), topicId, 0)
  assert.deepEqual([state?.leader, state?.leaderEpoch, state?.isr], [1, 1, [1]])
  assert.equal(bumpLeaderEpoch(image, topicId, 5).answer, undefined)
})

test('producer ids come in blocks of 1000, and never below the barrier', () => {
  let image = clusterOf(1)
  const allocate = () => {
    const { records, answer } = allocateProducerIds(image, 1)
    image = after(image, records)
    return answer
  }
  assert.deepEqual(allocate(), { firstId: 0n, length: 1000 })
  assert.deepEqual(allocate(), { firstId: 1000n, length: 1000 })
  assert.equal(skipProducerIdsBelow(image, 1, 1999n).records.length, 0)
  image = after(image, skipProducerIdsBelow(image, 1, 5_000_000_000n).records)
  assert.deepEqual(allocate(), { firstId: 5_000_000_001n, length: 1000 })
  image = after(image, skipProducerIdsBelow(image, 1, 0x7fff_ffff_ffff_fff0n).records)
  assert.equal(allocate(), undefined)
})

test('a new incarnation starts new leader epochs, the same incarnation with other listeners does not', () => {
  const image = withTopic('t')
  const topicId = topicByName(image, 't')?.id ?? ZERO_UUID
  const restart = (newIncarnation: boolean) => {
    const registered = after(image, registerBroker(image, ownBroker, 99).records)
    assert.equal(registered.brokers.get(1)?.fenced, true)
    const next = after(registered, unfenceBroker(registered, 1, newIncarnation).records)
    assert.deepEqual([next.brokers.get(1)?.fenced, next.brokers.get(1)?.epoch], [false, 99])
    return partitionOf(next, topicId, 0)?.leaderEpoch
  }
  assert.equal(restart(true), 1)
  assert.equal(restart(false), 0)
})

test('a partition that a Kafka node left without leader in its ELR is led again', () => {
  const created = withTopic('t')
  const topicId = topicByName(created, 't')?.id ?? ZERO_UUID
  const shutDown: MetadataRecordInput = {
    type: T.PartitionChange,
    version: 2,
    value: { topicId, partitionId: 0, isr: [], leader: -1, eligibleLeaderReplicas: [1], lastKnownElr: [1] },
  }
  const image = after(created, [shutDown])
  const next = after(image, unfenceBroker(image, 1, true).records)
  const state = partitionOf(next, topicId, 0)
  assert.deepEqual([state?.leader, state?.isr, state?.eligibleLeaderReplicas, state?.lastKnownElr], [1, [1], [], []])
})
