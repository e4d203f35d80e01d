/** Share consumers at a joined node: told why there is nothing to read, kept waiting, sent on as soon as a partition has another leader. */
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { type Uuid, ZERO_UUID } from '../../core/uuid.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { ShareFetchApi, type ShareFetchRequestInput } from '../../protocol/messages/78-share-fetch.ts'
import { ShareAcknowledgeApi } from '../../protocol/messages/79-share-acknowledge.ts'
import { FakeCluster } from '../fakes/fake-cluster.ts'
import { TestNode, testClient } from '../fakes/test-node.ts'

async function mirrored(t: TestContext) {
  const clock = new ManualClock()
  const node = await TestNode.start({ joined: new FakeCluster(), clock })
  t.after(() => node.close())
  await node.createTopic('orders')
  const topicId = node.controller.image.topicIds.get('orders') ?? ZERO_UUID
  const client = testClient()
  const fetch = (shareSessionEpoch: number, more: Partial<ShareFetchRequestInput> = {}) =>
    node.call(
      ShareFetchApi,
      {
        groupId: 'g',
        memberId: 'm',
        shareSessionEpoch,
        maxWaitMs: 500,
        minBytes: 1,
        maxRecords: 10,
        batchSize: 10,
        topics: [],
        forgottenTopicsData: [],
        ...more,
      },
      { client },
    )
  return { node, clock, topicId, client, fetch }
}

const wanted = (
  topicId: Uuid,
  batches: { firstOffset: bigint; lastOffset: bigint; acknowledgeTypes: number[] }[] = [],
) => ({
  topics: [{ topicId, partitions: [{ partitionIndex: 0, acknowledgementBatches: batches }] }],
})

test('a partition that is led here is told once, with the reason, and then waited for', async t => {
  const { topicId, clock, fetch } = await mirrored(t)
  const first = await fetch(0, wanted(topicId))
  const told = first?.responses[0]?.partitions[0]
  deepStrictEqual([first?.errorCode, told?.errorCode, told?.records?.length], [0, ErrorCode.OFFSET_NOT_AVAILABLE, 0])
  match(told?.errorMessage ?? '', /share groups can read a mirror after its promote/)
  let answered = false
  const second = fetch(1).then(answer => {
    answered = true
    return answer
  })
  await Promise.resolve()
  strictEqual(answered, false)
  await clock.advance(500)
  deepStrictEqual((await second)?.responses, [])
  const gone = await fetch(2, wanted('xtzWWN4bTjitpL3kfd9s5g' as Uuid))
  strictEqual(gone?.responses[0]?.partitions[0]?.errorCode, ErrorCode.UNKNOWN_TOPIC_ID)
})

test('a session that is not there, or at another epoch, is refused; the last request ends it', async t => {
  const { topicId, fetch } = await mirrored(t)
  strictEqual((await fetch(3))?.errorCode, ErrorCode.SHARE_SESSION_NOT_FOUND)
  await fetch(0, wanted(topicId))
  strictEqual((await fetch(5))?.errorCode, ErrorCode.INVALID_SHARE_SESSION_EPOCH)
  strictEqual((await fetch(-1))?.errorCode, ErrorCode.NONE)
  strictEqual((await fetch(1))?.errorCode, ErrorCode.SHARE_SESSION_NOT_FOUND)
  strictEqual((await fetch(0, { groupId: '' }))?.errorCode, ErrorCode.INVALID_REQUEST)
})

test('what was never given out cannot be acknowledged', async t => {
  const { node, topicId, fetch } = await mirrored(t)
  await fetch(0, wanted(topicId))
  const batches = [{ firstOffset: 0n, lastOffset: 1n, acknowledgeTypes: [1] }]
  const answer = await fetch(1, wanted(topicId, batches))
  strictEqual(answer?.responses[0]?.partitions[0]?.acknowledgeErrorCode, ErrorCode.INVALID_RECORD_STATE)
  const alone = await node.call(ShareAcknowledgeApi, {
    groupId: 'g',
    memberId: 'm',
    shareSessionEpoch: 1,
    ...wanted(topicId, batches),
  })
  strictEqual(alone?.responses[0]?.partitions[0]?.errorCode, ErrorCode.INVALID_RECORD_STATE)
})
