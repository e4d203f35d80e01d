/** Share groups of KIP-932 on a node in memory: joining, assignment, fencing, topics that come and go, start offsets, deletion, configs, restarts. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../core/random.ts'
import { ZERO_UUID } from '../../core/uuid.ts'
import { ConfigResourceType } from '../../metadata/metadata-image.ts'
import { errorName } from '../../protocol/errors.ts'
import { ConsumerClient } from '../fakes/consumer-client.ts'
import { GroupBench } from '../fakes/group-bench.ts'
import { ShareClient } from '../fakes/share-client.ts'

const described = async (bench: GroupBench) => {
  const asking = bench.node.groups.shares.describe(bench.group)
  await bench.settle()
  const { errorCode, group } = await asking
  return group
    ? [group.groupState, group.groupEpoch, group.assignmentEpoch, group.members.length]
    : errorName(errorCode)
}

/** Start offsets as `topic-partition offset`, or the name of the error. */
async function starts(bench: GroupBench): Promise<string[] | string> {
  const asking = bench.node.groups.shares.describeOffsets(bench.group, null)
  await bench.settle()
  const { errorCode, topics } = await asking
  if (errorCode !== 0) return errorName(errorCode)
  return topics.flatMap(({ topicName, partitions }) =>
    partitions.map(({ partitionIndex, startOffset }) => `${topicName}-${partitionIndex} ${startOffset}`),
  )
}

async function alter(bench: GroupBench, topicName: string, offsets: Readonly<Record<number, number>>): Promise<string> {
  const partitions = Object.entries(offsets).map(([index, startOffset]) => ({
    partitionIndex: Number(index),
    startOffset,
  }))
  const asking = bench.node.groups.shares.alterOffsets(bench.group, [{ topicName, partitions }])
  await bench.settle()
  const { errorCode, topics } = await asking
  if (errorCode !== 0) return errorName(errorCode)
  return topics.flatMap(topic => topic.partitions.map(partition => errorName(partition.errorCode))).join()
}

async function settled<T>(bench: GroupBench, asking: Promise<T>): Promise<T> {
  await bench.settle()
  return await asking
}

test('the first answer has no partitions, since they get their state then; members share partitions when there are more members', async () => {
  const bench = await GroupBench.start()
  const [first, second, third] = [new ShareClient(bench), new ShareClient(bench), new ShareClient(bench)]
  strictEqual(await first.beat(), 'NONE')
  deepStrictEqual([first.epoch, first.partitions, await described(bench)], [1, [], ['Stable', 1, 1, 1]])
  deepStrictEqual(await starts(bench), ['t-0 -1', 't-1 -1'])
  await bench.clock.advance(1000)
  await first.beat()
  deepStrictEqual([first.epoch, first.partitions], [2, ['t-0', 't-1']])
  await bench.clock.advance(1000)
  await second.beat()
  await first.beat()
  deepStrictEqual([first.partitions.length, second.partitions.length], [1, 1])
  await bench.clock.advance(1000)
  await third.beats(1)
  await first.beat()
  await second.beat()
  const shares = [first, second, third].map(({ partitions }) => partitions.length)
  ok(
    shares.every(count => count >= 1 && count <= 2),
    `${shares}`,
  )
  strictEqual(await first.leave(), 'NONE')
  await second.leave()
  await third.leave()
  deepStrictEqual((await described(bench))[0], 'Empty')
  strictEqual(await first.beat({ memberEpoch: 3 }), 'UNKNOWN_MEMBER_ID')
  await bench.close()
})

test('targets of a share group are not made more often than share.assignment.interval.ms', async () => {
  const bench = await GroupBench.start()
  const [first, second] = [new ShareClient(bench), new ShareClient(bench)]
  await first.beats(2)
  await second.beat()
  strictEqual(second.partitions.length, 1)
  const third = new ShareClient(bench)
  await third.beat()
  deepStrictEqual([third.partitions.length, await described(bench)], [0, ['Stable', 4, 3, 3]])
  await bench.clock.advance(1000)
  await third.beat()
  strictEqual(third.partitions.length, 1)
  await bench.close()
})

