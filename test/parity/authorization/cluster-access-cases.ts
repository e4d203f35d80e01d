// Requests about configs, the cluster, producers and administrators' commands; asked by every user of the scene.
import { errorName } from '../../../src/protocol/errors.ts'
import { InitProducerIdApi } from '../../../src/protocol/messages/22-init-producer-id.ts'
import { DescribeConfigsApi } from '../../../src/protocol/messages/32-describe-configs.ts'
import { AlterConfigsApi } from '../../../src/protocol/messages/33-alter-configs.ts'
import { AlterReplicaLogDirsApi } from '../../../src/protocol/messages/34-alter-replica-log-dirs.ts'
import { DescribeLogDirsApi } from '../../../src/protocol/messages/35-describe-log-dirs.ts'
import { ElectLeadersApi } from '../../../src/protocol/messages/43-elect-leaders.ts'
import { IncrementalAlterConfigsApi } from '../../../src/protocol/messages/44-incremental-alter-configs.ts'
import { AlterPartitionReassignmentsApi } from '../../../src/protocol/messages/45-alter-partition-reassignments.ts'
import { ListPartitionReassignmentsApi } from '../../../src/protocol/messages/46-list-partition-reassignments.ts'
import { DescribeUserScramCredentialsApi } from '../../../src/protocol/messages/50-describe-user-scram-credentials.ts'
import { AlterUserScramCredentialsApi } from '../../../src/protocol/messages/51-alter-user-scram-credentials.ts'
import { DescribeQuorumApi } from '../../../src/protocol/messages/55-describe-quorum.ts'
import { UpdateFeaturesApi } from '../../../src/protocol/messages/57-update-features.ts'
import { DescribeClusterApi } from '../../../src/protocol/messages/60-describe-cluster.ts'
import { UnregisterBrokerApi } from '../../../src/protocol/messages/64-unregister-broker.ts'
import { ListConfigResourcesApi } from '../../../src/protocol/messages/74-list-config-resources.ts'
import { AddRaftVoterApi } from '../../../src/protocol/messages/80-add-raft-voter.ts'
import { UNKNOWN_ID } from '../parity-case.ts'
import { type AccessCase, accessCase } from './access-case.ts'
import { TOPICS, USERS } from './scene.ts'

/** Topic 2, broker 4, broker logger 8, client metrics 16, group 32. */
const RESOURCES: readonly (readonly [type: number, name: string])[] = [
  ...[...TOPICS, 'absent'].map(name => [2, name] as const),
  [4, '1'],
  [4, ''],
  [8, '1'],
  [16, 'metrics'],
  ...['see-configs', 'set-configs', 'hidden', 'team.group'].map(name => [32, name] as const),
]

interface ResourceResult {
  readonly resourceType: number
  readonly resourceName: string
  readonly errorCode: number
}

const resourceErrors = (results: readonly ResourceResult[]) =>
  results
    .map(({ resourceType, resourceName, errorCode }) => `${resourceType} ${resourceName}: ${errorName(errorCode)}`)
    .sort()

/** A config that the type of resource has. */
const configOf: Readonly<Record<number, readonly [string, string]>> = {
  2: ['retention.ms', '60000'],
  4: ['log.cleaner.threads', '1'],
  8: ['root', 'INFO'],
  16: ['interval.ms', '60000'],
  32: ['consumer.session.timeout.ms', '45000'],
}

const alterations = (types: readonly number[]) =>
  RESOURCES.filter(([type]) => types.includes(type)).map(([resourceType, resourceName]) => {
    const [name = '', value = ''] = configOf[resourceType] ?? []
    return { resourceType, resourceName, configs: [{ name, value, configOperation: 0 }] }
  })

const configCases: AccessCase[] = [
  accessCase('', DescribeConfigsApi, {
    version: 4,
    request: {
      resources: RESOURCES.map(([resourceType, resourceName]) => ({
        resourceType,
        resourceName,
        configurationKeys: null,
      })),
    },
    show: ({ results }) => resourceErrors(results),
  }),
  accessCase('only checked', IncrementalAlterConfigsApi, {
    version: 1,
    request: { resources: alterations([2, 4, 16, 32]), validateOnly: true },
    show: ({ responses }) => resourceErrors(responses),
  }),
  accessCase('only checked', AlterConfigsApi, {
    version: 2,
    request: {
      resources: alterations([2]).map(({ configs, ...resource }) => ({
        ...resource,
        configs: configs.map(({ name, value }) => ({ name, value })),
      })),
      validateOnly: true,
    },
    show: ({ responses }) => resourceErrors(responses),
  }),
  accessCase('of a logger', IncrementalAlterConfigsApi, {
    version: 1,
    request: { resources: alterations([8]), validateOnly: true },
    show: ({ responses }) => resourceErrors(responses),
  }),
  accessCase('of all types', ListConfigResourcesApi, {
    version: 1,
    request: { resourceTypes: [] },
    show: ({ errorCode }) => errorName(errorCode),
  }),
]

