/** Groups that change protocol while they run: classic consumers among new ones, the way there and the way back (KIP-848). */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../core/random.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { ConsumerProtocolAssignment } from '../../protocol/messages/consumer-protocol-assignment.ts'
import { ConsumerProtocolSubscription } from '../../protocol/messages/consumer-protocol-subscription.ts'
import { ConsumerClient } from '../fakes/consumer-client.ts'
import { GroupBench, type Member, memberOf } from '../fakes/group-bench.ts'

const eager = { 'group.consumer.assignment.interval.ms': '0' }
const VERSION = 1

const versioned = (body: Buffer) => Buffer.concat([Buffer.from([0, VERSION]), body])

/** What a consumer of the classic protocol says: cooperative, with what it owns. */
const subscription = (owned: readonly number[]) => {
  const ownedPartitions = owned.length > 0 ? [{ topic: 't', partitions: owned }] : []
  return versioned(ConsumerProtocolSubscription.encode({ topics: ['t'], ownedPartitions }, VERSION))
}

const assignment = (partitions: readonly number[]) =>
  versioned(ConsumerProtocolAssignment.encode({ assignedPartitions: [{ topic: 't', partitions }] }, VERSION))

const join = async (
  bench: GroupBench,
  change: { memberId?: string; owned?: readonly number[]; instanceId?: string } = {},
) => {
  const { memberId = '', owned = [], instanceId = null } = change
  const protocols = [{ name: 'cooperative-sticky', metadata: subscription(owned) }]
  return await bench.joined({ memberId, protocolType: 'consumer', protocols, groupInstanceId: instanceId })
}

async function sync(bench: GroupBench, member: Member, given: ReadonlyMap<string, Buffer> = new Map()) {
  const request = { groupId: bench.group, ...member, protocolType: null, protocolName: null, assignments: given }
  const syncing = bench.node.groups.sync(request)
  await bench.settle()
  const { errorCode, assignment: bytes } = await syncing
  if (errorCode !== ErrorCode.NONE) return errorName(errorCode)
  const { assignedPartitions } = ConsumerProtocolAssignment.decode(bytes.subarray(2), VERSION)
  return assignedPartitions.flatMap(({ partitions }) => partitions)
}

/** A classic group of one with everything. */
async function classicGroup(bench: GroupBench): Promise<Member> {
  const member = memberOf(await join(bench))
  deepStrictEqual(await sync(bench, member, new Map([[member.memberId, assignment([0, 1])]])), [0, 1])
  return member
}

const listed = (bench: GroupBench) =>
  bench.node.groups
    .listGroups({ states: [], types: [] })
    .groups.map(({ groupType, groupState }) => `${groupType} ${groupState}`)

test('a consumer of the new protocol joins a classic group: it becomes a consumer group, and the classic member gives up its half', async () => {
  const bench = await GroupBench.start({ file: eager })
  const classic = await classicGroup(bench)
  await bench.commit(5, classic)
  const client = new ConsumerClient(bench)
  strictEqual(await client.beat(), 'NONE')
  deepStrictEqual([client.epoch, client.partitions, listed(bench)], [2, [], ['consumer Reconciling']])
  strictEqual(bench.heartbeat(classic), 'REBALANCE_IN_PROGRESS')
  const again = memberOf(await join(bench, { memberId: classic.memberId, owned: [0, 1] }))
  strictEqual(again.generationId, 1)
  const kept = await sync(bench, again)
  strictEqual(kept.length, 1)
  strictEqual(bench.heartbeat(again), 'REBALANCE_IN_PROGRESS')
  const last = memberOf(await join(bench, { memberId: classic.memberId, owned: kept as number[] }))
  deepStrictEqual([last.generationId, await sync(bench, last), bench.heartbeat(last)], [2, kept, 'NONE'])
  await client.beat()
  deepStrictEqual([client.partitions.length, listed(bench)], [1, ['consumer Stable']])
  deepStrictEqual(
    [await bench.commit(6, last), await bench.commit(6, classic), await bench.committed()],
    ['NONE', 'NONE', 6],
  )
  const restarted = await bench.crash(seededRandom(1))
  client.bench = restarted
  deepStrictEqual(
    [restarted.heartbeat(last), await client.beat(), listed(restarted)],
    ['NONE', 'NONE', ['consumer Stable']],
  )
  const described = await restarted.node.groups.consumers.describe('g')
  deepStrictEqual(described.group?.members.map(({ memberType }) => memberType).sort(), [0, 1])
  await restarted.close()
})

