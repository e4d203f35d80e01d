/** ShareFetch and ShareAcknowledge as a member sends them, request by request: sessions, waiting, acknowledgements that come along, errors. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ShareBench } from '../../coordinator/share-partitions/fakes/share-bench.ts'
import { randomUuid } from '../../core/uuid.ts'
import { errorName } from '../../protocol/errors.ts'
import { FindCoordinatorApi } from '../../protocol/messages/10-find-coordinator.ts'
import { ShareFetchApi, type ShareFetchRequestInput } from '../../protocol/messages/78-share-fetch.ts'
import { ShareAcknowledgeApi, type ShareAcknowledgeRequestInput } from '../../protocol/messages/79-share-acknowledge.ts'
import { testClient } from '../fakes/test-node.ts'

const ACCEPT = 1
const RELEASE = 2
const RENEW = 4

class Member {
  readonly #bench: ShareBench
  readonly #connection = new AbortController()
  readonly #id: string
  epoch = 0

  constructor(bench: ShareBench, id = 'm') {
    this.#bench = bench
    this.#id = id
  }

  topics(...acknowledged: [first: number, last: number, ...types: number[]][]) {
    const acknowledgementBatches = acknowledged.map(([first, last, ...acknowledgeTypes]) => ({
      firstOffset: BigInt(first),
      lastOffset: BigInt(last),
      acknowledgeTypes,
    }))
    return [{ topicId: this.#bench.key.topicId, partitions: [{ partitionIndex: 0, acknowledgementBatches }] }]
  }

  /** The error of the answer, or per partition: its errors and what was acquired as `first-last x count`. */
  async fetch(some: Partial<ShareFetchRequestInput> = {}): Promise<string | string[]> {
    const request = {
      groupId: 'g',
      memberId: this.#id,
      shareSessionEpoch: this.epoch,
      maxWaitMs: 0,
      minBytes: 1,
      maxRecords: 100,
      batchSize: 100,
      topics: this.epoch === 0 ? this.topics() : [],
      forgottenTopicsData: [],
      ...some,
    }
    const { signal } = this.#connection
    const answer = await this.#bench.settled(
      this.#bench.node.call(ShareFetchApi, request, { client: testClient(signal) }),
    )
    if (!answer) return 'no answer'
    if (answer.errorCode !== 0) return errorName(answer.errorCode)
    this.epoch++
    return answer.responses.flatMap(({ partitions }) =>
      partitions.map(({ errorCode, acknowledgeErrorCode, acquiredRecords }) =>
        [
          ...[errorCode, acknowledgeErrorCode].filter(code => code !== 0).map(errorName),
          ...acquiredRecords.map(one => `${one.firstOffset}-${one.lastOffset} x${one.deliveryCount}`),
        ].join(' '),
      ),
    )
  }

  async acknowledge(some: Partial<ShareAcknowledgeRequestInput> = {}): Promise<string | string[]> {
    const request = { groupId: 'g', memberId: this.#id, shareSessionEpoch: this.epoch, topics: [], ...some }
    const answer = await this.#bench.settled(this.#bench.node.call(ShareAcknowledgeApi, request))
    if (!answer) return 'no answer'
    if (answer.errorCode !== 0) return errorName(answer.errorCode)
    this.epoch++
    return answer.responses.flatMap(({ partitions }) => partitions.map(({ errorCode }) => errorName(errorCode)))
  }

  disconnect(): void {
    this.#connection.abort()
  }
}

test('a session begins with epoch 0, goes on epoch by epoch, and ends with -1', async () => {
  const bench = await ShareBench.start()
  const member = new Member(bench)
  strictEqual(await member.fetch({ shareSessionEpoch: 1 }), 'SHARE_SESSION_NOT_FOUND')
  strictEqual(await member.acknowledge({ shareSessionEpoch: 0 }), 'INVALID_SHARE_SESSION_EPOCH')
  strictEqual(await member.fetch({ topics: member.topics([0, 0, ACCEPT]) }), 'INVALID_REQUEST')
  deepStrictEqual(await member.fetch(), [''])
  deepStrictEqual(await member.fetch(), [])
  await bench.produce(['a', 'b'])
  strictEqual(await member.fetch({ shareSessionEpoch: 5 }), 'INVALID_SHARE_SESSION_EPOCH')
  deepStrictEqual(await member.fetch(), ['0-1 x1'])
  deepStrictEqual(await member.fetch({ topics: member.topics([0, 0, ACCEPT]) }), [''])
  deepStrictEqual(await member.acknowledge({ shareSessionEpoch: -1, topics: member.topics([0, 0, ACCEPT]) }), [
    'INVALID_RECORD_STATE',
  ])
  strictEqual(await member.fetch(), 'SHARE_SESSION_NOT_FOUND')
  deepStrictEqual(await new Member(bench, 'n').fetch(), ['1-1 x2'])
  await bench.close()
})

test('a share consumer over its quota gets the records that were locked for it, and pauses', async () => {
  const bench = await ShareBench.start()
  const quota = { entity: [{ type: 'client-id', name: 'test' }], changes: [{ key: 'consumer_byte_rate', value: 1 }] }
  await bench.node.controller.quotas.alterClientQuotas([quota], { validateOnly: false })
  const member = new Member(bench)
  await member.fetch()
  await bench.produce(['a', 'b'])
  deepStrictEqual(await member.fetch(), ['0-1 x1'])
  strictEqual(bench.node.broker.quotas.figures('consumer_byte_rate').requests, 1)
  await bench.close()
})

