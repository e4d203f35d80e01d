// What brokers and administrators ask of transactions, as both nodes must answer it: batched additions, markers, lists and descriptions.
import { errorName } from '../../src/protocol/errors.ts'
import { AddPartitionsToTxnApi } from '../../src/protocol/messages/24-add-partitions-to-txn.ts'
import { WriteTxnMarkersApi } from '../../src/protocol/messages/27-write-txn-markers.ts'
import { DescribeProducersApi } from '../../src/protocol/messages/61-describe-producers.ts'
import { DescribeTransactionsApi } from '../../src/protocol/messages/65-describe-transactions.ts'
import {
  ListTransactionsApi,
  type ListTransactionsRequestInput,
} from '../../src/protocol/messages/66-list-transactions.ts'
import { type ParityCase, parityCase, sortedBy } from './parity-case.ts'
import { ask, type Peer } from './raw-exchange.ts'
import { producerOf, recorded, settled, transactionCase, written } from './transaction-cases.ts'
import { idName } from './transactional-peer.ts'

const topic = 'tx3'

interface Addition {
  readonly id: string
  readonly verifyOnly?: boolean
  readonly epoch?: number
  readonly producer?: number
  readonly places: readonly { readonly topic?: string; readonly partitions: readonly number[] }[]
}

/** As a broker asks, for several transactions at once. */
const batchCase = (what: string, version: number, additions: readonly Addition[]): ParityCase => ({
  name: `AddPartitionsToTxn of brokers, version ${version}: ${what}`,
  async ask(peer) {
    const transactions = additions.map(({ id, verifyOnly = false, epoch = 0, producer = 0, places }) => {
      const { producerId, producerEpoch } = producerOf(peer, id)
      return {
        transactionalId: id,
        producerId: producerId + BigInt(producer),
        producerEpoch: producerEpoch + epoch,
        verifyOnly,
        topics: places.map(place => ({ name: place.topic ?? topic, partitions: [...place.partitions] })),
      }
    })
    const answer = await ask(peer, { api: AddPartitionsToTxnApi, request: { transactions }, version })
    if (typeof answer === 'string') return answer
    const results = answer.resultsByTransaction.flatMap(({ transactionalId, topicResults }) =>
      topicResults.flatMap(({ name, resultsByPartition }) =>
        resultsByPartition.map(
          ({ partitionIndex, partitionErrorCode }) =>
            `${transactionalId}: ${name}-${partitionIndex} ${errorName(partitionErrorCode)}`,
        ),
      ),
    )
    return [errorName(answer.errorCode), ...results.sort()].join('\n')
  },
})

const batches: ParityCase[] = [4, 5].flatMap(version => {
  const id = `batch-${version}`
  const other = `${id}-other`
  return [
    ...[id, other].map(name => transactionCase(name, 'begins', producer => producer.init())),
    batchCase('asks before', version, [{ id, verifyOnly: true, places: [{ partitions: [0, 1] }] }]),
    batchCase('adds', version, [{ id, places: [{ partitions: [0] }] }]),
    batchCase('asks and adds', version, [
      { id, verifyOnly: true, places: [{ partitions: [0, 1] }] },
      { id: other, places: [{ partitions: [1] }, { topic: '__consumer_offsets', partitions: [0] }] },
    ]),
    batchCase('asks for what is not there', version, [
      { id, verifyOnly: true, places: [{ partitions: [0, 9] }, { topic: 'nowhere', partitions: [0] }] },
    ]),
    batchCase('with the next epoch', version, [
      { id, verifyOnly: true, epoch: 1, places: [{ partitions: [0] }] },
      { id: other, epoch: 1, places: [{ partitions: [0] }] },
    ]),
    batchCase('with another producer', version, [
      { id, verifyOnly: true, producer: 100_000, places: [{ partitions: [0] }] },
      { id: other, producer: 100_000, places: [{ partitions: [0] }] },
    ]),
    batchCase('of an id that is not known', version, [{ id: 'nobody', epoch: 1, places: [{ partitions: [0] }] }]),
    batchCase('nothing', version, [{ id, places: [] }]),
    transactionCase(id, 'commits', producer => producer.end(true, { version: 5 })),
    settled(id, 'committed'),
    transactionCase(other, 'aborts', producer => producer.end(false, { version: 4 })),
    settled(other, 'aborted'),
    recorded(id),
    recorded(other),
  ]
})

interface MarkerOptions {
  readonly version?: number
  readonly epoch?: number
  readonly coordinatorEpoch?: number
  readonly committed?: boolean
  readonly transactionVersion?: number
  readonly places?: readonly { readonly name: string; readonly partitionIndexes: readonly number[] }[]
}

const markerCase = (id: string, what: string, options: MarkerOptions = {}): ParityCase => ({
  name: `WriteTxnMarkers for ${id}: ${what}`,
  async ask(peer) {
    const { producerId, producerEpoch } = producerOf(peer, id)
    const { version = 2, epoch = 0, coordinatorEpoch = 5, committed = false, transactionVersion = 0 } = options
    const places = options.places ?? [{ name: topic, partitionIndexes: [0] }]
    const marker = {
      producerId,
      producerEpoch: producerEpoch + epoch,
      transactionResult: committed,
      coordinatorEpoch,
      topics: places.map(({ name, partitionIndexes }) => ({ name, partitionIndexes: [...partitionIndexes] })),
      ...(version >= 2 ? { transactionVersion } : {}),
    }
    const answer = await ask(peer, { api: WriteTxnMarkersApi, request: { markers: [marker] }, version })
    if (typeof answer === 'string') return answer
    return answer.markers
      .flatMap(({ topics }) =>
        topics.flatMap(({ name, partitions }) =>
          partitions.map(({ partitionIndex, errorCode }) => `${name}-${partitionIndex} ${errorName(errorCode)}`),
        ),
      )
      .sort()
      .join(', ')
  },
})

