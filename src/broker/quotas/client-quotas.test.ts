/** Quotas of clients, from the request that sets them to the pause that they cost. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { ZERO_UUID } from '../../core/uuid.ts'
import { errorName } from '../../protocol/errors.ts'
import { ProduceApi } from '../../protocol/messages/00-produce.ts'
import { FetchApi } from '../../protocol/messages/01-fetch.ts'
import { MetadataApi } from '../../protocol/messages/03-metadata.ts'
import { CreateTopicsApi } from '../../protocol/messages/19-create-topics.ts'
import { DeleteTopicsApi } from '../../protocol/messages/20-delete-topics.ts'
import { DescribeClientQuotasApi } from '../../protocol/messages/48-describe-client-quotas.ts'
import { AlterClientQuotasApi } from '../../protocol/messages/49-alter-client-quotas.ts'
import { batch } from '../fakes/requests.ts'
import { TestNode } from '../fakes/test-node.ts'

type Entity = Readonly<Record<string, string | null>>

async function start(t: TestContext) {
  const clock = new ManualClock()
  const node = await TestNode.start({ clock })
  t.after(() => node.close())
  await node.createTopic('orders')
  const alter = async (entity: Entity, ops: Readonly<Record<string, number | null>>, validateOnly = false) => {
    const parts = Object.entries(entity).map(([entityType, entityName]) => ({ entityType, entityName }))
    const changes = Object.entries(ops).map(([key, value]) => ({ key, value: value ?? 0, remove: value === null }))
    const answer = await node.call(AlterClientQuotasApi, { entries: [{ entity: parts, ops: changes }], validateOnly })
    return errorName(answer?.entries[0]?.errorCode ?? -1)
  }
  const produce = (bytes: number, clientId = 'test') =>
    node.call(
      ProduceApi,
      {
        acks: 1,
        timeoutMs: 1000,
        topicData: [{ name: 'orders', partitionData: [{ index: 0, records: batch(undefined, 'v'.repeat(bytes)) }] }],
      },
      { version: 12, clientId },
    )
  const fetch = (session: { id: number; epoch: number }, clientId = 'test') =>
    node.call(
      FetchApi,
      {
        maxWaitMs: 0,
        minBytes: 1,
        maxBytes: 1 << 20,
        isolationLevel: 0,
        sessionId: session.id,
        sessionEpoch: session.epoch,
        topics: [{ topic: 'orders', partitions: [{ partition: 0, fetchOffset: 0n, partitionMaxBytes: 1 << 20 }] }],
        forgottenTopicsData: [],
      },
      { version: 12, clientId },
    )
  const create = (name: string, numPartitions: number, version = 7) =>
    node.call(
      CreateTopicsApi,
      { topics: [{ name, numPartitions, replicationFactor: 1, assignments: [], configs: [] }], timeoutMs: 1000 },
      { version },
    )
  return { node, clock, alter, produce, fetch, create }
}

test('quotas are set, told, not written twice, and taken away', async t => {
  const { node, alter } = await start(t)
  equal(await alter({ user: 'alice' }, { producer_byte_rate: 1000, request_percentage: 12.5 }), 'NONE')
  const offset = node.controller.image.offset
  equal(await alter({ user: 'alice' }, { producer_byte_rate: 1000 }), 'NONE')
  equal(await alter({ user: 'alice' }, { producer_byte_rate: 7 }, true), 'NONE')
  equal(node.controller.image.offset, offset)
  const described = await node.call(DescribeClientQuotasApi, { components: [], strict: false })
  deepEqual(
    described?.entries?.map(({ entity, values }) => [entity, values]),
    [
      [
        [{ entityType: 'user', entityName: 'alice' }],
        [
          { key: 'producer_byte_rate', value: 1000 },
          { key: 'request_percentage', value: 12.5 },
        ],
      ],
    ],
  )
  equal(await alter({ user: 'alice' }, { producer_byte_rate: null, request_percentage: null }), 'NONE')
  equal(node.controller.image.clientQuotas.size, 0)
})

test('a producer over its quota is told the pause that brings it back, and another client id is not', async t => {
  const { alter, produce, clock } = await start(t)
  await alter({ 'client-id': 'fast' }, { producer_byte_rate: 1000 })
  equal((await produce(5000, 'fast'))?.throttleTimeMs, 0)
  const pause = (await produce(15_000, 'fast'))?.throttleTimeMs ?? 0
  ok(pause > 10_000 && pause < 10_500, `${pause} ms`)
  equal((await produce(50_000))?.throttleTimeMs, 0)
  await clock.advance(11_000)
  equal((await produce(5000, 'fast'))?.throttleTimeMs, 0)
})

test('a consumer over its quota gets an empty answer, and the records when the pause is over', async t => {
  const { alter, produce, fetch, clock } = await start(t)
  await produce(30_000)
  await alter({ user: null }, { consumer_byte_rate: 1000 })
  const first = await fetch({ id: 0, epoch: 0 })
  deepEqual([first?.errorCode, first?.sessionId, first?.responses], [0, 0, []])
  ok((first?.throttleTimeMs ?? 0) > 19_000)
  // Nothing was sent, so nothing was used.
  await alter({ user: null }, { consumer_byte_rate: 10_000 })
  const second = await fetch({ id: 0, epoch: 0 })
  equal(second?.throttleTimeMs, 0)
  ok((second?.responses[0]?.partitions[0]?.records?.length ?? 0) > 30_000)
  await clock.advance(1)
  await alter({ user: null }, { consumer_byte_rate: 1000 })
  const inSession = await fetch({ id: second?.sessionId ?? 0, epoch: 1 })
  deepEqual([inSession?.errorCode, inSession?.sessionId, inSession?.responses], [0, second?.sessionId, []])
})

test('partitions beyond the quota of mutations are refused, and only cost a pause where clients are old', async t => {
  const { node, alter, create, clock } = await start(t)
  await alter({ user: 'ANONYMOUS' }, { controller_mutation_rate: 1 })
  const result = async (answer: ReturnType<typeof create>) => {
    const { topics = [], throttleTimeMs } = (await answer) ?? {}
    return [errorName(topics[0]?.errorCode ?? -1), throttleTimeMs]
  }
  deepEqual(await result(create('a', 20)), ['NONE', 0])
  deepEqual(await result(create('b', 1)), ['THROTTLING_QUOTA_EXCEEDED', 9000])
  deepEqual(await result(create('b', 1, 5)), ['NONE', 10_000])
  const deletion = await node.call(DeleteTopicsApi, { topics: [{ name: 'a', topicId: ZERO_UUID }], timeoutMs: 1000 })
  deepEqual(
    [errorName(deletion?.responses[0]?.errorCode ?? -1), deletion?.throttleTimeMs],
    ['THROTTLING_QUOTA_EXCEEDED', 10_000],
  )
  await clock.advance(10_000)
  deepEqual(await result(create('c', 1)), ['NONE', 0])
})

test('time on the main thread counts for every request, with pauses of at most a sample', async t => {
  const { node, alter } = await start(t)
  await alter({ 'client-id': 'busy' }, { request_percentage: 0.000_001 })
  const answer = await node.call(MetadataApi, { topics: null }, { clientId: 'busy' })
  // The clock of the test stands still, and no time was spent.
  equal(answer?.throttleTimeMs, 0)
})

for (const [what, entity, ops, error] of [
  ['an unknown quota', { user: 'a' }, { bytes: 1 }, 'INVALID_REQUEST'],
  ['a quota of addresses for a user', { user: 'a' }, { connection_creation_rate: 1 }, 'INVALID_REQUEST'],
  ['a quota of users for an address', { ip: '10.0.0.1' }, { producer_byte_rate: 1 }, 'INVALID_REQUEST'],
  ['an address with a user', { ip: '10.0.0.1', user: 'a' }, { connection_creation_rate: 1 }, 'INVALID_REQUEST'],
  ['an unknown kind of entity', { team: 'a' }, { producer_byte_rate: 1 }, 'INVALID_REQUEST'],
  ['no entity', {}, { producer_byte_rate: 1 }, 'INVALID_REQUEST'],
  ['an empty name', { user: '' }, { producer_byte_rate: 1 }, 'INVALID_REQUEST'],
  ['a quota of nothing', { user: 'a' }, { producer_byte_rate: 0 }, 'INVALID_REQUEST'],
  ['a fraction of a byte', { user: 'a' }, { producer_byte_rate: 1.5 }, 'INVALID_REQUEST'],
  ['too many connections', { ip: null }, { connection_creation_rate: 2 ** 31 }, 'INVALID_REQUEST'],
  ['not a number', { user: 'a' }, { request_percentage: Number.NaN }, 'INVALID_REQUEST'],
] as const) {
  test(`${what} is refused and changes nothing`, async t => {
    const { node, alter } = await start(t)
    equal(await alter(entity, ops), error)
    equal(node.controller.image.clientQuotas.size, 0)
  })
}
