/** Committed offsets over time: who may commit, transactions, retention, deleted topics, and what survives a crash. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../core/random.ts'
import { type Uuid, uuidToBytes } from '../../core/uuid.ts'
import { topicByName } from '../../metadata/metadata-image.ts'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import {
  ConsumerGroupMetadataKey,
  ConsumerGroupMetadataValue,
} from '../../protocol/coordinator-records/group-03-consumer-group-metadata.ts'
import {
  ConsumerGroupMemberMetadataKey,
  ConsumerGroupMemberMetadataValue,
} from '../../protocol/coordinator-records/group-05-consumer-group-member-metadata.ts'
import {
  ShareGroupMetadataKey,
  ShareGroupMetadataValue,
} from '../../protocol/coordinator-records/group-11-share-group-metadata.ts'
import { encodeRecordKey, encodeRecordValue } from '../../protocol/coordinator-records/registry.ts'
import { errorName } from '../../protocol/errors.ts'
import { GroupBench, memberOf } from '../fakes/group-bench.ts'

/** Offsets are kept for an hour, and those that have expired are looked for every ten minutes. */
const hourly = { 'offsets.retention.minutes': '60', 'offsets.retention.check.interval.ms': '600000' }

test('strangers commit while the group has no member, members in their generation', async () => {
  const bench = await GroupBench.start()
  strictEqual(await bench.commit(1), 'NONE')
  const member = await bench.alone()
  strictEqual(await bench.commit(2), 'UNKNOWN_MEMBER_ID')
  strictEqual(await bench.commit(3, { ...member, generationId: 7 }), 'ILLEGAL_GENERATION')
  strictEqual(await bench.commit(4, member), 'NONE')
  strictEqual(await bench.committed(), 4)
  await bench.leave(member)
  strictEqual(await bench.commit(5), 'NONE')
  strictEqual(await bench.committed(), 5)
  await bench.close()
})

test('commits of many at once share syncs and are all there after a crash', async () => {
  const bench = await GroupBench.start()
  const syncs = bench.fs.syncs
  const codes = await Promise.all(
    Array.from({ length: 50 }, (_, index) => bench.commit(index, undefined, { partition: index % 2 })),
  )
  deepStrictEqual(new Set(codes), new Set(['NONE']))
  strictEqual(bench.fs.syncs - syncs <= 3, true)
  const restarted = await bench.crash(seededRandom(1))
  deepStrictEqual([await restarted.committed(0), await restarted.committed(1)], [48, 49])
  await restarted.close()
})

test('what is not durable is not told', async () => {
  const bench = await GroupBench.start()
  await bench.commit(1)
  let release = () => {}
  const held = new Promise<void>(resolve => {
    release = resolve
  })
  const flush = bench.node
    .partition('__consumer_offsets')
    .log.flush.bind(bench.node.partition('__consumer_offsets').log)
  bench.node.partition('__consumer_offsets').log.flush = async () => {
    await held
    await flush()
  }
  const committing = bench.commit(2)
  let told: number | string | undefined
  const fetching = bench.committed().then(offset => {
    told = offset
  })
  await bench.settle()
  strictEqual(told, undefined)
  release()
  await Promise.all([committing, fetching])
  strictEqual(told, 2)
  await bench.close()
})

test('offsets of a transaction count when it is committed, and are unstable before', async () => {
  const bench = await GroupBench.start()
  await bench.commit(1)
  strictEqual(await bench.commitInTransaction(9, 100n), 'NONE')
  deepStrictEqual([await bench.committed(), await bench.committed(0, true)], [1, 'UNSTABLE_OFFSET_COMMIT'])
  bench.node.groups.transactionCompleted(0, 100n, true)
  deepStrictEqual([await bench.committed(), await bench.committed(0, true)], [9, 9])
  await bench.commitInTransaction(10, 101n)
  bench.node.groups.transactionCompleted(0, 101n, false)
  strictEqual(await bench.committed(0, true), 9)
  await bench.commitInTransaction(11, 102n)
  await bench.commit(12)
  bench.node.groups.transactionCompleted(0, 102n, true)
  strictEqual(await bench.committed(0, true), 12)
  await bench.close()
})

test('an open transaction is still open after a crash', async () => {
  const bench = await GroupBench.start()
  await bench.commitInTransaction(9, 100n)
  const restarted = await bench.crash(seededRandom(1))
  deepStrictEqual([await restarted.committed(), await restarted.committed(0, true)], [-1, 'UNSTABLE_OFFSET_COMMIT'])
  restarted.node.groups.transactionCompleted(0, 100n, true)
  strictEqual(await restarted.committed(0, true), 9)
  await restarted.close()
})

