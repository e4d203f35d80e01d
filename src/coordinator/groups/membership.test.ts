/** Members of a group over time: joining, rebalances, timeouts, static members, what survives a crash, and that everybody is answered. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../core/random.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { GroupBench, memberOf } from '../fakes/group-bench.ts'

test('the first member of an empty group waits for others as long as members keep coming', async () => {
  const bench = await GroupBench.start({ file: { 'group.initial.rebalance.delay.ms': '3000' } })
  const first = bench.join({ client: 'a', rebalanceTimeoutMs: 10_000 })
  await bench.clock.advance(2000)
  const second = bench.join({ client: 'b', rebalanceTimeoutMs: 10_000 })
  await bench.clock.advance(2000)
  strictEqual(bench.state(), 'PreparingRebalance')
  await bench.clock.advance(2000)
  const answers = await Promise.all([first, second])
  deepStrictEqual(
    answers.map(({ generationId, members }) => [generationId, members.length]),
    [
      [1, 2],
      [1, 0],
    ],
  )
  await bench.close()
})

test('the initial delay ends when the rebalance timeout is used up', async () => {
  const bench = await GroupBench.start({ file: { 'group.initial.rebalance.delay.ms': '3000' } })
  const joining = [bench.join({ client: 'm0', rebalanceTimeoutMs: 7000 })]
  for (let index = 1; index < 5; index++) {
    await bench.clock.advance(2000)
    joining.push(bench.join({ client: `m${index}`, rebalanceTimeoutMs: 7000 }))
  }
  await bench.clock.advance(0)
  const answers = await Promise.all(joining.slice(0, 4))
  deepStrictEqual(new Set(answers.map(({ generationId }) => generationId)), new Set([1]))
  await bench.close()
})

test('a member that is not heard of is removed and the others rebalance', async () => {
  const bench = await GroupBench.start()
  const first = await bench.alone({ client: 'a', sessionTimeoutMs: 20_000 })
  const joining = bench.join({ client: 'b', sessionTimeoutMs: 10_000 })
  const again = bench.join({ client: 'a', memberId: first.memberId, sessionTimeoutMs: 20_000 })
  const [leader, follower] = [memberOf(await again), memberOf(await joining)]
  const syncing = bench.sync(follower)
  strictEqual(await bench.sync(leader, { [leader.memberId]: 'l', [follower.memberId]: 'f' }), 'l')
  strictEqual(await syncing, 'f')
  await bench.clock.advance(9000)
  strictEqual(bench.heartbeat(leader), 'NONE')
  await bench.clock.advance(2000)
  strictEqual(bench.state(), 'PreparingRebalance')
  strictEqual(bench.heartbeat(follower), 'UNKNOWN_MEMBER_ID')
  strictEqual(bench.heartbeat(leader), 'REBALANCE_IN_PROGRESS')
  const alone = memberOf(await bench.join({ client: 'a', memberId: leader.memberId }))
  strictEqual(alone.generationId, leader.generationId + 1)
  await bench.close()
})

test('heartbeats keep a session for ever, and cost no timers', async () => {
  const bench = await GroupBench.start()
  const member = await bench.alone({ sessionTimeoutMs: 10_000 })
  const before = bench.clock.pending
  for (let turn = 0; turn < 20; turn++) {
    await bench.clock.advance(9000)
    strictEqual(bench.heartbeat(member), 'NONE')
  }
  strictEqual(bench.clock.pending <= before, true)
  await bench.clock.advance(10_001)
  strictEqual(bench.state(), 'Empty')
  await bench.close()
})

test('whoever joins again is in the next generation, whoever does not in time is out', async () => {
  const bench = await GroupBench.start()
  const first = await bench.alone({ client: 'a', rebalanceTimeoutMs: 5000 })
  const second = bench.join({ client: 'b', rebalanceTimeoutMs: 5000 })
  await bench.clock.advance(4000)
  strictEqual(bench.state(), 'PreparingRebalance')
  await bench.clock.advance(1000)
  const leader = await second
  deepStrictEqual([leader.generationId, leader.members.length], [2, 1])
  strictEqual(bench.heartbeat(first), 'UNKNOWN_MEMBER_ID')
  await bench.close()
})

test('members that never fetch their assignment are removed', async () => {
  const bench = await GroupBench.start()
  const first = await bench.alone({ client: 'a', rebalanceTimeoutMs: 5000 })
  const joining = bench.join({ client: 'b', rebalanceTimeoutMs: 5000 })
  const leader = memberOf(await bench.join({ client: 'a', memberId: first.memberId, rebalanceTimeoutMs: 5000 }))
  const follower = memberOf(await joining)
  await bench.sync(leader, { [follower.memberId]: 'f' })
  strictEqual(bench.state(), 'Stable')
  await bench.clock.advance(5000)
  strictEqual(bench.state(), 'PreparingRebalance')
  strictEqual(bench.heartbeat(follower), 'UNKNOWN_MEMBER_ID')
  await bench.close()
})

test('an id that was given out is waited for, and forgotten after a session timeout', async () => {
  const bench = await GroupBench.start()
  const first = await bench.alone({ client: 'a' })
  const told = await bench.join({ client: 'b', acceptsMemberIdFirst: true, sessionTimeoutMs: 10_000 })
  strictEqual(told.errorCode, ErrorCode.MEMBER_ID_REQUIRED)
  const again = bench.join({ client: 'a', memberId: first.memberId })
  await bench.clock.advance(9000)
  strictEqual(bench.state(), 'PreparingRebalance')
  await bench.clock.advance(1000)
  strictEqual((await again).generationId, 2)
  const late = await bench.join({ client: 'b', memberId: told.memberId })
  strictEqual(late.errorCode, ErrorCode.UNKNOWN_MEMBER_ID)
  await bench.close()
})

test('a new member whose JoinGroup waits too long is removed, and its client is told to start again', async () => {
  const bench = await GroupBench.start()
  const day = 86_400_000
  await bench.alone({ client: 'a', rebalanceTimeoutMs: day, sessionTimeoutMs: 1_800_000 })
  const waiting = bench.join({ client: 'b', rebalanceTimeoutMs: day })
  await bench.clock.advance(300_000)
  const answer = await waiting
  strictEqual(errorName(answer.errorCode), 'UNKNOWN_MEMBER_ID')
  await bench.close()
})

test('a second JoinGroup or SyncGroup of a member answers the first one', async () => {
  const bench = await GroupBench.start()
  const first = await bench.alone({ client: 'a' })
  const joining = bench.join({ client: 'b' })
  const again = bench.join({ client: 'a', memberId: first.memberId, metadata: 'other' })
  const leader = memberOf(await again)
  const follower = memberOf(await joining)
  const syncs = [bench.sync(follower), bench.sync(follower)]
  strictEqual(await syncs[0], 'REBALANCE_IN_PROGRESS')
  await bench.sync(leader, { [follower.memberId]: 'f' })
  strictEqual(await syncs[1], 'f')
  const joins = ['x', 'y'].map(metadata => bench.join({ client: 'b', memberId: follower.memberId, metadata }))
  strictEqual(errorName((await joins[0])?.errorCode ?? -1), 'REBALANCE_IN_PROGRESS')
  await bench.join({ client: 'a', memberId: leader.memberId })
  strictEqual((await joins[1])?.generationId, 3)
  await bench.close()
})

test('a SyncGroup of a member that leaves is answered', async () => {
  const bench = await GroupBench.start()
  const first = await bench.alone({ client: 'a' })
  const joining = bench.join({ client: 'b' })
  await bench.join({ client: 'a', memberId: first.memberId })
  const follower = memberOf(await joining)
  const syncing = bench.sync(follower)
  strictEqual(await bench.leave(follower), 'NONE')
  strictEqual(await syncing, 'UNKNOWN_MEMBER_ID')
  await bench.close()
})

test('the second assignment of a generation is not taken', async () => {
  const bench = await GroupBench.start()
  const leader = memberOf(await bench.joined())
  const syncs = [bench.sync(leader, { [leader.memberId]: 'one' }), bench.sync(leader, { [leader.memberId]: 'two' })]
  deepStrictEqual(await Promise.all(syncs), ['REBALANCE_IN_PROGRESS', 'one'])
  const restarted = await bench.crash(seededRandom(1))
  strictEqual(await restarted.sync(leader), 'one')
  await restarted.close()
})

test('after a crash members go on in their generation, and those that do not come back are removed', async () => {
  const bench = await GroupBench.start()
  const first = await bench.alone({ client: 'a' })
  const joining = bench.join({ client: 'b' })
  const leader = memberOf(await bench.join({ client: 'a', memberId: first.memberId }))
  const follower = memberOf(await joining)
  await bench.sync(leader, { [leader.memberId]: 'l', [follower.memberId]: 'f' })
  strictEqual(await bench.commit(7, follower), 'NONE')
  const restarted = await bench.crash(seededRandom(2))
  strictEqual(restarted.state(), 'Stable')
  strictEqual(await restarted.sync(follower), 'f')
  strictEqual(restarted.heartbeat(leader), 'NONE')
  strictEqual(await restarted.committed(), 7)
  await restarted.clock.advance(20_000)
  strictEqual(restarted.heartbeat(leader), 'NONE')
  await restarted.clock.advance(11_000)
  strictEqual(restarted.heartbeat(follower), 'UNKNOWN_MEMBER_ID')
  await restarted.close()
})

test('a static member takes its place and assignment over, and the old one is fenced', async () => {
  const bench = await GroupBench.start()
  const old = await bench.alone({ groupInstanceId: 'i' })
  const joining = bench.join({ groupInstanceId: 'i' })
  await bench.settle()
  const answer = await joining
  deepStrictEqual([answer.generationId, answer.skipAssignment, answer.leader], [1, true, answer.memberId])
  const present = memberOf(answer, 'i')
  strictEqual(await bench.sync(present), 'all')
  strictEqual(bench.heartbeat(old), 'FENCED_INSTANCE_ID')
  strictEqual(await bench.commit(1, old), 'FENCED_INSTANCE_ID')
  const restarted = await bench.crash(seededRandom(3))
  strictEqual(restarted.heartbeat(present), 'NONE')
  strictEqual(restarted.heartbeat(old), 'FENCED_INSTANCE_ID')
  await restarted.close()
})

test('static members that do not come again keep their place until their session ends', async () => {
  const bench = await GroupBench.start()
  const first = await bench.alone({
    client: 'a',
    groupInstanceId: 'i',
    rebalanceTimeoutMs: 5000,
    sessionTimeoutMs: 60_000,
  })
  const second = bench.join({ client: 'b', rebalanceTimeoutMs: 5000 })
  await bench.clock.advance(5000)
  const answer = await second
  deepStrictEqual([answer.generationId, answer.members.length, answer.leader], [2, 2, answer.memberId])
  strictEqual(bench.heartbeat(first), 'ILLEGAL_GENERATION')
  await bench.close()
})

test('an assignment that cannot be stored is refused, and the group goes on', async () => {
  const bench = await GroupBench.start()
  await bench.node.controller.incrementalAlterConfigs(
    [
      {
        resource: { type: 2, name: '__consumer_offsets' },
        changes: [{ key: 'max.message.bytes', operation: 'set', value: '2000' }],
      },
    ],
    { validateOnly: false },
  )
  const leader = memberOf(await bench.joined())
  strictEqual(await bench.sync(leader, { [leader.memberId]: 'x'.repeat(3000) }), 'UNKNOWN_SERVER_ERROR')
  strictEqual(bench.state(), 'PreparingRebalance')
  const again = memberOf(await bench.join({ memberId: leader.memberId }))
  strictEqual(await bench.sync(again, { [leader.memberId]: 'small' }), 'small')
  const large = await bench.join({ client: 'b', metadata: 'x'.repeat(10_000) })
  strictEqual(errorName(large.errorCode), 'UNKNOWN_SERVER_ERROR')
  await bench.close()
})

test('if the log fails everybody who waits is told to look for the coordinator again', async () => {
  const bench = await GroupBench.start()
  const leader = memberOf(await bench.joined())
  bench.fs.failWhen = ({ name, path }) =>
    name === 'sync' && path.includes('__consumer_offsets') ? new Error('no disk') : undefined
  strictEqual(await bench.sync(leader, { [leader.memberId]: 'all' }), 'NOT_COORDINATOR')
  strictEqual(bench.state(), 'COORDINATOR_LOAD_IN_PROGRESS')
  strictEqual(bench.heartbeat(leader), 'NONE')
  const joining = await bench.join()
  strictEqual(errorName(joining.errorCode), 'COORDINATOR_LOAD_IN_PROGRESS')
  bench.fs.failWhen = () => undefined
  await bench.clock.advance(60_000)
  await bench.settle()
  const member = await bench.alone()
  strictEqual(bench.heartbeat(member), 'NONE')
  await bench.close()
})

test('closing answers everybody and stops its timers', async () => {
  const bench = await GroupBench.start()
  await bench.alone({ client: 'a' })
  const waiting = bench.join({ client: 'b' })
  const before = bench.clock.pending
  await bench.node.groups.close()
  strictEqual(errorName((await waiting).errorCode), 'NOT_COORDINATOR')
  // Of both sessions, the rebalance and the look for expired offsets.
  strictEqual(before - bench.clock.pending, 4)
  await bench.close()
})

test('a group whose last member leaves is Empty in the next generation, also after a crash', async () => {
  const bench = await GroupBench.start()
  const member = await bench.alone()
  strictEqual(await bench.leave(member), 'NONE')
  strictEqual(bench.state(), 'Empty')
  const restarted = await bench.crash(seededRandom(4))
  strictEqual(restarted.state(), 'Empty')
  const next = memberOf(await restarted.joined())
  strictEqual(next.generationId, 3)
  await restarted.close()
})
