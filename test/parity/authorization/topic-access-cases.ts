// Requests about topics: produce, fetch, offsets, metadata, and what administrators do with topics; asked by every user of the scene.
import { ZERO_UUID } from '../../../src/core/uuid.ts'
import { buildBatch } from '../../../src/protocol/batches/build-batch.ts'
import { errorName } from '../../../src/protocol/errors.ts'
import {
  ProduceApi,
  type ProduceRequestInput,
  type ProduceResponse,
} from '../../../src/protocol/messages/00-produce.ts'
import { FetchApi, type FetchResponse } from '../../../src/protocol/messages/01-fetch.ts'
import { ListOffsetsApi } from '../../../src/protocol/messages/02-list-offsets.ts'
import { MetadataApi, type MetadataResponse } from '../../../src/protocol/messages/03-metadata.ts'
import { CreateTopicsApi, type CreateTopicsResponse } from '../../../src/protocol/messages/19-create-topics.ts'
import { DeleteTopicsApi, type DeleteTopicsResponse } from '../../../src/protocol/messages/20-delete-topics.ts'
import { DeleteRecordsApi } from '../../../src/protocol/messages/21-delete-records.ts'
import { OffsetForLeaderEpochApi } from '../../../src/protocol/messages/23-offset-for-leader-epoch.ts'
import { CreatePartitionsApi } from '../../../src/protocol/messages/37-create-partitions.ts'
import { DescribeProducersApi } from '../../../src/protocol/messages/61-describe-producers.ts'
import {
  DescribeTopicPartitionsApi,
  type DescribeTopicPartitionsResponse,
} from '../../../src/protocol/messages/75-describe-topic-partitions.ts'
import { topicIdOf, UNKNOWN_ID } from '../parity-case.ts'
import { type AccessCase, accessCase, errorsOf, nameOf } from './access-case.ts'
import type { AccessPeer } from './logged-in.ts'
import { ABSENT, TOPICS } from './scene.ts'

const NAMES = [...TOPICS, ...ABSENT]
const idsOf = (peer: AccessPeer) => [...TOPICS.map(name => topicIdOf(peer, name)), UNKNOWN_ID]

/** Not a topic that only one of the nodes has for itself. */
const isShared = ({ name }: { readonly name: string | null }) => !name?.startsWith('__')

const batch = (transactional = false) =>
  buildBatch({
    records: [{ timestamp: 1n, key: null, value: Buffer.from('v') }],
    ...(transactional ? { transactional: true, producerId: 77n, producerEpoch: 0, baseSequence: 0 } : {}),
  })

const produced = ({ responses }: ProduceResponse, peer: AccessPeer) =>
  responses
    .flatMap(({ name, topicId, partitionResponses }) =>
      partitionResponses.map(({ errorCode }) => `${name || nameOf(peer, topicId)}: ${errorName(errorCode)}`),
    )
    .sort()

const produceData = (names: readonly string[], records = batch()): ProduceRequestInput['topicData'] =>
  names.map(name => ({ name, topicId: ZERO_UUID, partitionData: [{ index: 0, records }] }))

const produceCases: AccessCase[] = [
  accessCase('by name', ProduceApi, {
    version: 12,
    request: { transactionalId: null, acks: -1, timeoutMs: 30_000, topicData: produceData(NAMES) },
    show: produced,
  }),
  accessCase('by id', ProduceApi, {
    version: 13,
    request: peer => ({
      transactionalId: null,
      acks: -1,
      timeoutMs: 30_000,
      topicData: idsOf(peer).map(topicId => ({ name: '', topicId, partitionData: [{ index: 0, records: batch() }] })),
    }),
    show: produced,
  }),
  ...['hidden', 'describe'].map(id =>
    accessCase(`transactional as ${id}`, ProduceApi, {
      version: 9,
      users: ['bob', 'alice', 'carol', 'dave'],
      request: {
        transactionalId: id,
        acks: -1,
        timeoutMs: 30_000,
        topicData: produceData(['hidden', 'write'], batch(true)),
      },
      show: produced,
    }),
  ),
]