test('offsets of simple groups expire after their last commit, those of others after the group became empty', async () => {
  const bench = await GroupBench.start({ file: hourly })
  await bench.commit(1)
  bench.group = 'members'
  const member = await bench.alone({ sessionTimeoutMs: 1_800_000 })
  await bench.commit(2, member)
  await hours(bench, 1.5, () => bench.heartbeat(member))
  strictEqual(await bench.committed(), 2)
  bench.group = 'g'
  deepStrictEqual([await bench.committed(), bench.state()], [-1, 'GROUP_ID_NOT_FOUND'])
  bench.group = 'members'
  await bench.leave(member)
  await hours(bench, 0.75)
  strictEqual(await bench.committed(), 2)
  await hours(bench, 0.5)
  deepStrictEqual([await bench.committed(), bench.state()], [-1, 'GROUP_ID_NOT_FOUND'])
  const restarted = await bench.crash(seededRandom(1))
  deepStrictEqual([await restarted.committed(), restarted.state()], [-1, 'GROUP_ID_NOT_FOUND'])
  await restarted.close()
})

test('offsets of topics that members read do not expire, those of topics that they stopped reading do', async () => {
  const bench = await GroupBench.start({ file: hourly })
  const subscribe = (topic: string) => ({
    protocolType: 'consumer',
    sessionTimeoutMs: 1_800_000,
    protocols: [{ name: 'p', metadata: subscription(topic) }],
  })
  const member = await bench.alone(subscribe('t'))
  await bench.commit(5, member)
  await hours(bench, 1.5, () => bench.heartbeat(member))
  strictEqual(await bench.committed(), 5)
  const changed = memberOf(await bench.join({ ...subscribe('other'), memberId: member.memberId }))
  await bench.sync(changed, { [changed.memberId]: 'all' })
  await hours(bench, 1.5, () => bench.heartbeat(changed))
  strictEqual(await bench.committed(), -1)
  strictEqual(bench.state(), 'Stable')
  await bench.close()
})

async function hours(bench: GroupBench, count: number, keepAlive: () => void = () => {}): Promise<void> {
  for (let turn = 0; turn < count * 4; turn++) {
    await bench.clock.advance(900_000)
    keepAlive()
  }
  await bench.settle()
}

function subscription(topic: string): Buffer {
  const head = Buffer.from([0, 0, 0, 0, 0, 1, 0, topic.length])
  return Buffer.concat([head, Buffer.from(topic), Buffer.from([0xff, 0xff, 0xff, 0xff])])
}

test('offsets of a deleted topic go, and are not those of a new topic of its name', async () => {
  const bench = await GroupBench.start()
  await bench.commit(5)
  await bench.node.controller.deleteTopics([{ name: 't', topicId: ZERO }])
  await bench.settle()
  await bench.node.createTopic('t', { partitions: 2 })
  strictEqual(await bench.committed(), -1)
  await bench.commit(6)
  const restarted = await bench.crash(seededRandom(1))
  strictEqual(await restarted.committed(), 6)
  await restarted.close()
})

const ZERO = 'AAAAAAAAAAAAAAAAAAAAAA' as Uuid

test('a deleted group is gone with its offsets, also after a crash; one with members stays', async () => {
  const bench = await GroupBench.start()
  const member = await bench.alone()
  await bench.commit(5, member)
  strictEqual(errorName(await bench.node.groups.deleteGroup('g')), 'NON_EMPTY_GROUP')
  await bench.leave(member)
  await bench.commitInTransaction(6, 100n)
  strictEqual(errorName(await bench.node.groups.deleteGroup('g')), 'NONE')
  deepStrictEqual([await bench.committed(), bench.state()], [-1, 'GROUP_ID_NOT_FOUND'])
  bench.node.groups.transactionCompleted(0, 100n, true)
  strictEqual(await bench.committed(), -1)
  const restarted = await bench.crash(seededRandom(1))
  deepStrictEqual([await restarted.committed(0, true), restarted.state()], [-1, 'GROUP_ID_NOT_FOUND'])
  await restarted.close()
})

