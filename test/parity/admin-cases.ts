// Elections, reassignments, the quorum, features, directories and lists of resources as both nodes must answer administrators.
import { AlterReplicaLogDirsApi } from '../../src/protocol/messages/34-alter-replica-log-dirs.ts'
import { ElectLeadersApi, type ElectLeadersRequestInput } from '../../src/protocol/messages/43-elect-leaders.ts'
import { AlterPartitionReassignmentsApi } from '../../src/protocol/messages/45-alter-partition-reassignments.ts'
import {
  ListPartitionReassignmentsApi,
  type ListPartitionReassignmentsRequestInput,
} from '../../src/protocol/messages/46-list-partition-reassignments.ts'
import { DescribeQuorumApi, type DescribeQuorumRequestInput } from '../../src/protocol/messages/55-describe-quorum.ts'
import { UpdateFeaturesApi } from '../../src/protocol/messages/57-update-features.ts'
import { UnregisterBrokerApi } from '../../src/protocol/messages/64-unregister-broker.ts'
import { ListConfigResourcesApi } from '../../src/protocol/messages/74-list-config-resources.ts'
import { AddRaftVoterApi } from '../../src/protocol/messages/80-add-raft-voter.ts'
import { RemoveRaftVoterApi } from '../../src/protocol/messages/81-remove-raft-voter.ts'
import { type ParityCase, parityCase, sortedBy, UNKNOWN_ID } from './parity-case.ts'

const [PREFERRED, UNCLEAN] = [0, 1]
const [UPGRADE, SAFE, UNSAFE] = [1, 2, 3]

type Elected = readonly (readonly [topic: string, ...partitions: number[]])[]

function electCase(
  what: string,
  named: Elected | null,
  { type = PREFERRED, version = 2 }: { type?: number; version?: number } = {},
): ParityCase {
  const topicPartitions: ElectLeadersRequestInput['topicPartitions'] =
    named === null ? null : named.map(([topic, ...partitions]) => ({ topic, partitions }))
  return parityCase(what, ElectLeadersApi, {
    version,
    request: { ...(version === 0 ? {} : { electionType: type }), topicPartitions, timeoutMs: 30_000 },
    show: ({ errorCode, replicaElectionResults }) => ({
      errorCode,
      // Topics that only one of the two keeps for itself are not asked about.
      results: sortedBy(
        replicaElectionResults.filter(({ topic }) => !topic.startsWith('__')),
        ({ topic, partitionResult }) => `${topic}-${partitionResult[0]?.partitionId}`,
      ),
    }),
  })
}

const electCases: ParityCase[] = [
  ...[0, 1, 2].map(version =>
    electCase(
      `version ${version}`,
      [
        ['p', 0, 1, 9],
        ['nowhere', 0],
      ],
      { version },
    ),
  ),
  electCase('unclean', [['p', 0]], { type: UNCLEAN }),
  electCase('all', null),
  electCase('all, unclean', null, { type: UNCLEAN }),
  electCase('unknown type', [['p', 0, 1]], { type: 7 }),
  electCase('none', []),
  electCase('a partition twice', [['p', 0, 0]]),
]

type Replicas = readonly number[] | null

function reassignCase(
  what: string,
  topics: readonly (readonly [name: string, ...partitions: (readonly [index: number, replicas: Replicas])[]])[],
  options: { version?: number; growth?: false } = {},
): ParityCase {
  const { version = 1, growth } = options
  return parityCase(what, AlterPartitionReassignmentsApi, {
    version,
    request: {
      timeoutMs: 30_000,
      ...(growth === false ? { allowReplicationFactorChange: false } : {}),
      topics: topics.map(([name, ...partitions]) => ({
        name,
        partitions: partitions.map(([partitionIndex, replicas]) => ({
          partitionIndex,
          replicas: replicas && [...replicas],
        })),
      })),
    },
  })
}