const fetched = ({ errorCode, responses }: FetchResponse, peer: AccessPeer) => ({
  errorCode,
  topics: responses
    .flatMap(({ topic, topicId, partitions }) =>
      partitions.map(partition => `${topic || nameOf(peer, topicId)}: ${errorName(partition.errorCode)}`),
    )
    .sort(),
})

const wanted = { partition: 0, fetchOffset: 0n, partitionMaxBytes: 1 << 20 }
const fetchFields = { maxWaitMs: 0, minBytes: 0, maxBytes: 1 << 20, isolationLevel: 0, forgottenTopicsData: [] }

const fetchCases: AccessCase[] = [
  ...[4, 12].map(version =>
    accessCase(`by name, version ${version}`, FetchApi, {
      version,
      request: { ...fetchFields, topics: NAMES.map(topic => ({ topic, partitions: [wanted] })) },
      show: fetched,
    }),
  ),
  accessCase('by id', FetchApi, {
    version: 13,
    request: peer => ({ ...fetchFields, topics: idsOf(peer).map(topicId => ({ topicId, partitions: [wanted] })) }),
    show: fetched,
  }),
  accessCase('as a follower', FetchApi, {
    version: 12,
    users: ['bob', 'alice', 'erin'],
    request: { ...fetchFields, replicaId: 7, topics: NAMES.map(topic => ({ topic, partitions: [wanted] })) },
    show: fetched,
  }),
]

const offsetCases: AccessCase[] = [
  accessCase('', ListOffsetsApi, {
    version: 8,
    request: {
      replicaId: -1,
      isolationLevel: 0,
      topics: NAMES.map(name => ({ name, partitions: [{ partitionIndex: 0, timestamp: -2n }] })),
    },
    show: ({ topics }) => topics.flatMap(({ name, partitions }) => errorsOf(partitions, () => name)).sort(),
  }),
  accessCase('', OffsetForLeaderEpochApi, {
    version: 4,
    request: {
      replicaId: -1,
      topics: NAMES.map(topic => ({ topic, partitions: [{ partition: 0, currentLeaderEpoch: -1, leaderEpoch: 0 }] })),
    },
    show: ({ topics }) => topics.flatMap(({ topic, partitions }) => errorsOf(partitions, () => topic)).sort(),
  }),
  accessCase('', DeleteRecordsApi, {
    version: 2,
    request: {
      timeoutMs: 30_000,
      topics: NAMES.map(name => ({ name, partitions: [{ partitionIndex: 0, offset: 0n }] })),
    },
    show: ({ topics }) => topics.flatMap(({ name, partitions }) => errorsOf(partitions, () => name)).sort(),
  }),
  accessCase('', DescribeProducersApi, {
    request: { topics: NAMES.map(name => ({ name, partitionIndexes: [0] })) },
    show: ({ topics }) => topics.flatMap(({ name, partitions }) => errorsOf(partitions, () => name)).sort(),
  }),
]

const described = (answer: MetadataResponse, peer: AccessPeer) => ({
  topics: answer.topics
    .filter(isShared)
    .map(({ name, topicId, errorCode, isInternal, topicAuthorizedOperations: operations, partitions }) => {
      const id = topicId === ZERO_UUID ? 'no id' : nameOf(peer, topicId)
      return `${name} ${id} ${errorName(errorCode)} ${isInternal} ${operations} ${partitions.length}`
    })
    .sort(),
  operations: answer.clusterAuthorizedOperations,
})
const everythingAsked = { includeTopicAuthorizedOperations: true, includeClusterAuthorizedOperations: true }

const metadataCases: AccessCase[] = [
  accessCase('by name with operations', MetadataApi, {
    version: 10,
    request: { ...everythingAsked, topics: NAMES.map(name => ({ name })), allowAutoTopicCreation: false },
    show: described,
  }),
  accessCase('by id', MetadataApi, {
    version: 12,
    request: peer => ({
      topics: idsOf(peer).map(topicId => ({ topicId, name: null })),
      includeTopicAuthorizedOperations: true,
      allowAutoTopicCreation: false,
    }),
    show: described,
  }),
  accessCase('of all topics', MetadataApi, { version: 12, request: { topics: null }, show: described }),
  accessCase('of all topics, version 0', MetadataApi, { version: 0, request: { topics: [] }, show: described }),
  accessCase('of topics to be created', MetadataApi, {
    version: 12,
    users: ['bob', 'alice'],
    request: { topics: [{ name: 'new-one' }, { name: 'new-two' }], allowAutoTopicCreation: true },
    show: described,
  }),
]