test('the last consumer of the new protocol leaves: the others are a classic group again, and rebalance', async () => {
  const bench = await GroupBench.start({ file: eager })
  const client = new ConsumerClient(bench)
  await client.beat()
  const joined = memberOf(await join(bench))
  deepStrictEqual(await sync(bench, joined), [])
  await client.beats(2)
  strictEqual(bench.heartbeat(joined), 'REBALANCE_IN_PROGRESS')
  const second = memberOf(await join(bench, { memberId: joined.memberId }))
  strictEqual((await sync(bench, second)).length, 1)
  await client.leave()
  deepStrictEqual(listed(bench), ['classic PreparingRebalance'])
  strictEqual(bench.heartbeat(second), 'REBALANCE_IN_PROGRESS')
  const restarted = await bench.crash(seededRandom(1))
  deepStrictEqual(listed(restarted), ['classic Stable'])
  const leader = memberOf(await join(restarted, { memberId: joined.memberId }))
  const given = new Map([[leader.memberId, assignment([0, 1])]])
  deepStrictEqual(await sync(restarted, leader, given), [0, 1])
  await restarted.close()
})

test('a static consumer of the classic protocol takes over from its last one of the new protocol, without a rebalance', async () => {
  const bench = await GroupBench.start({ file: eager })
  const client = new ConsumerClient(bench, { instanceId: 'one' })
  await client.beat()
  const classic = memberOf(await join(bench, { instanceId: 'one' }), 'one')
  deepStrictEqual(listed(bench), ['classic Stable'])
  deepStrictEqual([bench.heartbeat(classic), await sync(bench, classic)], ['NONE', [0, 1]])
  await bench.close()
})

test('classic members of a consumer group are refused, time out and leave as in a classic one', async () => {
  const bench = await GroupBench.start({ file: eager })
  const client = new ConsumerClient(bench)
  await client.beat()
  const refused = await bench.joined({ protocolType: 'connect' })
  strictEqual(errorName(refused.errorCode), 'INCONSISTENT_GROUP_PROTOCOL')
  const classic = memberOf(await join(bench))
  deepStrictEqual(await sync(bench, { ...classic, generationId: 1 }), 'ILLEGAL_GENERATION')
  deepStrictEqual(await sync(bench, { ...classic, memberId: client.memberId }), 'UNKNOWN_MEMBER_ID')
  strictEqual(await bench.leave({ memberId: client.memberId, groupInstanceId: null }), 'UNKNOWN_MEMBER_ID')
  strictEqual(await bench.leave(classic), 'NONE')
  const silent = memberOf(await join(bench))
  await bench.clock.advance(30_000)
  strictEqual(bench.heartbeat(silent), 'UNKNOWN_MEMBER_ID')
  await client.beats(2)
  deepStrictEqual([client.partitions, listed(bench)], [['t-0', 't-1'], ['consumer Stable']])
  await bench.close()
})

test('group.consumer.migration.policy decides; a group that is empty may always change', async () => {
  const bench = await GroupBench.start({ file: { ...eager, 'group.consumer.migration.policy': 'disabled' } })
  const classic = await classicGroup(bench)
  const client = new ConsumerClient(bench)
  strictEqual(await client.beat(), 'GROUP_ID_NOT_FOUND')
  await bench.leave(classic)
  strictEqual(await client.beat(), 'NONE')
  deepStrictEqual(client.partitions, ['t-0', 't-1'])
  const joined = memberOf(await join(bench))
  await client.leave()
  deepStrictEqual(listed(bench), ['consumer Assigning'])
  await bench.leave(joined)
  await classicGroup(bench)
  deepStrictEqual(listed(bench), ['classic Stable'])
  await bench.close()
})
