/** Elections, reassignments, the quorum, features, directories, lists of resources and loggers over the wire format. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { errorName } from '../../protocol/errors.ts'
import { DescribeConfigsApi } from '../../protocol/messages/32-describe-configs.ts'
import { AlterReplicaLogDirsApi } from '../../protocol/messages/34-alter-replica-log-dirs.ts'
import { ElectLeadersApi } from '../../protocol/messages/43-elect-leaders.ts'
import { IncrementalAlterConfigsApi } from '../../protocol/messages/44-incremental-alter-configs.ts'
import { AlterPartitionReassignmentsApi } from '../../protocol/messages/45-alter-partition-reassignments.ts'
import { ListPartitionReassignmentsApi } from '../../protocol/messages/46-list-partition-reassignments.ts'
import { DescribeQuorumApi } from '../../protocol/messages/55-describe-quorum.ts'
import { UpdateFeaturesApi } from '../../protocol/messages/57-update-features.ts'
import { UnregisterBrokerApi } from '../../protocol/messages/64-unregister-broker.ts'
import { ListConfigResourcesApi } from '../../protocol/messages/74-list-config-resources.ts'
import { AddRaftVoterApi } from '../../protocol/messages/80-add-raft-voter.ts'
import { TestNode } from '../fakes/test-node.ts'

const nameOf = (code: number | undefined) => errorName(code ?? -1)

test('a partition has the leader, the replicas and the directory that it can have', async () => {
  const node = await TestNode.start()
  await node.createTopic('orders')
  const topicPartitions = [{ topic: 'orders', partitions: [0, 7] }]
  const elected = await node.call(ElectLeadersApi, { electionType: 0, topicPartitions })
  deepStrictEqual(
    elected?.replicaElectionResults[0]?.partitionResult.map(({ errorCode }) => nameOf(errorCode)),
    ['ELECTION_NOT_NEEDED', 'UNKNOWN_TOPIC_OR_PARTITION'],
  )
  const reassign = async (replicas: number[] | null) => {
    const topics = [{ name: 'orders', partitions: [{ partitionIndex: 0, replicas }] }]
    const answer = await node.call(AlterPartitionReassignmentsApi, { topics })
    return nameOf(answer?.responses[0]?.partitions[0]?.errorCode)
  }
  deepStrictEqual(
    [await reassign([1]), await reassign([2]), await reassign(null)],
    ['NONE', 'INVALID_REPLICA_ASSIGNMENT', 'NO_REASSIGNMENT_IN_PROGRESS'],
  )
  deepStrictEqual((await node.call(ListPartitionReassignmentsApi, { topics: null }))?.topics, [])
  const move = async (path: string) => {
    const answer = await node.call(AlterReplicaLogDirsApi, {
      dirs: [{ path, topics: [{ name: 'orders', partitions: [0, 7] }] }],
    })
    return answer?.results[0]?.partitions.map(({ errorCode }) => nameOf(errorCode))
  }
  deepStrictEqual(await move('/data'), ['NONE', 'UNKNOWN_TOPIC_OR_PARTITION'])
  deepStrictEqual(await move('/elsewhere'), ['LOG_DIR_NOT_FOUND', 'LOG_DIR_NOT_FOUND'])
  await node.close()
})

test('the quorum is this node, and stays so', async () => {
  const node = await TestNode.start()
  const ask = (topicName: string) =>
    node.call(DescribeQuorumApi, { topics: [{ topicName, partitions: [{ partitionIndex: 0 }] }] })
  const quorum = (await ask('__cluster_metadata'))?.topics[0]?.partitions[0]
  const { offset, epoch } = node.controller.image
  deepStrictEqual(
    [quorum?.leaderId, quorum?.leaderEpoch, quorum?.highWatermark, quorum?.currentVoters.map(v => v.replicaId)],
    [1, epoch, BigInt(offset + 1), [1]],
  )
  strictEqual(nameOf((await ask('orders'))?.topics[0]?.partitions[0]?.errorCode), 'UNKNOWN_TOPIC_OR_PARTITION')
  const voter = { voterId: 2, voterDirectoryId: node.logs.directoryId, timeoutMs: 1, listeners: [] }
  const added = await node.call(AddRaftVoterApi, { clusterId: null, ...voter })
  const strange = await node.call(AddRaftVoterApi, { clusterId: 'other', ...voter })
  deepStrictEqual(
    [nameOf(added?.errorCode), nameOf(strange?.errorCode)],
    ['UNSUPPORTED_VERSION', 'INCONSISTENT_CLUSTER_ID'],
  )
  const unregister = async (brokerId: number) => nameOf((await node.call(UnregisterBrokerApi, { brokerId }))?.errorCode)
  deepStrictEqual([await unregister(9), await unregister(1)], ['BROKER_ID_NOT_REGISTERED', 'INVALID_REQUEST'])
  await node.close()
})

test('a feature level is changed for good, or only looked at', async () => {
  const node = await TestNode.start()
  const update = async (version: number, level: number, how: { validateOnly?: boolean; down?: boolean } = {}) => {
    const { validateOnly = false, down = false } = how
    const kind = version === 0 ? { allowDowngrade: down } : { upgradeType: down ? 2 : 1 }
    const featureUpdates = [{ feature: 'transaction.version', maxVersionLevel: level, ...kind }]
    const request = { featureUpdates, ...(version === 0 ? {} : { validateOnly }) }
    const answer = await node.call(UpdateFeaturesApi, request, { version })
    return [nameOf(answer?.errorCode), node.controller.image.features.get('transaction.version')]
  }
  deepStrictEqual(await update(2, 1, { down: true, validateOnly: true }), ['NONE', 2])
  deepStrictEqual(await update(2, 1), ['INVALID_UPDATE_VERSION', 2])
  deepStrictEqual(await update(0, 1, { down: true }), ['NONE', 1])
  deepStrictEqual(await update(1, 2), ['NONE', 2])
  await node.close()
})

test('resources are listed by type, and loggers are altered as a whole or not at all', async () => {
  const node = await TestNode.start()
  await node.createTopic('orders')
  const alter = async (type: number, name: string, values: Record<string, string>) => {
    const configs = Object.entries(values).map(([key, value]) => ({ name: key, configOperation: 0, value }))
    const resources = [{ resourceType: type, resourceName: name, configs }]
    const answer = await node.call(IncrementalAlterConfigsApi, { resources, validateOnly: false })
    return nameOf(answer?.responses[0]?.errorCode)
  }
  strictEqual(await alter(32, 'billing', { 'consumer.session.timeout.ms': '50000' }), 'NONE')
  const list = async (...resourceTypes: number[]) =>
    (await node.call(ListConfigResourcesApi, { resourceTypes }))?.configResources.map(r => r.resourceName)
  deepStrictEqual([await list(2), await list(4), await list(32), await list(16)], [['orders'], ['1'], ['billing'], []])
  const refused = await node.call(ListConfigResourcesApi, { resourceTypes: [99] })
  strictEqual(nameOf(refused?.errorCode), 'UNSUPPORTED_VERSION')
  deepStrictEqual(
    [await alter(8, '1', { root: 'WARN' }), await alter(8, '1', { root: 'DEBUG', nobody: 'INFO' })],
    ['NONE', 'INVALID_CONFIG'],
  )
  const resources = [{ resourceType: 8, resourceName: '1', configurationKeys: ['root'] }]
  strictEqual((await node.call(DescribeConfigsApi, { resources }))?.results[0]?.configs[0]?.value, 'WARN')
  await node.close()
})
