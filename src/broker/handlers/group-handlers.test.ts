/** The handlers of groups over the wire format: a member's life in every version, refusals by ACLs, and clients that go away while they wait. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { ZERO_UUID } from '../../core/uuid.ts'
import type { Authorizer } from '../../metadata/authorizer.ts'
import { topicByName } from '../../metadata/metadata-image.ts'
import { errorName } from '../../protocol/errors.ts'
import { OffsetCommitApi } from '../../protocol/messages/08-offset-commit.ts'
import { OffsetFetchApi } from '../../protocol/messages/09-offset-fetch.ts'
import { JoinGroupApi } from '../../protocol/messages/11-join-group.ts'
import { HeartbeatApi } from '../../protocol/messages/12-heartbeat.ts'
import { LeaveGroupApi } from '../../protocol/messages/13-leave-group.ts'
import { SyncGroupApi } from '../../protocol/messages/14-sync-group.ts'
import { DescribeGroupsApi } from '../../protocol/messages/15-describe-groups.ts'
import { ListGroupsApi } from '../../protocol/messages/16-list-groups.ts'
import { DeleteGroupsApi } from '../../protocol/messages/42-delete-groups.ts'
import { OffsetDeleteApi } from '../../protocol/messages/47-offset-delete.ts'
import { TestNode, testClient } from '../fakes/test-node.ts'

interface Bench {
  readonly node: TestNode
  readonly clock: ManualClock
}

async function start(authorizer?: Authorizer): Promise<Bench> {
  const clock = new ManualClock()
  const file = new Map([
    ['group.initial.rebalance.delay.ms', '0'],
    ['offsets.topic.num.partitions', '2'],
  ])
  const node = await TestNode.start({ clock, file, ...(authorizer ? { authorizer } : {}) })
  await node.createTopic('t')
  await node.groups.ensureTopic()
  await settle(clock)
  return { node, clock }
}

async function settle(clock: ManualClock): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await clock.advance(0)
}

const joinRequest = (groupId: string, version: number, memberId = '') => ({
  groupId,
  sessionTimeoutMs: 30_000,
  ...(version >= 1 ? { rebalanceTimeoutMs: 60_000 } : {}),
  memberId,
  protocolType: 'test',
  protocols: [{ name: 'p', metadata: Buffer.from('m') }],
})

/** As a new member; whoever is told its id first gets no further. */
async function join({ node, clock }: Bench, groupId: string, version: number) {
  const asking = node.call(JoinGroupApi, joinRequest(groupId, version), { version })
  await settle(clock)
  return await asking
}

test("a member's life in every version", async () => {
  const bench = await start()
  const { node, clock } = bench
  const topicId = topicByName(node.controller.image, 't')?.id ?? ZERO_UUID
  for (let version = 0; version <= 9; version++) {
    const groupId = `g${version}`
    const low = (max: number) => ({ version: Math.min(version, max) })
    let joined = await join(bench, groupId, version)
    if (version >= 4) {
      strictEqual(errorName(joined?.errorCode ?? 0), 'MEMBER_ID_REQUIRED')
      const again = node.call(JoinGroupApi, joinRequest(groupId, version, joined?.memberId), { version })
      await settle(clock)
      joined = await again
    }
    const memberId = joined?.memberId ?? ''
    deepStrictEqual([joined?.errorCode, joined?.leader, joined?.protocolName], [0, memberId, 'p'])
    const member = { groupId, memberId, generationId: 1 }
    const protocol = version >= 5 ? { protocolType: 'test', protocolName: 'p' } : {}
    const assignments = [{ memberId, assignment: Buffer.from('all') }]
    const synced = await node.call(SyncGroupApi, { ...member, ...protocol, assignments }, low(5))
    strictEqual(synced?.assignment.toString(), 'all')
    strictEqual((await node.call(HeartbeatApi, member, low(4)))?.errorCode, 0)
    const commitVersion = Math.max(version + 1, 2)
    const named = commitVersion >= 10 ? { topicId } : { name: 't' }
    const partitions = [{ partitionIndex: 0, committedOffset: 5n, committedMetadata: '' }]
    const commit = { groupId, memberId, generationIdOrMemberEpoch: 1, topics: [{ ...named, partitions }] }
    const committed = await node.call(OffsetCommitApi, commit, { version: commitVersion })
    strictEqual(committed?.topics[0]?.partitions[0]?.errorCode, 0)
    const fetchVersion = version + 1
    const asked = [{ ...(fetchVersion >= 10 ? { topicId } : { name: 't' }), partitionIndexes: [0] }]
    const fetch =
      fetchVersion >= 8
        ? { groups: [{ groupId, topics: asked }] }
        : { groupId, topics: [{ name: 't', partitionIndexes: [0] }] }
    const fetched = await node.call(OffsetFetchApi, fetch, { version: fetchVersion })
    strictEqual((fetched?.groups[0] ?? fetched)?.topics[0]?.partitions[0]?.committedOffset, 5n)
    const described = await node.call(DescribeGroupsApi, { groups: [groupId] }, low(6))
    deepStrictEqual([described?.groups[0]?.groupState, described?.groups[0]?.members.length], ['Stable', 1])
    const leaving = version >= 3 ? { groupId, members: [{ memberId }] } : { groupId, memberId }
    const left = await node.call(LeaveGroupApi, leaving, low(5))
    deepStrictEqual([left?.errorCode, left?.members[0]?.errorCode ?? 0], [0, 0])
  }
  const listed = await node.call(ListGroupsApi, { statesFilter: ['Empty'] })
  strictEqual(listed?.groups.length, 10)
  const deleted = await node.call(DeleteGroupsApi, { groupsNames: ['g0', 'g1', 'g0', 'none'] })
  deepStrictEqual(
    deleted?.results.map(({ groupId, errorCode }) => [groupId, errorName(errorCode)]),
    [
      ['g0', 'NONE'],
      ['g1', 'NONE'],
      ['none', 'GROUP_ID_NOT_FOUND'],
    ],
  )
  const place = { groupId: 'g2', topics: [{ name: 't', partitions: [{ partitionIndex: 0 }] }] }
  strictEqual((await node.call(OffsetDeleteApi, place))?.topics[0]?.partitions[0]?.errorCode, 0)
  await node.close()
})