const topLevel = ({ errorCode }: { readonly errorCode: number }) => errorName(errorCode)

const producerCases: AccessCase[] = [null, 'write', 'describe', 'hidden', 'team.producer'].map(transactionalId =>
  accessCase(`${transactionalId}`, InitProducerIdApi, {
    version: 5,
    users: transactionalId === null ? ['bob', 'alice', 'carol', 'erin', 'dave'] : ['bob', 'carol', 'dave'],
    request: { transactionalId, transactionTimeoutMs: 1000 },
    show: topLevel,
  }),
)

const adminCases: AccessCase[] = [
  accessCase('', DescribeClusterApi, {
    version: 2,
    request: { includeClusterAuthorizedOperations: true, endpointType: 1 },
    show: ({ errorCode, clusterAuthorizedOperations }) => `${errorName(errorCode)} ${clusterAuthorizedOperations}`,
  }),
  accessCase('', DescribeLogDirsApi, {
    version: 4,
    request: { topics: null },
    show: ({ errorCode, results }) => `${errorName(errorCode)} ${results.length}`,
  }),
  accessCase('', DescribeQuorumApi, {
    version: 2,
    request: { topics: [{ topicName: '__cluster_metadata', partitions: [{ partitionIndex: 0 }] }] },
    show: topLevel,
  }),
  ...[[{ name: 'nobody' }], null].map(users =>
    accessCase(users ? 'by name' : 'of all users', DescribeUserScramCredentialsApi, {
      // Kafka does not answer at all if it refuses to tell of all users.
      users: users ? USERS : ['carol', 'dave', 'admin'],
      request: { users },
      show: ({ errorCode, results }) => [errorName(errorCode), ...results.map(result => errorName(result.errorCode))],
    }),
  ),
  accessCase('of nobody', AlterUserScramCredentialsApi, {
    request: { deletions: [{ name: 'nobody', mechanism: 1 }], upsertions: [] },
    show: ({ results }) => results.map(topLevel),
  }),
  accessCase('', ElectLeadersApi, {
    version: 2,
    request: { electionType: 0, topicPartitions: [{ topic: 'hidden', partitions: [0] }], timeoutMs: 30_000 },
    show: ({ errorCode, replicaElectionResults }) => ({ errorCode, replicaElectionResults }),
  }),
  accessCase('of an unknown topic', AlterPartitionReassignmentsApi, {
    version: 0,
    request: { timeoutMs: 30_000, topics: [{ name: 'absent', partitions: [{ partitionIndex: 0, replicas: [1] }] }] },
    show: topLevel,
  }),
  accessCase('', ListPartitionReassignmentsApi, { request: { timeoutMs: 30_000, topics: null }, show: topLevel }),
  accessCase('of nothing', AlterReplicaLogDirsApi, {
    version: 2,
    users: ['bob', 'alice', 'carol', 'erin'],
    request: { dirs: [{ path: '/tmp/none', topics: [{ name: 'hidden', partitions: [0] }] }] },
    show: ({ results }) => results.flatMap(({ partitions }) => partitions.map(topLevel)),
  }),
  accessCase('only checked', UpdateFeaturesApi, {
    version: 1,
    users: ['bob', 'alice', 'carol', 'erin'],
    request: {
      timeoutMs: 30_000,
      featureUpdates: [{ feature: 'x', maxVersionLevel: 1, upgradeType: 1 }],
      validateOnly: true,
    },
    show: topLevel,
  }),
  accessCase('of nobody', AddRaftVoterApi, {
    version: 0,
    users: ['bob', 'alice', 'carol', 'erin'],
    request: {
      clusterId: null,
      timeoutMs: 30_000,
      voterId: 7,
      voterDirectoryId: UNKNOWN_ID,
      listeners: [{ name: 'CONTROLLER', host: '127.0.0.1', port: 1 }],
    },
    show: topLevel,
  }),
  accessCase('of an unknown broker', UnregisterBrokerApi, {
    users: ['bob', 'alice', 'carol', 'erin'],
    request: { brokerId: 99 },
    show: topLevel,
  }),
]

export const clusterAccessCases: readonly AccessCase[] = [...configCases, ...producerCases, ...adminCases]
