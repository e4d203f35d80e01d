/** Consumer groups of KIP-848 on a node in memory: joining, revoking, fencing, static members, expressions, offsets, configs, restarts. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../core/random.ts'
import { ConfigResourceType } from '../../metadata/metadata-image.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { ConsumerClient } from '../fakes/consumer-client.ts'
import { GroupBench, nobody } from '../fakes/group-bench.ts'

/** Targets are made at once. */
const eager = { 'group.consumer.assignment.interval.ms': '0' }

const state = async (bench: GroupBench) => {
  const { errorCode, group } = await bench.node.groups.consumers.describe(bench.group)
  return group?.groupState ?? errorName(errorCode)
}

test('one member has everything; a second gets its half when the first has given it up', async () => {
  const bench = await GroupBench.start({ file: eager })
  const first = new ConsumerClient(bench)
  const second = new ConsumerClient(bench)
  strictEqual(await first.beat(), 'NONE')
  deepStrictEqual([first.epoch, first.partitions, await state(bench)], [1, ['t-0', 't-1'], 'Stable'])
  await second.beat()
  deepStrictEqual([second.epoch, second.partitions, await state(bench)], [2, [], 'Reconciling'])
  await first.beat()
  strictEqual(first.epoch, 1)
  await second.beat()
  deepStrictEqual(second.partitions, [])
  await first.beat()
  strictEqual(first.epoch, 2)
  await second.beat()
  deepStrictEqual([first.partitions.length, second.partitions.length, await state(bench)], [1, 1, 'Stable'])
  await first.leave()
  await second.beats(2)
  deepStrictEqual(second.partitions, ['t-0', 't-1'])
  strictEqual(await second.leave(), 'NONE')
  strictEqual(await state(bench), 'Empty')
  await bench.close()
})

test('targets are not made more often than consumer.assignment.interval.ms', async () => {
  const bench = await GroupBench.start()
  const [first, second] = [new ConsumerClient(bench), new ConsumerClient(bench)]
  await first.beat()
  await second.beat()
  strictEqual(await state(bench), 'Assigning')
  await bench.clock.advance(1000)
  await second.beat()
  deepStrictEqual([second.epoch, await state(bench)], [2, 'Reconciling'])
  const interval = { key: 'group.consumer.assignment.interval.ms', value: '0', operation: 'set' as const }
  const resource = { type: ConfigResourceType.BROKER, name: '1' }
  await bench.node.controller.incrementalAlterConfigs([{ resource, changes: [interval] }], { validateOnly: false })
  const third = new ConsumerClient(bench)
  await third.beat()
  strictEqual(third.epoch, 3)
  await bench.close()
})

test('who is silent for a session, or does not give up its partitions in time, is removed', async () => {
  const bench = await GroupBench.start({ file: eager })
  const silent = new ConsumerClient(bench)
  const holder = new ConsumerClient(bench, { rebalanceTimeoutMs: 20_000 })
  await silent.beat()
  await bench.clock.advance(30_000)
  await holder.beat()
  await bench.clock.advance(15_000)
  strictEqual(await silent.beat(), 'UNKNOWN_MEMBER_ID')
  await holder.beats(2)
  deepStrictEqual(holder.partitions, ['t-0', 't-1'])
  await silent.beat()
  const before = holder.request().topicPartitions
  for (let turn = 0; turn < 2; turn++) {
    await holder.beat({ topicPartitions: before })
    await bench.clock.advance(10_000)
  }
  strictEqual(await holder.beat(), 'UNKNOWN_MEMBER_ID')
  await silent.beats(2)
  deepStrictEqual(silent.partitions, ['t-0', 't-1'])
  await bench.close()
})

test('epochs that are ahead or behind are fenced; the epoch before is good when an answer may have been lost', async () => {
  const bench = await GroupBench.start({ file: eager })
  const member = new ConsumerClient(bench)
  await member.beat()
  const base = { ...member.request(), topicPartitions: [] }
  const { consumers } = bench.node.groups
  const code = async (change: object) => errorName((await consumers.heartbeat({ ...base, ...change })).errorCode)
  deepStrictEqual(
    [
      await code({ memberEpoch: 2 }),
      await code({ memberEpoch: 1, memberId: 'nobody' }),
      await code({ memberEpoch: 0, rebalanceTimeoutMs: 1, subscribedTopicNames: ['t'] }),
      await code({ memberEpoch: 1, groupId: 'other' }),
    ],
    ['FENCED_MEMBER_EPOCH', 'UNKNOWN_MEMBER_ID', 'NONE', 'GROUP_ID_NOT_FOUND'],
  )
  await bench.close()
})