test('a fetch waits for records, for those that come and those that another member releases', async () => {
  const bench = await ShareBench.start()
  const member = new Member(bench)
  const waiting = member.fetch({ maxWaitMs: 5000 })
  await bench.clock.advance(50)
  await bench.produce(['a', 'b'])
  deepStrictEqual(await waiting, ['0-1 x1'])
  const other = new Member(bench, 'n')
  const released = other.fetch({ maxWaitMs: 5000 })
  await bench.clock.advance(50)
  deepStrictEqual(await member.acknowledge({ topics: member.topics([0, 1, ACCEPT, RELEASE]) }), ['NONE'])
  deepStrictEqual(await released, ['1-1 x2'])
  await bench.close()
})

test('fewer bytes than wanted wait until the time is over', async () => {
  const bench = await ShareBench.start()
  await bench.produce(['a'])
  const member = new Member(bench)
  const startedMs = bench.clock.monotonicMs()
  deepStrictEqual(await member.fetch({ minBytes: 100_000, maxWaitMs: 500 }), ['0-0 x1'])
  strictEqual(bench.clock.monotonicMs() - startedMs >= 500, true)
  await bench.close()
})

test('what a member held is free when its connection is gone', async () => {
  const bench = await ShareBench.start()
  await bench.produce(['a'])
  const member = new Member(bench)
  deepStrictEqual(await member.fetch(), ['0-0 x1'])
  const other = new Member(bench, 'n')
  deepStrictEqual(await other.fetch(), [''])
  member.disconnect()
  deepStrictEqual(await other.fetch({ maxWaitMs: 1000 }), ['0-0 x2'])
  await bench.close()
})

test('a renewal keeps the lock and fetches nothing', async () => {
  const bench = await ShareBench.start()
  await bench.produce(['a'])
  const member = new Member(bench)
  await member.fetch()
  await bench.clock.advance(20_000)
  const renewal = { isRenewAck: true, topics: member.topics([0, 0, RENEW]) }
  strictEqual(await member.fetch(renewal), 'INVALID_REQUEST')
  const nothing = { maxBytes: 0, minBytes: 0, maxRecords: 0, maxWaitMs: 0 }
  deepStrictEqual(await member.fetch({ ...renewal, ...nothing }), [''])
  await bench.clock.advance(20_000)
  deepStrictEqual(await member.acknowledge({ topics: member.topics([0, 0, RENEW]) }), ['INVALID_REQUEST'])
  deepStrictEqual(await member.acknowledge({ topics: member.topics([0, 0, ACCEPT]) }), ['NONE'])
  await bench.close()
})

test('acknowledgements that make no sense are refused, each partition alone', async () => {
  const bench = await ShareBench.start()
  await bench.produce(['a', 'b', 'c'])
  const member = new Member(bench)
  await member.fetch()
  const say = (...batches: [number, number, ...number[]][]) => member.acknowledge({ topics: member.topics(...batches) })
  deepStrictEqual(await say([0, 2, ACCEPT, ACCEPT]), ['INVALID_REQUEST'])
  deepStrictEqual(await say([0, 2]), ['INVALID_REQUEST'])
  deepStrictEqual(await say([0, 2, 9]), ['INVALID_REQUEST'])
  deepStrictEqual(await say([2, 2, ACCEPT], [0, 0, ACCEPT]), ['INVALID_REQUEST'])
  const unknown = [{ topicId: randomUuid(), partitions: [{ partitionIndex: 0, acknowledgementBatches: [] }] }]
  deepStrictEqual(await member.fetch({ topics: unknown }), ['UNKNOWN_TOPIC_ID'])
  deepStrictEqual(await say([0, 0, ACCEPT], [2, 2, ACCEPT]), ['NONE'])
  await bench.close()
})

test('requests of nobody, of no group, and while share groups are off', async () => {
  const bench = await ShareBench.start()
  const member = new Member(bench)
  strictEqual(await member.fetch({ memberId: '' }), 'INVALID_REQUEST')
  strictEqual(await member.fetch({ groupId: null }), 'INVALID_REQUEST')
  await bench.node.controller.cluster.updateFeatures(
    [{ feature: 'share.version', level: 0, upgradeType: 'safe-downgrade' }],
    { validateOnly: false },
  )
  strictEqual(await member.fetch(), 'UNSUPPORTED_VERSION')
  await bench.close()
})

test('the coordinator of a share partition is found by its key', async () => {
  const bench = await ShareBench.start()
  const key = `g:${bench.key.topicId}:0`
  const request = { keyType: 2, coordinatorKeys: [key, 'g:0', 'nonsense'] }
  const answer = await bench.settled(bench.node.call(FindCoordinatorApi, request))
  deepStrictEqual(
    answer?.coordinators.map(({ errorCode, nodeId }) => [errorName(errorCode), nodeId]),
    [
      ['NONE', 1],
      ['INVALID_REQUEST', -1],
      ['INVALID_REQUEST', -1],
    ],
  )
  await bench.close()
})