const listCase = (what: string, topics: ListPartitionReassignmentsRequestInput['topics']): ParityCase =>
  parityCase(what, ListPartitionReassignmentsApi, { request: { timeoutMs: 30_000, topics } })

const reassignCases: ParityCase[] = [
  ...[0, 1].flatMap(version => [
    reassignCase(`where it is, version ${version}`, [['p', [0, [1]], [1, [1]]]], { version }),
    reassignCase(`another broker, version ${version}`, [['p', [0, [2]]]], { version }),
  ]),
  reassignCase('one more broker', [['p', [0, [1, 2]]]]),
  reassignCase('one more broker, without growth', [['p', [0, [1, 2]]]], { growth: false }),
  reassignCase('where it is, without growth', [['p', [0, [1]]]], { growth: false }),
  reassignCase('a broker twice', [['p', [0, [1, 1]]]]),
  reassignCase('no broker', [['p', [0, []]]]),
  reassignCase('a negative broker', [['p', [0, [-1]]]]),
  reassignCase('given up', [['p', [0, null]]]),
  reassignCase('unknown partition', [['p', [9, [1]], [0, [1]]]]),
  reassignCase('unknown topic', [['nowhere', [0, [1]], [1, null]]]),
  reassignCase('a partition twice', [['p', [0, [1]], [0, [1]]]]),
  listCase('all', null),
  listCase('some', [
    { name: 'p', partitionIndexes: [0, 9] },
    { name: 'nowhere', partitionIndexes: [0] },
  ]),
  listCase('none', []),
]

const METADATA = '__cluster_metadata'

function quorumCase(
  what: string,
  topics: readonly (readonly [name: string, ...partitions: number[]])[],
  version = 2,
): ParityCase {
  const request: DescribeQuorumRequestInput = {
    topics: topics.map(([topicName, ...partitions]) => ({
      topicName,
      partitions: partitions.map(partitionIndex => ({ partitionIndex })),
    })),
  }
  return parityCase(what, DescribeQuorumApi, {
    version,
    request,
    show: ({ errorCode, topics: answered, nodes }) => ({
      errorCode,
      topics: answered.map(({ topicName, partitions }) => ({
        topicName,
        partitions: partitions.map(({ partitionIndex, errorCode: error, leaderId, currentVoters, ...rest }) => ({
          partitionIndex,
          errorCode: error,
          leaderId,
          led: rest.leaderEpoch > 0,
          written: rest.highWatermark > 0n,
          observers: rest.observers.length,
          voters: currentVoters.map(voter => ({
            id: voter.replicaId,
            directory: voter.replicaDirectoryId,
            caughtUp: voter.logEndOffset >= rest.highWatermark,
            fetched: voter.lastFetchTimestamp > 0n,
            inStep: voter.lastCaughtUpTimestamp > 0n,
          })),
        })),
      })),
      nodes: nodes.map(({ nodeId, listeners }) => ({ nodeId, listeners: listeners.length })),
    }),
  })
}

const quorumCases: ParityCase[] = [
  ...[0, 1, 2].map(version => quorumCase(`version ${version}`, [[METADATA, 0]], version)),
  quorumCase('another topic', [['p', 0]]),
  quorumCase('another partition', [[METADATA, 1]]),
  quorumCase('the partition twice', [[METADATA, 0, 0]]),
  quorumCase('more than the quorum', [
    [METADATA, 0],
    ['p', 0],
  ]),
  quorumCase('nothing', []),
]

type Update = readonly [feature: string, level: number, upgradeType?: number]

function featureCase(what: string, updates: readonly Update[], version = 2): ParityCase {
  return parityCase(what, UpdateFeaturesApi, {
    version,
    request: {
      timeoutMs: 30_000,
      featureUpdates: updates.map(([feature, maxVersionLevel, type = UPGRADE]) => ({
        feature,
        maxVersionLevel,
        ...(version === 0 ? { allowDowngrade: type !== UPGRADE } : { upgradeType: type }),
      })),
      ...(version === 0 ? {} : { validateOnly: true }),
    },
  })
}

