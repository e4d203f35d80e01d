// Metadata, DescribeTopicPartitions, DescribeCluster, CreateTopics, CreatePartitions and DeleteTopics as both nodes must answer them.
import { type Uuid, ZERO_UUID } from '../../src/core/uuid.ts'
import { MetadataApi, type MetadataRequestInput } from '../../src/protocol/messages/03-metadata.ts'
import { CreateTopicsApi, type CreateTopicsRequestInput } from '../../src/protocol/messages/19-create-topics.ts'
import { DeleteTopicsApi, type DeleteTopicsRequestInput } from '../../src/protocol/messages/20-delete-topics.ts'
import {
  CreatePartitionsApi,
  type CreatePartitionsRequestInput,
} from '../../src/protocol/messages/37-create-partitions.ts'
import {
  DescribeClusterApi,
  type DescribeClusterRequestInput,
} from '../../src/protocol/messages/60-describe-cluster.ts'
import {
  DescribeTopicPartitionsApi,
  type DescribeTopicPartitionsRequestInput,
} from '../../src/protocol/messages/75-describe-topic-partitions.ts'
import { type ParityCase, parityCase, sortedBy, UNKNOWN_ID } from './parity-case.ts'

type NewTopic = CreateTopicsRequestInput['topics'][number]

/** Only checked, nothing is created. */
const createCase = (what: string, topics: readonly Partial<NewTopic>[], version = 7): ParityCase =>
  parityCase(what, CreateTopicsApi, {
    version,
    request: {
      topics: topics.map(topic => ({
        name: 'x',
        numPartitions: 1,
        replicationFactor: 1,
        assignments: [],
        configs: [],
        ...topic,
      })),
      validateOnly: true,
    },
    show: answer =>
      sortedBy(
        answer.topics.map(({ configs, ...topic }) => ({
          ...topic,
          configs: configs
            ?.map(config => `${config.name}=${config.value}/${config.configSource}/${config.readOnly}`)
            .sort(),
        })),
        topic => topic.name,
      ),
  })

const automatic = { numPartitions: -1, replicationFactor: -1 }
const assigned = (partitionIndex: number, broker: number) => ({
  assignments: [{ partitionIndex, brokerIds: [broker] }],
})

const createCases: ParityCase[] = [
  createCase('one', [{ name: 'x1' }]),
  createCase('one, version 5', [{ name: 'x1' }], 5),
  createCase('one, version 2', [{ name: 'x1' }], 2),
  createCase('a name twice', [{ name: 'd' }, { name: 'd' }]),
  createCase('existing', [{ name: 'p' }]),
  createCase('metadata log', [{ name: '__cluster_metadata' }]),
  createCase('bad name', [{ name: 'a b' }]),
  createCase('a dot', [{ name: '.' }]),
  createCase('empty name', [{ name: '' }]),
  createCase('replication factor 3', [{ replicationFactor: 3 }]),
  createCase('replication factor 0', [{ replicationFactor: 0 }]),
  createCase('no partitions', [{ numPartitions: 0 }]),
  createCase('negative partitions', [{ numPartitions: -2 }]),
  createCase('defaults', [automatic]),
  createCase('assignment', [{ ...automatic, ...assigned(0, 1) }]),
  createCase('assignment and numbers', [assigned(0, 1)]),
  createCase('assignment with a gap', [{ ...automatic, ...assigned(1, 1) }]),
  createCase('assignment to an unknown broker', [{ ...automatic, ...assigned(0, 8) }]),
  createCase('config', [{ configs: [{ name: 'retention.ms', value: '5' }] }]),
  createCase('bad config', [{ configs: [{ name: 'retention.ms', value: 'abc' }] }]),
  createCase('unknown config', [{ configs: [{ name: 'foo', value: '5' }] }]),
  createCase('config without value', [{ configs: [{ name: 'retention.ms', value: null }] }]),
  createCase('names that collide', [{ name: 'a.b' }, { name: 'a_b' }]),
]

type Growth = CreatePartitionsRequestInput['topics'][number]

const growCase = (what: string, topics: readonly Growth[], validateOnly = true): ParityCase =>
  parityCase(what, CreatePartitionsApi, {
    request: { topics: [...topics], timeoutMs: 30_000, validateOnly },
    show: ({ results }) => sortedBy(results, ({ name }) => name),
  })

const grow = (name: string, count: number, assignments: number[][] | null = null): Growth => ({
  name,
  count,
  assignments: assignments?.map(brokerIds => ({ brokerIds })) ?? null,
})

const growCases: ParityCase[] = [
  growCase('more', [grow('growing', 3)]),
  growCase('the same', [grow('growing', 1)]),
  growCase('fewer', [grow('p', 1)]),
  growCase('none', [grow('growing', 0)]),
  growCase('a topic twice', [grow('growing', 2), grow('growing', 3), grow('p', 3)]),
  growCase('unknown topic', [grow('nowhere', 3)]),
  growCase('nothing', []),
  growCase('assignment', [grow('growing', 2, [[1]])]),
  growCase('assignments that are too few', [grow('growing', 3, [[1]])]),
  growCase('assignments that are empty', [grow('growing', 2, [])]),
  growCase('assignment to an unknown broker', [grow('growing', 2, [[8]])]),
  growCase('assignment to a broker twice', [grow('growing', 2, [[1, 1]])]),
  growCase('too many', [grow('growing', 10_002)]),
  growCase('more, done', [grow('growing', 3)], false),
  growCase('as before', [grow('growing', 3)], false),
]