/** Allows what is in the list, as `OPERATION RESOURCE name`. */
const allowing = (...granted: string[]): Authorizer => ({
  allows: (_image, _requester, { operation, resource, name }) => granted.includes(`${operation} ${resource} ${name}`),
  allowsSome: () => false,
})

test('what ACLs do not allow is refused with the code of the group or the topic', async () => {
  const { node } = await start(allowing('READ GROUP g', 'DESCRIBE GROUP g', 'DELETE GROUP g'))
  const stranger = { memberId: '', generationId: -1 }
  const joined = await node.call(JoinGroupApi, joinRequest('other', 9))
  const sync = { groupId: 'other', ...stranger, protocolType: 'a', protocolName: 'b', assignments: [] }
  const codes = [
    joined?.errorCode,
    (await node.call(SyncGroupApi, sync))?.errorCode,
    (await node.call(HeartbeatApi, { groupId: 'other', ...stranger }))?.errorCode,
    (await node.call(LeaveGroupApi, { groupId: 'other', members: [] }))?.errorCode,
    (await node.call(DescribeGroupsApi, { groups: ['other'] }))?.groups[0]?.errorCode,
    (await node.call(DeleteGroupsApi, { groupsNames: ['other'] }))?.results[0]?.errorCode,
    (await node.call(OffsetDeleteApi, { groupId: 'other', topics: [] }))?.errorCode,
    (await node.call(OffsetFetchApi, { groups: [{ groupId: 'other', topics: null }] }))?.groups[0]?.errorCode,
  ]
  deepStrictEqual(new Set(codes.map(code => errorName(code ?? 0))), new Set(['GROUP_AUTHORIZATION_FAILED']))
  const partitions = [{ partitionIndex: 0, committedOffset: 5n, committedMetadata: '' }]
  const topics = ['t', 'nowhere'].map(name => ({ name, partitions }))
  const commit = { groupId: 'g', generationIdOrMemberEpoch: -1, memberId: '', topics }
  const committed = await node.call(OffsetCommitApi, commit, { version: 9 })
  const asked = [{ name: 't', partitionIndexes: [0] }]
  const fetched = await node.call(OffsetFetchApi, { groups: [{ groupId: 'g', topics: asked }] }, { version: 9 })
  const removed = await node.call(OffsetDeleteApi, {
    groupId: 'g',
    topics: [{ name: 't', partitions: [{ partitionIndex: 0 }] }],
  })
  const topicCodes = [
    ...(committed?.topics ?? []).map(topic => topic.partitions[0]?.errorCode),
    fetched?.groups[0]?.topics[0]?.partitions[0]?.errorCode,
  ]
  deepStrictEqual(new Set(topicCodes.map(code => errorName(code ?? 0))), new Set(['TOPIC_AUTHORIZATION_FAILED']))
  strictEqual(errorName(removed?.errorCode ?? 0), 'GROUP_ID_NOT_FOUND')
  await node.close()
})

test('who may not describe the cluster is told of the groups that it may describe', async () => {
  const { node } = await start(allowing('READ GROUP g', 'DESCRIBE GROUP g', 'READ GROUP h', 'READ TOPIC t'))
  const partitions = [{ partitionIndex: 0, committedOffset: 5n, committedMetadata: '' }]
  for (const groupId of ['g', 'h']) {
    const commit = { groupId, generationIdOrMemberEpoch: -1, memberId: '', topics: [{ name: 't', partitions }] }
    await node.call(OffsetCommitApi, commit, { version: 9 })
  }
  const listed = await node.call(ListGroupsApi, {})
  deepStrictEqual(
    listed?.groups.map(({ groupId }) => groupId),
    ['g'],
  )
  await node.close()
})

test('a client that goes away while it waits for its group does not keep its request', async () => {
  const bench = await start()
  const { node, clock } = bench
  await join(bench, 'g', 0)
  const connection = new AbortController()
  const waiting = node.call(JoinGroupApi, joinRequest('g', 0), { version: 0, client: testClient(connection.signal) })
  await settle(clock)
  connection.abort()
  strictEqual(await waiting, undefined)
  const gone = testClient(connection.signal)
  strictEqual(await node.call(JoinGroupApi, joinRequest('g', 0), { version: 0, client: gone }), undefined)
  await node.close()
})