test('a member of a share group that is silent for a session is removed; a group may have a session of its own', async () => {
  const bench = await GroupBench.start()
  const [silent, own] = [new ShareClient(bench), new ShareClient(bench)]
  await silent.beat()
  await bench.clock.advance(44_000)
  await own.beat()
  await bench.clock.advance(1000)
  strictEqual(await silent.beat(), 'UNKNOWN_MEMBER_ID')
  const longer = { key: 'share.session.timeout.ms', value: '60000', operation: 'set' as const }
  const resource = { type: ConfigResourceType.GROUP, name: bench.group }
  await bench.node.controller.incrementalAlterConfigs([{ resource, changes: [longer] }], { validateOnly: false })
  await own.beat()
  await bench.clock.advance(59_000)
  strictEqual(await own.beat(), 'NONE')
  await bench.clock.advance(60_000)
  strictEqual(await own.beat(), 'UNKNOWN_MEMBER_ID')
  await bench.close()
})

test('a member epoch that is not the present one is fenced, unless the last answer may have been lost', async () => {
  const bench = await GroupBench.start()
  const member = new ShareClient(bench)
  await member.beats(2)
  strictEqual(member.epoch, 2)
  strictEqual(await member.beat({ memberEpoch: 1 }), 'NONE')
  strictEqual(await member.beat({ memberEpoch: 7 }), 'FENCED_MEMBER_EPOCH')
  strictEqual(await member.beat(), 'NONE')
  deepStrictEqual([member.epoch, member.partitions], [2, ['t-0', 't-1']])
  strictEqual(await member.beat({ memberId: 'nobody' }), 'UNKNOWN_MEMBER_ID')
  await bench.close()
})

test('requests to share groups that make no sense are refused', async () => {
  const bench = await GroupBench.start({ file: { 'group.share.max.size': '1' } })
  const member = new ShareClient(bench)
  strictEqual(await member.beat({ memberEpoch: 1 }), 'GROUP_ID_NOT_FOUND')
  strictEqual(await member.beat({ memberId: '' }), 'INVALID_REQUEST')
  strictEqual(await member.beat({ groupId: '' }), 'INVALID_REQUEST')
  strictEqual(await member.beat({ rackId: '' }), 'INVALID_REQUEST')
  strictEqual(await member.beat({ memberEpoch: -2 }), 'INVALID_REQUEST')
  strictEqual(await member.beat({ subscribedTopicNames: [] }), 'INVALID_REQUEST')
  strictEqual(await member.beat(), 'NONE')
  strictEqual(await new ShareClient(bench).beat(), 'GROUP_MAX_SIZE_REACHED')
  await bench.close()
})

test('topics that appear, grow and go change what the members of a share group have', async () => {
  const bench = await GroupBench.start()
  const member = new ShareClient(bench, ['t', 'later'])
  await member.beats(2)
  deepStrictEqual(member.partitions, ['t-0', 't-1'])
  await bench.node.createTopic('later', { partitions: 1 })
  await member.beats(2)
  deepStrictEqual(member.partitions, ['later-0', 't-0', 't-1'])
  await bench.node.controller.createPartitions([{ name: 'later', newCount: 2 }], {
    validateOnly: false,
  })
  await member.beats(2)
  deepStrictEqual(member.partitions, ['later-0', 'later-1', 't-0', 't-1'])
  await bench.node.controller.deleteTopics([{ name: 't', topicId: ZERO_UUID }])
  await member.beats(2)
  deepStrictEqual(member.partitions, ['later-0', 'later-1'])
  deepStrictEqual(await starts(bench), ['later-0 -1', 'later-1 -1'])
  const { epoch } = member
  await member.beats(2)
  strictEqual(member.epoch, epoch)
  await bench.close()
})

