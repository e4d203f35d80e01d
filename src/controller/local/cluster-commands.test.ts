/** Tests of administrators' commands as pure decisions; codes were read from a real Kafka 4.3.1 node. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { UpgradeType } from '../../metadata/cluster-commands.ts'
import { configOverrides, type MetadataImage, partitionOf, topicByName } from '../../metadata/metadata-image.ts'
import { errorName } from '../../protocol/errors.ts'
import { MetadataRecordType as T } from '../../protocol/metadata-records/registry.ts'
import { alterConfigs } from './alter-configs.ts'
import { electLeaders, uncleanElections } from './elect-leaders.ts'
import { after, clusterOf, withTopic } from './fakes/cluster-images.ts'
import { reassignPartitions } from './reassign-partitions.ts'
import { updateFeatures } from './update-features.ts'

const own = { nodeId: 1, serverProperties: new Map<string, string>() }

/** Topic t as a cluster of two left it: broker 2, the last in sync, is gone. */
function orphaned(): MetadataImage {
  const image = withTopic('t')
  const topicId = topicByName(image, 't')?.id
  if (topicId === undefined) throw new Error('no topic')
  const value = { topicId, partitionId: 0, replicas: [2, 1], isr: [2], leader: -1 }
  return after(image, [{ type: T.PartitionChange, version: 2, value }])
}

const stateOf = (image: MetadataImage) => {
  const topic = topicByName(image, 't')
  const state = topic && partitionOf(image, topic.id, 0)
  return [state?.leader, state?.isr]
}

test('a partition that has a leader needs no election, and one that is not there has none', () => {
  const image = withTopic('t')
  const asked = [
    { topic: 't', partition: 0 },
    { topic: 't', partition: 7 },
    { topic: 'u', partition: 0 },
  ]
  for (const type of ['preferred', 'unclean'] as const) {
    const { records, answer } = electLeaders(image, type, asked)
    deepStrictEqual(
      [records.length, ...answer.map(({ errorCode }) => errorName(errorCode))],
      [0, 'ELECTION_NOT_NEEDED', 'UNKNOWN_TOPIC_OR_PARTITION', 'UNKNOWN_TOPIC_OR_PARTITION'],
    )
    deepStrictEqual(electLeaders(image, type, null).answer, [])
  }
})

test('only an unclean election gives a replica the lead that is not in sync', () => {
  const image = orphaned()
  const preferred = electLeaders(image, 'preferred', null)
  deepStrictEqual(
    preferred.answer.map(({ errorCode }) => errorName(errorCode)),
    ['PREFERRED_LEADER_NOT_AVAILABLE'],
  )
  const unclean = electLeaders(image, 'unclean', [{ topic: 't', partition: 0 }])
  strictEqual(unclean.answer[0]?.errorCode, 0)
  deepStrictEqual(stateOf(after(image, unclean.records)), [1, [1]])
})

test('unclean.leader.election.enable elects a leader for partitions that lack one', () => {
  const image = orphaned()
  strictEqual(uncleanElections(image, own).records.length, 0)
  const changes = [{ key: 'unclean.leader.election.enable', operation: 'set' as const, value: 'true' }]
  const enabled = alterConfigs(image, [{ resource: { type: 2, name: 't' }, changes }], () => '')
  const next = after(image, enabled.records)
  deepStrictEqual(stateOf(after(next, uncleanElections(next, own).records)), [1, [1]])
})

test('a reassignment is accepted where it changes nothing', () => {
  const image = withTopic('t')
  const verdict = (replicas: readonly number[] | null, partition = 0) =>
    errorName(reassignPartitions(image, [{ topic: 't', partition, replicas }])[0]?.errorCode ?? -1)
  deepStrictEqual(
    [verdict([1]), verdict([2]), verdict([1, 1]), verdict([])],
    ['NONE', 'INVALID_REPLICA_ASSIGNMENT', 'INVALID_REPLICA_ASSIGNMENT', 'INVALID_REPLICA_ASSIGNMENT'],
  )
  deepStrictEqual([verdict(null), verdict([1], 5)], ['NO_REASSIGNMENT_IN_PROGRESS', 'UNKNOWN_TOPIC_OR_PARTITION'])
})

test('features move within what this node supports, down only when asked to', () => {
  const image = clusterOf(1)
  const update = (feature: string, level: number, upgradeType: UpgradeType = 'upgrade') => {
    const { records, answer } = updateFeatures(image, [{ feature, level, upgradeType }], own)
    return [errorName(answer.errorCode), records.length]
  }
  deepStrictEqual(update('transaction.version', 2), ['NONE', 1])
  deepStrictEqual(update('transaction.version', 3), ['INVALID_UPDATE_VERSION', 0])
  deepStrictEqual(update('metadata.version', 29, 'safe-downgrade'), ['INVALID_UPDATE_VERSION', 0])
  deepStrictEqual(update('metadata.version', 30), ['NONE', 0])
  deepStrictEqual(update('nonsense', 1), ['INVALID_UPDATE_VERSION', 0])
  deepStrictEqual(update('kraft.version', 1), ['INVALID_UPDATE_VERSION', 0])
  deepStrictEqual(update('eligible.leader.replicas.version', 0), ['INVALID_UPDATE_VERSION', 0])
  deepStrictEqual(update('eligible.leader.replicas.version', 0, 'safe-downgrade'), ['NONE', 2])
  const none = updateFeatures(
    image,
    [
      { feature: 'group.version', level: 1, upgradeType: 'upgrade' },
      { feature: 'group.versions', level: 1, upgradeType: 'upgrade' },
    ],
    own,
  )
  strictEqual(none.records.length, 0)
})

test('a metadata.version goes down where the levels between brought no new records', () => {
  const image = after(clusterOf(1), [
    { type: T.FeatureLevel, version: 0, value: { name: 'metadata.version', featureLevel: 29 } },
  ])
  const down = (level: number) =>
    errorName(
      updateFeatures(image, [{ feature: 'metadata.version', level, upgradeType: 'safe-downgrade' }], own).answer
        .errorCode,
    )
  deepStrictEqual([down(26), down(23), down(22)], ['NONE', 'NONE', 'INVALID_UPDATE_VERSION'])
})

test('eligible leader replicas come with min.insync.replicas for the whole cluster and for no single broker', () => {
  const config = (resourceName: string, value: string | null) => ({
    type: T.Config,
    version: 0,
    value: { resourceType: 4, resourceName, name: 'min.insync.replicas', value },
  })
  const without = after(clusterOf(1), [
    { type: T.FeatureLevel, version: 0, value: { name: 'eligible.leader.replicas.version', featureLevel: 0 } },
    config('1', '3'),
  ])
  const file = new Map([['min.insync.replicas', '2']])
  const update = { feature: 'eligible.leader.replicas.version', level: 1, upgradeType: 'upgrade' } as const
  const next = after(without, updateFeatures(without, [update], { nodeId: 1, serverProperties: file }).records)
  deepStrictEqual([...configOverrides(next, { type: 4, name: '' })], [['min.insync.replicas', '2']])
  deepStrictEqual([...configOverrides(next, { type: 4, name: '1' })], [])
})