const deleteCase = (what: string, request: DeleteTopicsRequestInput, version = 6): ParityCase =>
  parityCase(what, DeleteTopicsApi, {
    version,
    request,
    show: ({ responses }) =>
      sortedBy(
        responses.map(({ name, errorCode }) => ({ name, errorCode })),
        ({ name, errorCode }) => `${name} ${errorCode}`,
      ),
  })

const named = (name: string | null, topicId: Uuid = ZERO_UUID) => ({ name, topicId })

const deleteCases: ParityCase[] = [
  deleteCase('a name twice', { topicNames: ['nowhere', 'nowhere', 'zz'], timeoutMs: 30_000 }, 4),
  deleteCase('empty name', { topicNames: [''], timeoutMs: 30_000 }, 4),
  deleteCase('neither name nor id, both, unknown id', {
    topics: [named(null), named('p', UNKNOWN_ID), named(null, UNKNOWN_ID)],
    timeoutMs: 30_000,
  }),
]

const metadataCase = (what: string, request: Partial<MetadataRequestInput>, version = 13): ParityCase =>
  parityCase(what, MetadataApi, {
    version,
    request: { topics: null, ...(version >= 4 ? { allowAutoTopicCreation: false } : {}), ...request },
    show: answer => ({
      ...answer,
      topics: sortedBy(
        answer.topics.filter(({ name }) => !name?.startsWith('__lockstep_')),
        ({ name }) => String(name),
      ),
    }),
  })

const metadataCases: ParityCase[] = [
  ...[0, 1, 4, 5, 7, 8, 9, 11, 12, 13].map(version =>
    metadataCase(`version ${version}`, { topics: [{ name: 'p' }] }, version),
  ),
  metadataCase('operations', { topics: [{ name: 'p' }], includeTopicAuthorizedOperations: true }),
  metadataCase('cluster operations', { topics: [], includeClusterAuthorizedOperations: true }, 8),
  metadataCase('all, version 0', { topics: [] }, 0),
  metadataCase('none, version 1', { topics: [] }, 1),
  metadataCase('all, version 9', {}, 9),
  metadataCase('bad names', { topics: [{ name: 'a b' }, { name: '' }, { name: 'nowhere' }, { name: 'p' }] }),
  metadataCase('a name twice', { topics: [{ name: 'p' }, { name: 'p' }] }),
  metadataCase('unknown id', { topics: [{ name: null, topicId: UNKNOWN_ID }] }),
  metadataCase('an id in version 11', { topics: [{ name: 'p', topicId: UNKNOWN_ID }] }, 11),
  metadataCase('no name in version 11', { topics: [{ name: null }] }, 11),
  metadataCase('names and ids', { topics: [{ name: 'p' }, { name: null, topicId: UNKNOWN_ID }] }),
  metadataCase('internal topic', { topics: [{ name: '__consumer_offsets' }] }),
]

const describeCase = (what: string, request: Partial<DescribeTopicPartitionsRequestInput>): ParityCase =>
  parityCase(what, DescribeTopicPartitionsApi, { request: { topics: [], ...request } })

const describeCases: ParityCase[] = [
  describeCase('one', { topics: [{ name: 'p' }] }),
  // From the first topic on that both have.
  describeCase('all', { cursor: { topicName: 'a', partitionIndex: 0 } }),
  describeCase('limit 1', { responsePartitionLimit: 1, cursor: { topicName: 'a', partitionIndex: 0 } }),
  describeCase('limit 1 from a cursor', { responsePartitionLimit: 1, cursor: { topicName: 'p', partitionIndex: 1 } }),
  describeCase('negative cursor', { cursor: { topicName: 'p', partitionIndex: -1 } }),
  describeCase('cursor beyond the topic', { cursor: { topicName: 'p', partitionIndex: 5 } }),
  describeCase('cursor between topics', { cursor: { topicName: 'o', partitionIndex: 3 } }),
  describeCase('missing and bad names', { topics: [{ name: 'nowhere' }, { name: 'a b' }] }),
  describeCase('limit 0', { responsePartitionLimit: 0, cursor: { topicName: 'a', partitionIndex: 0 } }),
]

const clusterCase = (what: string, request: Partial<DescribeClusterRequestInput>, version = 2): ParityCase =>
  parityCase(what, DescribeClusterApi, {
    version,
    request: { includeClusterAuthorizedOperations: false, ...request },
  })

const clusterCases: ParityCase[] = [
  ...[0, 1, 2].map(version => clusterCase(`version ${version}`, {}, version)),
  clusterCase('operations', { includeClusterAuthorizedOperations: true }),
  clusterCase('controllers', { endpointType: 2 }),
  clusterCase('unknown endpoint type', { endpointType: 9 }),
]

export const topicCases: readonly ParityCase[] = [
  ...metadataCases,
  ...describeCases,
  ...clusterCases,
  ...createCases,
  ...growCases,
  ...deleteCases,
]