test('start offsets can be set while a share group has no members, which makes the group, and deleted', async () => {
  const bench = await GroupBench.start()
  strictEqual(await alter(bench, 't', { 0: 5, 1: 7 }), 'NONE,NONE')
  strictEqual(await alter(bench, 't', { 1: 8, 2: 1 }), 'NONE,UNKNOWN_TOPIC_OR_PARTITION')
  strictEqual(await alter(bench, 'nothing', { 0: 1 }), 'UNKNOWN_TOPIC_OR_PARTITION')
  deepStrictEqual(
    [await described(bench), await starts(bench)],
    [
      ['Empty', 0, 0, 0],
      ['t-0 5', 't-1 8'],
    ],
  )
  const member = new ShareClient(bench)
  await member.beat()
  deepStrictEqual(member.partitions, ['t-0', 't-1'])
  strictEqual(await alter(bench, 't', { 0: 1 }), 'NON_EMPTY_GROUP')
  strictEqual(errorName(await settled(bench, bench.node.groups.deleteGroup('g'))), 'NON_EMPTY_GROUP')
  await member.leave()
  strictEqual(await alter(bench, 't', { 0: 1 }), 'NONE')
  deepStrictEqual(await starts(bench), ['t-0 1', 't-1 8'])
  const { topics } = await settled(bench, bench.node.groups.shares.deleteOffsets('g', ['t', 'nothing']))
  deepStrictEqual(
    topics.map(({ errorCode }) => errorName(errorCode)),
    ['NONE', 'UNKNOWN_TOPIC_OR_PARTITION'],
  )
  deepStrictEqual(await starts(bench), [])
  const { errorCode } = await settled(bench, bench.node.groups.shares.deleteOffsets('unknown', ['t']))
  strictEqual(errorName(errorCode), 'GROUP_ID_NOT_FOUND')
  await bench.close()
})

test('a share group that is deleted leaves nothing behind, in the log either', async () => {
  const bench = await GroupBench.start()
  const member = new ShareClient(bench)
  await member.beats(2)
  await member.leave()
  await alter(bench, 't', { 0: 5 })
  strictEqual(errorName(await settled(bench, bench.node.groups.deleteGroup('g'))), 'NONE')
  strictEqual(await described(bench), 'GROUP_ID_NOT_FOUND')
  deepStrictEqual(await starts(bench), [])
  const restarted = await bench.crash(seededRandom(1))
  strictEqual(await described(restarted), 'GROUP_ID_NOT_FOUND')
  deepStrictEqual(restarted.node.groups.listGroups({ states: [], types: [] }).groups, [])
  const again = new ShareClient(restarted)
  await again.beats(2)
  deepStrictEqual(await starts(restarted), ['t-0 -1', 't-1 -1'])
  await restarted.close()
})

test('after a crash a share group is where it was, its members go on, and those that do not come back are removed', async () => {
  const bench = await GroupBench.start()
  const [stays, goes] = [new ShareClient(bench), new ShareClient(bench)]
  await stays.beats(2)
  await goes.beats(1)
  await stays.beats(1)
  const before = await described(bench)
  const restarted = await bench.crash(seededRandom(2))
  stays.bench = restarted
  deepStrictEqual([await described(restarted), await stays.beat()], [before, 'NONE'])
  await restarted.clock.advance(40_000)
  strictEqual(await stays.beat(), 'NONE')
  await restarted.clock.advance(5000)
  await stays.beats(1)
  deepStrictEqual([(await described(restarted))[3], stays.partitions], [1, ['t-0', 't-1']])
  await restarted.close()
})

test('an id is of one type of group at a time', async () => {
  const bench = await GroupBench.start()
  const share = new ShareClient(bench)
  await share.beat()
  strictEqual(await new ConsumerClient(bench).beat(), 'GROUP_ID_NOT_FOUND')
  strictEqual(errorName((await settled(bench, bench.join())).errorCode), 'INCONSISTENT_GROUP_PROTOCOL')
  strictEqual(await settled(bench, bench.commit(1)), 'GROUP_ID_NOT_FOUND')
  strictEqual(bench.state(), 'GROUP_ID_NOT_FOUND')
  bench.group = 'consumers'
  await new ConsumerClient(bench).beat()
  strictEqual(await new ShareClient(bench).beat(), 'GROUP_ID_NOT_FOUND')
  strictEqual(await alter(bench, 't', { 0: 1 }), 'GROUP_ID_NOT_FOUND')
  bench.group = 'classic'
  await bench.alone()
  strictEqual(await new ShareClient(bench).beat(), 'GROUP_ID_NOT_FOUND')
  strictEqual(await described(bench), 'GROUP_ID_NOT_FOUND')
  const { groups } = bench.node.groups.listGroups({ states: ['stable'], types: ['share'] })
  deepStrictEqual(groups, [{ groupId: 'g', protocolType: 'share', groupState: 'Stable', groupType: 'share' }])
  await bench.close()
})