test('requests that make no sense are refused with a reason', async () => {
  const bench = await GroupBench.start()
  const client = new ConsumerClient(bench)
  const answers: string[] = []
  for (const change of [
    { groupId: '' },
    { instanceId: '' },
    { rackId: '' },
    { memberId: '' },
    { memberEpoch: -3 },
    { memberEpoch: -2 },
    { rebalanceTimeoutMs: -1 },
    { topicPartitions: null },
    { subscribedTopicNames: null },
    { serverAssignor: 'sticky' },
    { subscribedTopicRegex: '(' },
    { subscribedTopicRegex: '(?=a)' },
    { subscribedTopicRegex: 'a{1000}'.repeat(100) },
  ]) {
    const { errorCode, errorMessage } = await client.heartbeat(change)
    ok(errorMessage)
    answers.push(errorName(errorCode))
  }
  const invalid = new Array<string>(9).fill('INVALID_REQUEST')
  deepStrictEqual(answers, [
    ...invalid,
    'UNSUPPORTED_ASSIGNOR',
    'INVALID_REGULAR_EXPRESSION',
    'INVALID_REGULAR_EXPRESSION',
    'INVALID_REGULAR_EXPRESSION',
  ])
  await bench.close()
})

test('a static member that goes for a while comes back to its partitions under another member id', async () => {
  const bench = await GroupBench.start({ file: eager })
  const other = new ConsumerClient(bench, { instanceId: 'two' })
  const first = new ConsumerClient(bench, { instanceId: 'one' })
  await first.beat()
  await other.beat()
  for (let turn = 0; turn < 2; turn++) for (const client of [first, other]) await client.beat()
  const had = first.partitions
  strictEqual(had.length, 1)
  const again = new ConsumerClient(bench, { instanceId: 'one' })
  strictEqual(await again.beat(), 'UNRELEASED_INSTANCE_ID')
  strictEqual(await first.leave(-2), 'NONE')
  await other.beat()
  strictEqual(other.partitions.length, 1)
  strictEqual(await again.beat(), 'NONE')
  deepStrictEqual(again.partitions, had)
  const epoch = again.epoch
  strictEqual(await first.beat({ memberEpoch: epoch }), 'FENCED_INSTANCE_ID')
  const restarted = await bench.crash(seededRandom(1))
  again.bench = restarted
  strictEqual(await again.beat(), 'NONE')
  deepStrictEqual([again.epoch, again.partitions], [epoch, had])
  await restarted.close()
})

test('a regular expression finds topics, later ones too', async () => {
  const bench = await GroupBench.start({ file: eager })
  await bench.node.createTopic('orders-a', { partitions: 1 })
  const client = new ConsumerClient(bench, { topics: [], regex: 'orders-.*' })
  await client.beat()
  deepStrictEqual(client.partitions, ['orders-a-0'])
  await bench.node.createTopic('orders-b', { partitions: 1 })
  await client.beat()
  await bench.clock.advance(10_000)
  await client.beat()
  deepStrictEqual(client.partitions, ['orders-a-0', 'orders-b-0'])
  const restarted = await bench.crash(seededRandom(1))
  client.bench = restarted
  await client.beat()
  deepStrictEqual(client.partitions, ['orders-a-0', 'orders-b-0'])
  await restarted.close()
})

test('partitions that are added and topics that are deleted change the assignment', async () => {
  const bench = await GroupBench.start({ file: eager })
  const client = new ConsumerClient(bench, { topics: ['t', 'later'] })
  await client.beat()
  await bench.node.createTopic('later', { partitions: 1 })
  await client.beat()
  deepStrictEqual(client.partitions, ['later-0', 't-0', 't-1'])
  await bench.close()
})

