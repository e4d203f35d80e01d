// Client quotas as both nodes must answer them: what can be set, what is told, and the pauses that clients over their quota get.
import { ZERO_UUID } from '../../src/core/uuid.ts'
import { buildBatch } from '../../src/protocol/batches/build-batch.ts'
import { ProduceApi } from '../../src/protocol/messages/00-produce.ts'
import { FetchApi } from '../../src/protocol/messages/01-fetch.ts'
import { MetadataApi } from '../../src/protocol/messages/03-metadata.ts'
import { CreateTopicsApi } from '../../src/protocol/messages/19-create-topics.ts'
import { DeleteTopicsApi } from '../../src/protocol/messages/20-delete-topics.ts'
import { DescribeClientQuotasApi } from '../../src/protocol/messages/48-describe-client-quotas.ts'
import { AlterClientQuotasApi } from '../../src/protocol/messages/49-alter-client-quotas.ts'
import { everythingIsInForce, inForce } from './in-force.ts'
import { comparable, type ParityCase, parityCase, sortedBy } from './parity-case.ts'
import { ask } from './raw-exchange.ts'

type Entity = readonly (readonly [type: string, name: string | null])[]
type Operations = Readonly<Record<string, number | null>>

const entryOf = (entity: Entity, ops: Operations) => ({
  entity: entity.map(([entityType, entityName]) => ({ entityType, entityName })),
  ops: Object.entries(ops).map(([key, value]) => ({ key, value: value ?? 0, remove: value === null })),
})

const alterCase = (entity: Entity, ops: Operations, validateOnly = false): ParityCase =>
  parityCase(
    `of ${JSON.stringify(entity)}: ${JSON.stringify(ops)}${validateOnly ? ', only checked' : ''}`,
    AlterClientQuotasApi,
    {
      request: { entries: [entryOf(entity, ops)], validateOnly },
      show: ({ entries }) =>
        entries.map(entry => ({ ...entry, entity: sortedBy(entry.entity, ({ entityType }) => entityType) })),
    },
  )

const describeCase = (
  what: string,
  components: readonly (readonly [type: string, matchType: number, match: string | null])[],
  strict = false,
): ParityCase =>
  parityCase(what, DescribeClientQuotasApi, {
    request: {
      components: components.map(([entityType, matchType, match]) => ({ entityType, matchType, match })),
      strict,
    },
    show: ({ errorCode, entries }) => ({
      errorCode,
      entries: sortedBy(
        (entries ?? []).map(({ entity, values }) => ({
          entity: sortedBy(entity, ({ entityType }) => entityType),
          values: sortedBy(values, ({ key }) => key),
        })),
        entry => JSON.stringify(entry.entity),
      ),
    }),
  })

/** Kafka's brokers hear of a quota, and keep to it, a moment after its change is answered. */
const setCase = (entity: Entity, ops: Operations): ParityCase => ({
  name: `AlterClientQuotas of ${JSON.stringify(entity)}, until it is in force`,
  async ask(peer) {
    const request = { entries: [entryOf(entity, ops)], validateOnly: false }
    const answer = await ask(peer, { api: AlterClientQuotasApi, request, version: 1 })
    await everythingIsInForce(peer)
    return comparable(answer)
  },
})

const SHORT_PAUSE_MS = 120_000

/** Pauses depend on the moment: seconds in steps of ten, and minutes of those that get shorter while the next request comes. */
const pause = ({ throttleTimeMs }: { readonly throttleTimeMs: number }): string => {
  if (throttleTimeMs === 0) return 'none'
  if (throttleTimeMs < SHORT_PAUSE_MS) return `about ${Math.round(throttleTimeMs / 10_000) * 10} s`
  return `about ${Math.round(throttleTimeMs / 60_000)} min`
}

const large = buildBatch({
  records: [{ timestamp: BigInt(Date.now()), key: null, value: Buffer.alloc(30_000, 'v') }],
})

const produceCase = (what: string, clientId: string, acks = 1): ParityCase =>
  parityCase(what, ProduceApi, {
    version: 12,
    clientId,
    request: {
      transactionalId: null,
      acks,
      timeoutMs: 30_000,
      topicData: [{ name: 'p', partitionData: [{ index: 1, records: large }] }],
    },
    show: answer => ({
      errors: answer.responses.map(({ partitionResponses }) => partitionResponses[0]?.errorCode),
      pause: pause(answer),
    }),
  })

const fetchCase = (what: string, clientId: string): ParityCase =>
  parityCase(what, FetchApi, {
    version: 12,
    clientId,
    request: {
      maxWaitMs: 100,
      minBytes: 1,
      maxBytes: 1 << 20,
      topics: [{ topic: 'p', partitions: [{ partition: 1, fetchOffset: 0n, partitionMaxBytes: 1 << 20 }] }],
      forgottenTopicsData: [],
    },
    show: answer => ({
      errorCode: answer.errorCode,
      sessionId: answer.sessionId !== 0,
      partitions: answer.responses.length,
      pause: pause(answer),
    }),
  })