const partitionsShown = ({ topics, nextCursor }: DescribeTopicPartitionsResponse) => ({
  topics: topics
    .filter(isShared)
    .map(topic => `${topic.name} ${errorName(topic.errorCode)} ${topic.topicAuthorizedOperations} ${topic.isInternal}`)
    .sort(),
  nextCursor,
})

const describeCases: AccessCase[] = [
  accessCase('by name', DescribeTopicPartitionsApi, {
    request: { topics: NAMES.map(name => ({ name })), responsePartitionLimit: 100, cursor: null },
    show: partitionsShown,
  }),
  accessCase('of all topics', DescribeTopicPartitionsApi, {
    request: { topics: [], responsePartitionLimit: 100, cursor: null },
    show: partitionsShown,
  }),
  accessCase('a few at a time', DescribeTopicPartitionsApi, {
    request: { topics: [], responsePartitionLimit: 2, cursor: { topicName: 'delete', partitionIndex: 0 } },
    show: partitionsShown,
  }),
]

const created = ({ topics }: CreateTopicsResponse) =>
  topics
    .map(({ name, errorCode, topicConfigErrorCode, numPartitions, replicationFactor, configs }) =>
      [
        name,
        errorName(errorCode),
        errorName(topicConfigErrorCode),
        numPartitions,
        replicationFactor,
        configs?.length === 0,
      ].join(' '),
    )
    .sort()

const plan = (name: string) => ({ name, numPartitions: 1, replicationFactor: 1, assignments: [], configs: [] })

const changeCases: AccessCase[] = [
  accessCase('only checked', CreateTopicsApi, {
    version: 7,
    request: {
      topics: [...NAMES, 'new-one', 'team.new', 'twice', 'twice', '__cluster_metadata'].map(plan),
      validateOnly: true,
    },
    show: created,
  }),
  accessCase('', CreateTopicsApi, {
    version: 7,
    users: ['bob', 'alice', 'erin', 'dave'],
    request: { topics: ['fresh', 'team.fresh'].map(plan) },
    show: created,
  }),
  accessCase('only checked', CreatePartitionsApi, {
    version: 3,
    request: {
      topics: [...NAMES, 'read'].map(name => ({ name, count: 2, assignments: null })),
      timeoutMs: 30_000,
      validateOnly: true,
    },
    show: ({ results }) => errorsOf(results, ({ name }) => name),
  }),
]

const deleted = ({ responses }: DeleteTopicsResponse, peer: AccessPeer) =>
  responses.map(({ name, topicId, errorCode }) => `${name} ${nameOf(peer, topicId)} ${errorName(errorCode)}`).sort()

/** The last ones: they change what others see. */
export const deletionCases: readonly AccessCase[] = [
  accessCase('by name', DeleteTopicsApi, {
    version: 5,
    users: ['bob', 'alice', 'carol', 'erin', 'dave'],
    request: {
      topicNames: ['hidden', 'describe', 'absent', 'team.fresh', 'team.absent', 'read', 'read'],
      timeoutMs: 30_000,
    },
    show: deleted,
  }),
  accessCase('by id and by name', DeleteTopicsApi, {
    version: 6,
    users: ['bob', 'alice', 'carol', 'erin'],
    request: peer => ({
      topics: [
        ...['read', 'denied', 'elsewhere', 'alter'].map(name => ({ name: null, topicId: topicIdOf(peer, name) })),
        { name: null, topicId: UNKNOWN_ID },
        { name: 'alter', topicId: ZERO_UUID },
        { name: 'see-configs', topicId: topicIdOf(peer, 'see-configs') },
      ],
      timeoutMs: 30_000,
    }),
    show: deleted,
  }),
]

export const topicAccessCases: readonly AccessCase[] = [
  ...metadataCases,
  ...describeCases,
  ...produceCases,
  ...fetchCases,
  ...offsetCases,
  ...changeCases,
]
