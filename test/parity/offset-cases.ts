// ListOffsets, OffsetForLeaderEpoch, DeleteRecords, InitProducerId and DescribeProducers as both nodes must answer them.
import { ListOffsetsApi } from '../../src/protocol/messages/02-list-offsets.ts'
import { DeleteRecordsApi } from '../../src/protocol/messages/21-delete-records.ts'
import { InitProducerIdApi, type InitProducerIdRequestInput } from '../../src/protocol/messages/22-init-producer-id.ts'
import { OffsetForLeaderEpochApi } from '../../src/protocol/messages/23-offset-for-leader-epoch.ts'
import { DescribeProducersApi } from '../../src/protocol/messages/61-describe-producers.ts'
import { type ParityCase, parityCase, sortedBy } from './parity-case.ts'
import { NOW } from './produce-cases.ts'

interface Listed {
  /** Default: p. */
  readonly topic?: string
  readonly version?: number
  readonly replicaId?: number
  readonly isolation?: number
  readonly partition?: number
  readonly leaderEpoch?: number
  readonly twice?: true
}

function listCase(what: string, timestamp: bigint, options: Listed = {}): ParityCase {
  const { topic = 'p', version = 11, partition: partitionIndex = 0, leaderEpoch = -1 } = options
  const asked = { partitionIndex, timestamp, ...(version >= 4 ? { currentLeaderEpoch: leaderEpoch } : {}) }
  return parityCase(what, ListOffsetsApi, {
    version,
    request: {
      replicaId: options.replicaId ?? -1,
      isolationLevel: options.isolation ?? 0,
      topics: [{ name: topic, partitions: options.twice ? [asked, { ...asked, timestamp: -1n }] : [asked] }],
    },
  })
}

const specs = [-1n, -2n, -3n, -4n, -5n, -6n, -7n, -99n, 0n, NOW, NOW + 5n, NOW + 6n]
const listed: ParityCase[] = [1, 3, 6, 7, 8, 9, 10, 11].flatMap(version =>
  specs.map(spec => listCase(`${spec > 0n ? `now + ${spec - NOW}` : spec}, version ${version}`, spec, { version })),
)

const deleteCase = (topic: string, offset: bigint, partitionIndex = 0): ParityCase =>
  parityCase(`${topic}-${partitionIndex} before ${offset}`, DeleteRecordsApi, {
    request: { timeoutMs: 30_000, topics: [{ name: topic, partitions: [{ partitionIndex, offset }] }] },
  })

const epochCase = (what: string, of: { topic: string; epoch: number; partition?: number; current?: number }) =>
  parityCase(what, OffsetForLeaderEpochApi, {
    request: {
      topics: [
        {
          topic: of.topic,
          partitions: [{ partition: of.partition ?? 0, currentLeaderEpoch: of.current ?? -1, leaderEpoch: of.epoch }],
        },
      ],
    },
  })

const initCase = (what: string, change: Partial<InitProducerIdRequestInput>, version = 5): ParityCase =>
  parityCase(what, InitProducerIdApi, {
    version,
    request: { transactionalId: null, transactionTimeoutMs: 1000, ...change },
    show: ({ errorCode, producerEpoch, producerId }) => ({ errorCode, producerEpoch, given: producerId >= 0n }),
  })

const producersCase = (topic: string, partition: number): ParityCase =>
  parityCase(`${topic}-${partition}`, DescribeProducersApi, {
    request: { topics: [{ name: topic, partitionIndexes: [partition] }] },
    show: ({ topics }) =>
      topics.map(({ partitions }) =>
        partitions.map(({ errorCode, activeProducers }) => ({
          errorCode,
          producers: sortedBy(activeProducers, ({ producerId }) => String(producerId)),
        })),
      ),
  })

export const offsetCases: readonly ParityCase[] = [
  ...listed,
  listCase('as a debugging tool', -1n, { replicaId: -2 }),
  listCase('as a follower', -1n, { replicaId: 5 }),
  listCase('a partition named twice', -1n, { twice: true }),
  listCase('unknown partition', -1n, { partition: 7 }),
  listCase('read_committed', -1n, { isolation: 1 }),
  listCase('a newer leader epoch', -1n, { leaderEpoch: 9 }),
  ...[-1n, -2n, -3n, 5n].map(spec => listCase(`${spec} of an empty topic`, spec, { topic: 'small' })),
  listCase('unknown topic', -1n, { topic: 'nowhere' }),
  epochCase('the present epoch', { topic: 'p', epoch: 0 }),
  epochCase('an unknown epoch', { topic: 'p', epoch: 5 }),
  epochCase('no epoch', { topic: 'p', epoch: -1 }),
  epochCase('an empty topic', { topic: 'small', epoch: 0 }),
  epochCase('unknown topic', { topic: 'nowhere', epoch: 0 }),
  epochCase('unknown partition', { topic: 'p', epoch: 0, partition: 9 }),
  epochCase('a newer leader epoch', { topic: 'p', epoch: 0, current: 9 }),
  deleteCase('p', 2n),
  deleteCase('p', 1n),
  deleteCase('p', 9999n),
  deleteCase('p', -2n),
  deleteCase('p', 0n, 7),
  deleteCase('c', 0n),
  deleteCase('nowhere', 0n),
  deleteCase('__consumer_offsets', 0n),
  deleteCase('small', -1n),
  ...[-2n, -3n, 0n].map(spec => listCase(`${spec} after records were deleted`, spec)),
  initCase('a new producer', {}),
  initCase('a new producer, version 0', {}, 0),
  initCase('an id without epoch', { producerId: 5n }),
  initCase('an epoch without id', { producerEpoch: 5 }),
  initCase('an id with its epoch', { producerId: 5n, producerEpoch: 1 }),
  initCase('an empty transactional id', { transactionalId: '' }),
  producersCase('idempotent', 0),
  producersCase('small', 0),
  producersCase('idempotent', 9),
  producersCase('nowhere', 0),
]