const createCase = (name: string, numPartitions: number, version = 7): ParityCase =>
  parityCase(`of ${name} with ${numPartitions} partitions under a quota, version ${version}`, CreateTopicsApi, {
    version,
    clientId: 'quota-mutations',
    request: {
      topics: [{ name, numPartitions, replicationFactor: 1, assignments: [], configs: [] }],
      timeoutMs: 30_000,
    },
    show: answer => ({ errors: answer.topics.map(({ errorCode }) => ({ errorCode })), pause: pause(answer) }),
  })

const user = (name: string | null): Entity => [['user', name]]
const client = (name: string | null): Entity => [['client-id', name]]
const ip = (name: string | null): Entity => [['ip', name]]

const setCases: readonly ParityCase[] = [
  ...['producer_byte_rate', 'consumer_byte_rate', 'request_percentage', 'controller_mutation_rate', 'bytes'].flatMap(
    key => [1, 0, -1, 1.5, 2 ** 62, 1e30].map(value => alterCase(user('checked'), { [key]: value }, true)),
  ),
  ...[1, 0, 1.5, 2 ** 31].map(value => alterCase(ip('127.0.0.1'), { connection_creation_rate: value }, true)),
  alterCase(ip('no such host.invalid'), { connection_creation_rate: 1 }, true),
  alterCase(ip(null), { connection_creation_rate: 1 }, true),
  alterCase(ip('127.0.0.1'), { producer_byte_rate: 1 }, true),
  alterCase(user('checked'), { connection_creation_rate: 1 }, true),
  alterCase([...user('a'), ...ip('127.0.0.1')], { connection_creation_rate: 1 }, true),
  alterCase([], { producer_byte_rate: 1 }, true),
  alterCase([['team', 'a']], { producer_byte_rate: 1 }, true),
  alterCase(user(''), { producer_byte_rate: 1 }, true),
  alterCase(user('checked'), { producer_byte_rate: null }, true),
  alterCase([...user('both'), ...client('app')], { producer_byte_rate: 5, request_percentage: 0.5 }),
  alterCase([...client('app'), ...user('both')], { producer_byte_rate: 6 }),
  alterCase(user('both'), { producer_byte_rate: 7 }),
  alterCase([...user(null), ...client('other')], { consumer_byte_rate: 8 }),
  inForce('quotas that were set'),
  describeCase('of everything', []),
  describeCase('of a user, with any client id or none', [['user', 0, 'both']]),
  describeCase('of a user alone', [['user', 0, 'both']], true),
  describeCase('of the default user with any client id', [
    ['user', 1, null],
    ['client-id', 2, null],
  ]),
  alterCase([...user('both'), ...client('app')], { producer_byte_rate: null, request_percentage: null }),
  alterCase(user('both'), { producer_byte_rate: null }),
  alterCase([...user(null), ...client('other')], { consumer_byte_rate: null }),
  inForce('quotas that were taken away'),
  describeCase('after all are taken away', []),
]

const throttledCases: readonly ParityCase[] = [
  setCase(client('quota-producer'), { producer_byte_rate: 1000 }),
  produceCase('within no quota', 'quota-free'),
  produceCase('three times over the quota of the window', 'quota-producer'),
  produceCase('of another client id', 'quota-free'),
  setCase(client('quota-consumer'), { consumer_byte_rate: 1000 }),
  fetchCase('three times over the quota of the window', 'quota-consumer'),
  fetchCase('of another client id', 'quota-free'),
  setCase(client('quota-requests'), { request_percentage: 0.000_001 }),
  parityCase('over the quota of time', MetadataApi, {
    clientId: 'quota-requests',
    request: { topics: [] },
    show: ({ throttleTimeMs }) => ({ pauses: throttleTimeMs > 0 && throttleTimeMs <= 1000 }),
  }),
  setCase(client('quota-mutations'), { controller_mutation_rate: 0.01 }),
  createCase('mutated-a', 3),
  createCase('mutated-b', 1),
  parityCase('under a quota', DeleteTopicsApi, {
    clientId: 'quota-mutations',
    request: { topics: [{ name: 'mutated-a', topicId: ZERO_UUID }], timeoutMs: 30_000 },
    show: answer => ({ errors: answer.responses.map(({ errorCode }) => ({ errorCode })), pause: pause(answer) }),
  }),
  createCase('mutated-c', 1, 5),
]

/** In the order of their effects. */
export const quotaCases: readonly ParityCase[] = [...setCases, ...throttledCases]