const markers: ParityCase[] = [
  parityCase('none', WriteTxnMarkersApi, { request: { markers: [] } }),
  transactionCase('marked', 'begins', producer => producer.init()),
  transactionCase('marked', 'begins again', producer => producer.init()),
  transactionCase('marked', 'writes', producer => producer.produce({ topic, version: 12 })),
  markerCase('marked', 'of version 2 in the same epoch', { transactionVersion: 2 }),
  markerCase('marked', 'with the epoch before', { epoch: -1 }),
  markerCase('marked', 'in places that are not there', {
    places: [
      { name: topic, partitionIndexes: [0, 9] },
      { name: 'nowhere', partitionIndexes: [0] },
    ],
  }),
  markerCase('marked', 'once more, version 1', { version: 1 }),
  markerCase('marked', 'of an older coordinator', { coordinatorEpoch: 4 }),
  markerCase('marked', 'of version 2 again, nothing is open', { transactionVersion: 2 }),
  markerCase('marked', 'of version 2 with the next epoch', { transactionVersion: 2, epoch: 1, committed: true }),
  markerCase('marked', 'with the epoch before the last marker', {}),
  transactionCase('marked', 'writes behind the marker', producer => producer.produce({ topic, version: 12 })),
  parityCase('of marked transactions', DescribeProducersApi, {
    request: { topics: [{ name: topic, partitionIndexes: [0] }] },
    show: ({ topics }, peer) =>
      topics.flatMap(({ partitions }) =>
        partitions.flatMap(({ activeProducers }) =>
          sortedBy(
            activeProducers.map(({ producerId, lastTimestamp: _, ...producer }) => ({
              ...producer,
              producerId: idName(peer, producerId),
            })),
            ({ producerId }) => producerId,
          ),
        ),
      ),
  }),
]

const described = (what: string, transactionalIds: string[]): ParityCase =>
  parityCase(what, DescribeTransactionsApi, {
    request: { transactionalIds },
    show: ({ transactionStates }, peer) =>
      transactionStates.map(({ producerId, transactionStartTimeMs, topics, ...state }) => ({
        ...state,
        producer: state.errorCode === 0 ? idName(peer, producerId) : '',
        begun: transactionStartTimeMs > 0n,
        topics: sortedBy(topics, ({ topic: name }) => name).map(({ topic: name, partitions }) => [
          name,
          partitions.toSorted(),
        ]),
      })),
  })

const listed = (
  what: string,
  filter: Partial<ListTransactionsRequestInput> | ((peer: Peer) => Partial<ListTransactionsRequestInput>),
  version = 2,
): ParityCase =>
  parityCase(what, ListTransactionsApi, {
    version,
    request: peer => ({
      stateFilters: [],
      producerIdFilters: [],
      ...(typeof filter === 'function' ? filter(peer) : filter),
    }),
    show: ({ errorCode, unknownStateFilters, transactionStates }, peer) => ({
      errorCode,
      unknownStateFilters,
      states: sortedBy(
        transactionStates.map(state => ({ ...state, producerId: idName(peer, state.producerId) })),
        ({ transactionalId }) => transactionalId,
      ),
    }),
  })

const overviews: ParityCase[] = [
  transactionCase('open', 'begins', producer => producer.init()),
  transactionCase('open', 'writes', producer => producer.produce({ topic, version: 12, partition: 1 })),
  transactionCase('open', 'writes elsewhere', producer =>
    producer.produce({ topic: 'tx2', version: 12, partition: 2 }),
  ),
  described('in several states', ['open', 'batch-4', 'batch-5', 'init-5', 'nobody', '']),
  described('none', []),
  ...[0, 1, 2].map(version => listed(`all, version ${version}`, {}, version)),
  listed('by state', { stateFilters: ['Ongoing', 'CompleteAbort'] }),
  listed('by states that are none', { stateFilters: ['Ongoing', 'ongoing', 'Nothing'] }),
  listed('by a state that is none', { stateFilters: ['Nothing'] }),
  listed('by producer', peer => ({ producerIdFilters: [producerOf(peer, 'open').producerId, 987_654_321n] })),
  listed('by producers that are none', { producerIdFilters: [987_654_321n] }),
  listed('older than a day', { durationFilter: 86_400_000n }, 1),
  listed('older than nothing', { durationFilter: 0n, stateFilters: ['Ongoing'] }, 1),
  listed('by pattern', { transactionalIdPattern: '(init|batch)-[45]' }),
  listed('by a pattern that matches a part', { transactionalIdPattern: 'init' }),
  listed('by an empty pattern', { transactionalIdPattern: '' }),
  listed('by a pattern that is none', { transactionalIdPattern: '(' }),
  transactionCase('open', 'aborts', producer => producer.end(false, { version: 5 })),
  settled('open', 'aborted'),
]

export const transactionAdminCases: readonly ParityCase[] = [
  ...batches,
  ...markers,
  ...overviews,
  ...[0, 1, 2].map(partition => written(topic, partition)),
]