const levels = ['metadata.version', 'group.version', 'transaction.version', 'eligible.leader.replicas.version', 'foo']

const featureCases: ParityCase[] = [
  ...levels.flatMap(feature =>
    [0, 1, 2, 3, 7, 29, 30, 31, -1].flatMap(level =>
      [UPGRADE, SAFE, UNSAFE].map(type => featureCase(`${feature} ${level}, type ${type}`, [[feature, level, type]])),
    ),
  ),
  ...[0, 1].flatMap(version => [
    featureCase(`as it is, version ${version}`, [['group.version', 1]], version),
    featureCase(`too high, version ${version}`, [['group.version', 2]], version),
  ]),
  featureCase('unknown upgrade type', [['metadata.version', 30, 9]]),
  featureCase('no upgrade type', [['metadata.version', 30, 0]]),
  featureCase('kraft.version as it is', [['kraft.version', 0]]),
  featureCase('kraft.version up', [['kraft.version', 1]]),
  featureCase('kraft.version down to a higher one', [['kraft.version', 1, SAFE]]),
  featureCase('two', [
    ['group.version', 0, SAFE],
    ['share.version', 0, SAFE],
  ]),
  featureCase('one of two', [
    ['group.version', 0, SAFE],
    ['share.version', 5],
  ]),
  featureCase('nothing', []),
]

const resourcesCase = (what: string, resourceTypes: readonly number[], version = 1): ParityCase =>
  parityCase(what, ListConfigResourcesApi, {
    version,
    request: version === 0 ? {} : { resourceTypes: [...resourceTypes] },
    show: ({ errorCode, configResources }) => ({
      errorCode,
      resources: configResources
        .map(({ resourceType, resourceName }) => `${resourceType} ${resourceName}`)
        .filter(text => !text.startsWith('2 __'))
        .sort(),
    }),
  })

const dirsCase = (what: string, path: string, { version = 2, partitions = [0] } = {}): ParityCase =>
  parityCase(what, AlterReplicaLogDirsApi, {
    version,
    request: { dirs: [{ path, topics: ['p', 'nowhere'].map(name => ({ name, partitions })) }] },
    show: ({ results }) => sortedBy(results, ({ topicName }) => topicName),
  })

const voter = { voterId: 2, voterDirectoryId: UNKNOWN_ID }
const newVoter = { ...voter, timeoutMs: 30_000, listeners: [{ name: 'CONTROLLER', host: 'elsewhere', port: 1 }] }

export const adminCases: readonly ParityCase[] = [
  ...electCases,
  ...reassignCases,
  ...quorumCases,
  ...featureCases,
  ...[[], [2], [4], [8], [16], [32], [2, 32], [99], [0]].map(types => resourcesCase(`of ${types}`, types)),
  resourcesCase('version 0', [], 0),
  ...[1, 2].map(version =>
    dirsCase(`another directory, version ${version}`, '/nowhere', { version, partitions: [0, 9] }),
  ),
  dirsCase('a relative directory', 'data'),
  parityCase('a broker that never was', UnregisterBrokerApi, { request: { brokerId: 9 } }),
  parityCase('no broker', UnregisterBrokerApi, { request: { brokerId: -1 } }),
  ...[0, 1].map(version =>
    parityCase(`version ${version}`, AddRaftVoterApi, { version, request: { clusterId: null, ...newVoter } }),
  ),
  parityCase('of another cluster', AddRaftVoterApi, { request: { clusterId: 'elsewhere', ...newVoter } }),
  parityCase('any', RemoveRaftVoterApi, { request: { clusterId: null, ...voter } }),
  parityCase('of another cluster', RemoveRaftVoterApi, { request: { clusterId: 'elsewhere', ...voter } }),
]