/** Records of groups that this node does not run. */
function foreignRecords(): { key: Buffer; value: Buffer }[] {
  const consumer = (group: string) => ({
    key: encodeRecordKey(ConsumerGroupMetadataKey, { groupId: group }),
    value: encodeRecordValue(ConsumerGroupMetadataValue, { epoch: 3, metadataHash: 0n }, 0),
  })
  return [
    consumer('empty'),
    consumer('busy'),
    {
      key: encodeRecordKey(ConsumerGroupMemberMetadataKey, { groupId: 'busy', memberId: 'm' }),
      value: encodeRecordValue(
        ConsumerGroupMemberMetadataValue,
        {
          instanceId: null,
          rackId: null,
          clientId: 'c',
          clientHost: '/h',
          subscribedTopicNames: ['t'],
          subscribedTopicRegex: null,
          serverAssignor: null,
        },
        0,
      ),
    },
    {
      key: encodeRecordKey(ShareGroupMetadataKey, { groupId: 'shared' }),
      value: encodeRecordValue(ShareGroupMetadataValue, { epoch: 1, metadataHash: 0n }, 0),
    },
  ]
}

test('groups of other protocols keep their records; their ids are not given to classic groups while they are used', async () => {
  const bench = await GroupBench.start()
  const partition = bench.node.partition('__consumer_offsets')
  const records = foreignRecords().map(({ key, value }) => ({ timestamp: 0n, key, value }))
  await partition.log.appendAsLeader(buildBatch({ records }), {
    leaderEpoch: partition.leaderEpoch,
    origin: 'coordinator',
  })
  await partition.log.flush()
  const restarted = await bench.crash(seededRandom(1))
  const { groups } = restarted.node
  const listed = groups.listGroups({ states: [], types: [] }).groups
  deepStrictEqual(
    listed.map(({ groupId, groupType, groupState }) => [groupId, groupType, groupState]),
    [
      ['empty', 'consumer', 'Empty'],
      ['busy', 'consumer', 'Assigning'],
      ['shared', 'share', 'Empty'],
    ],
  )
  const answers: unknown[] = []
  for (const group of ['busy', 'shared']) {
    restarted.group = group
    const { errorCode } = await restarted.join()
    answers.push([
      errorName(errorCode),
      await restarted.commit(1),
      restarted.state(),
      errorName(await groups.deleteGroup(group)),
    ])
  }
  deepStrictEqual(answers, [
    ['INCONSISTENT_GROUP_PROTOCOL', 'UNKNOWN_MEMBER_ID', 'GROUP_ID_NOT_FOUND', 'NON_EMPTY_GROUP'],
    ['INCONSISTENT_GROUP_PROTOCOL', 'GROUP_ID_NOT_FOUND', 'GROUP_ID_NOT_FOUND', 'NONE'],
  ])
  restarted.group = 'empty'
  strictEqual(await restarted.commit(5), 'NONE')
  strictEqual(restarted.state(), 'GROUP_ID_NOT_FOUND')
  const member = await restarted.alone()
  strictEqual(await restarted.committed(), 5)
  const last = await restarted.crash(seededRandom(2))
  strictEqual(last.heartbeat(member), 'NONE')
  strictEqual(last.node.groups.listGroups({ states: [], types: ['consumer', 'share'] }).groups.length, 1)
  await last.clock.advance(45_000)
  last.group = 'busy'
  strictEqual(last.heartbeat(await last.alone()), 'NONE')
  const { groups: left } = last.node.groups.listGroups({ states: [], types: ['consumer', 'share'] })
  deepStrictEqual(left, [])
  await last.close()
})

test('metadata that is too long is refused alone', async () => {
  const bench = await GroupBench.start()
  strictEqual(await bench.commit(1, undefined, { metadata: 'x'.repeat(4097) }), 'OFFSET_METADATA_TOO_LARGE')
  strictEqual(await bench.commit(1, undefined, { metadata: 'x'.repeat(4096) }), 'NONE')
  strictEqual(bench.node.groups.figures.offsetCommits, 2)
  await bench.close()
})

test('topic ids go to the record', async () => {
  const bench = await GroupBench.start()
  await bench.commit(1)
  const { log } = bench.node.partition('__consumer_offsets')
  const read = await log.read({ offset: 0, maxBytes: 10_000, maxOffset: log.logEndOffset, minOneBatch: true })
  const id = topicByName(bench.node.controller.image, 't')?.id ?? ZERO
  strictEqual(read.kind === 'batches' && read.records.includes(uuidToBytes(id)), true)
  await bench.close()
})