test('members commit with their epoch, or with an older one what they have had since', async () => {
  const bench = await GroupBench.start({ file: eager })
  const [first, second] = [new ConsumerClient(bench), new ConsumerClient(bench)]
  strictEqual(await bench.commit(1), 'NONE')
  await first.beat()
  strictEqual(await first.commit(5), 'NONE')
  await second.beat()
  for (let turn = 0; turn < 3; turn++) for (const client of [first, second]) await client.beat()
  const kept = Number(first.partitions[0]?.slice(2))
  deepStrictEqual(
    [
      await first.commit(7, { partition: kept, epoch: 1 }),
      await first.commit(7, { partition: 1 - kept, epoch: 1 }),
      await second.commit(7, { partition: 1 - kept, epoch: 1 }),
      await second.commit(8, { partition: 1 - kept }),
      await first.commit(7, { partition: kept, epoch: 3 }),
      await bench.commit(9, nobody),
      await bench.committed(kept),
    ],
    ['NONE', 'STALE_MEMBER_EPOCH', 'STALE_MEMBER_EPOCH', 'NONE', 'STALE_MEMBER_EPOCH', 'UNKNOWN_MEMBER_ID', 7],
  )
  const inTransaction = async (epoch: number) => {
    const member = { memberId: first.memberId, generationId: epoch, groupInstanceId: null }
    const committing = bench.commitInTransaction(9, 1n, member)
    await bench.settle()
    return await committing
  }
  deepStrictEqual([await inTransaction(first.epoch), await inTransaction(9)], ['NONE', 'ILLEGAL_GENERATION'])
  const { groups } = bench.node
  const fetch = async (memberId: string, memberEpoch: number) => {
    const asked = { groupId: 'g', requireStable: false, topics: [], topicIdOf: () => undefined }
    return errorName((await groups.fetchOffsets({ ...asked, memberId, memberEpoch })).errorCode)
  }
  deepStrictEqual(
    [await fetch(first.memberId, first.epoch), await fetch(first.memberId, 1), await fetch('nobody', 1)],
    ['NONE', 'STALE_MEMBER_EPOCH', 'UNKNOWN_MEMBER_ID'],
  )
  strictEqual(errorName(await groups.deleteGroup('g')), 'NON_EMPTY_GROUP')
  await first.leave()
  await second.leave()
  strictEqual(errorName(await groups.deleteGroup('g')), 'NONE')
  deepStrictEqual(groups.listGroups({ states: [], types: [] }).groups, [])
  const restarted = await bench.crash(seededRandom(1))
  deepStrictEqual(restarted.node.groups.listGroups({ states: [], types: [] }).groups, [])
  strictEqual(await restarted.committed(kept), -1)
  await restarted.close()
})

test('groups obey their own configs, their largest size and the feature group.version', async () => {
  const bench = await GroupBench.start({
    file: { ...eager, 'group.consumer.max.size': '1', 'group.consumer.min.session.timeout.ms': '1000' },
  })
  const { controller } = bench.node
  const changes = [
    { key: 'consumer.session.timeout.ms', value: '10000' },
    { key: 'consumer.heartbeat.interval.ms', value: '6000' },
  ]
  const resource = { type: ConfigResourceType.GROUP, name: 'g' }
  await controller.incrementalAlterConfigs(
    [{ resource, changes: changes.map(change => ({ ...change, operation: 'set' as const })) }],
    { validateOnly: false },
  )
  const [first, second] = [new ConsumerClient(bench), new ConsumerClient(bench)]
  strictEqual((await first.heartbeat()).heartbeatIntervalMs, 6000)
  strictEqual(await second.beat(), 'GROUP_MAX_SIZE_REACHED')
  await bench.clock.advance(10_000)
  strictEqual(await second.beat(), 'NONE')
  await controller.cluster.updateFeatures([{ feature: 'group.version', level: 0, upgradeType: 'unsafe-downgrade' }], {
    validateOnly: false,
  })
  strictEqual(await second.beat(), 'UNSUPPORTED_VERSION')
  strictEqual(errorName((await bench.node.groups.consumers.describe('g')).errorCode), 'UNSUPPORTED_VERSION')
  await bench.close()
})

test('offsets of topics that no member subscribes to expire, and an empty group with them', async () => {
  const file = { ...eager, 'offsets.retention.minutes': '1', 'offsets.retention.check.interval.ms': '30000' }
  const bench = await GroupBench.start({ file })
  const client = new ConsumerClient(bench)
  await client.beat()
  await client.commit(5)
  for (let turn = 0; turn < 6; turn++) {
    await bench.clock.advance(20_000)
    await client.beat()
  }
  strictEqual(await bench.committed(), 5)
  await client.leave()
  await bench.clock.advance(90_000)
  await bench.settle()
  deepStrictEqual(bench.node.groups.listGroups({ states: [], types: [] }).groups, [])
  strictEqual(errorName(ErrorCode.NONE), 'NONE')
  await bench.close()
})
