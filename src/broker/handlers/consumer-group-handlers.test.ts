/** ConsumerGroupHeartbeat and ConsumerGroupDescribe over the wire format, what the older group APIs say of consumer groups, and refusals by ACLs. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { ZERO_UUID } from '../../core/uuid.ts'
import { AclPattern, AclPermission } from '../../metadata/acl.ts'
import { AclOperation, type AclOperationName, AclResource } from '../../metadata/authorizer.ts'
import { StandardAuthorizer } from '../../metadata/standard-authorizer.ts'
import { errorName } from '../../protocol/errors.ts'
import { OffsetCommitApi } from '../../protocol/messages/08-offset-commit.ts'
import { OffsetFetchApi } from '../../protocol/messages/09-offset-fetch.ts'
import { DescribeGroupsApi } from '../../protocol/messages/15-describe-groups.ts'
import { ListGroupsApi } from '../../protocol/messages/16-list-groups.ts'
import { DeleteGroupsApi } from '../../protocol/messages/42-delete-groups.ts'
import { OffsetDeleteApi } from '../../protocol/messages/47-offset-delete.ts'
import { ConsumerGroupHeartbeatApi } from '../../protocol/messages/68-consumer-group-heartbeat.ts'
import { ConsumerGroupDescribeApi } from '../../protocol/messages/69-consumer-group-describe.ts'
import { clientOf, TestNode } from '../fakes/test-node.ts'

async function settle(clock: ManualClock): Promise<void> {
  for (let turn = 0; turn < 30; turn++) await clock.advance(0)
}

async function start(authorizer?: StandardAuthorizer) {
  const clock = new ManualClock()
  const node = await TestNode.start({ clock, ...(authorizer ? { authorizer } : {}) })
  await node.createTopic('t', { partitions: 2 })
  await node.groups.ensureTopic()
  await settle(clock)
  const settled = async <T>(asking: Promise<T>): Promise<T> => {
    await settle(clock)
    return await asking
  }
  return { node, settled, [Symbol.asyncDispose]: () => node.close() }
}

const joining = {
  groupId: 'g',
  memberId: 'm',
  memberEpoch: 0,
  rebalanceTimeoutMs: 60_000,
  subscribedTopicNames: ['t'],
  topicPartitions: [],
}

test('a member joins, is described and leaves; the older APIs know its group', async () => {
  await using scene = await start()
  const { node, settled } = scene
  const joined = await settled(node.call(ConsumerGroupHeartbeatApi, joining))
  const topicId = node.controller.image.topicIds.get('t') ?? ZERO_UUID
  deepStrictEqual(
    [joined?.errorCode, joined?.memberId, joined?.memberEpoch, joined?.heartbeatIntervalMs, joined?.assignment],
    [0, 'm', 1, 5000, { topicPartitions: [{ topicId, partitions: [0, 1] }] }],
  )
  const again = await settled(
    node.call(ConsumerGroupHeartbeatApi, { groupId: 'g', memberId: 'm', memberEpoch: 1, topicPartitions: null }),
  )
  deepStrictEqual([again?.errorCode, again?.assignment], [0, null])
  const request = { groupIds: ['g', 'nothing'], includeAuthorizedOperations: true }
  const described = await settled(node.call(ConsumerGroupDescribeApi, request))
  const [group, nothing] = described?.groups ?? []
  deepStrictEqual(
    [group?.groupState, group?.groupEpoch, group?.assignmentEpoch, group?.assignorName, group?.members.length],
    ['Stable', 1, 1, 'uniform', 1],
  )
  const [member] = group?.members ?? []
  deepStrictEqual(
    [member?.memberId, member?.memberEpoch, member?.clientId, member?.clientHost, member?.memberType],
    ['m', 1, 'test', '/127.0.0.1', 1],
  )
  deepStrictEqual(member?.assignment, { topicPartitions: [{ topicId, topicName: 't', partitions: [0, 1] }] })
  deepStrictEqual(member?.targetAssignment, member?.assignment)
  deepStrictEqual(
    [errorName(nothing?.errorCode ?? 0), nothing?.errorMessage],
    ['GROUP_ID_NOT_FOUND', 'Group nothing not found.'],
  )
  const classic = await node.call(DescribeGroupsApi, { groups: ['g'] })
  const [asClassic] = classic?.groups ?? []
  deepStrictEqual(
    [errorName(asClassic?.errorCode ?? 0), asClassic?.errorMessage],
    ['GROUP_ID_NOT_FOUND', 'Group g is not a classic group.'],
  )
  const list = async (filter: object) => (await node.call(ListGroupsApi, filter))?.groups.map(row => row.groupState)
  deepStrictEqual(
    [
      await list({ typesFilter: ['Consumer'] }),
      await list({ typesFilter: ['classic'] }),
      await list({ statesFilter: ['stable'] }),
      await list({ statesFilter: ['Empty'] }),
    ],
    [['Stable'], [], ['Stable'], []],
  )
  const deleted = await settled(node.call(DeleteGroupsApi, { groupsNames: ['g'] }))
  strictEqual(errorName(deleted?.results[0]?.errorCode ?? 0), 'NON_EMPTY_GROUP')
  await settled(node.call(ConsumerGroupHeartbeatApi, { groupId: 'g', memberId: 'm', memberEpoch: -1 }))
  const gone = await settled(node.call(DeleteGroupsApi, { groupsNames: ['g'] }))
  strictEqual(gone?.results[0]?.errorCode, 0)
})

test('commits, fetches and deletions of offsets hold to the member epoch and the subscription', async () => {
  await using scene = await start()
  const { node, settled } = scene
  await settled(node.call(ConsumerGroupHeartbeatApi, joining))
  const commit = async (memberId: string, epoch: number, version: number) => {
    const partitions = [{ partitionIndex: 0, committedOffset: 5n, committedMetadata: null }]
    const topicId = version >= 10 ? node.controller.image.topicIds.get('t') : undefined
    const topics = [{ ...(topicId ? { topicId } : { name: 't' }), partitions }]
    const request = { groupId: 'g', memberId, generationIdOrMemberEpoch: epoch, topics }
    const answer = await settled(node.call(OffsetCommitApi, request, { version }))
    return errorName(answer?.topics[0]?.partitions[0]?.errorCode ?? -1)
  }
  deepStrictEqual(
    [await commit('m', 1, 10), await commit('m', 1, 8), await commit('m', 2, 9), await commit('n', 1, 9)],
    ['NONE', 'UNSUPPORTED_VERSION', 'STALE_MEMBER_EPOCH', 'UNKNOWN_MEMBER_ID'],
  )
  const fetch = async (memberId: string | null, memberEpoch: number) => {
    const groups = [{ groupId: 'g', memberId, memberEpoch, topics: [{ name: 't', partitionIndexes: [0] }] }]
    const answer = await settled(node.call(OffsetFetchApi, { groups }, { version: 9 }))
    const [group] = answer?.groups ?? []
    return group?.errorCode ? errorName(group.errorCode) : group?.topics[0]?.partitions[0]?.committedOffset
  }
  deepStrictEqual(
    [await fetch('m', 1), await fetch(null, -1), await fetch('m', 3), await fetch('n', 1)],
    [5n, 5n, 'STALE_MEMBER_EPOCH', 'UNKNOWN_MEMBER_ID'],
  )
  const removal = { groupId: 'g', topics: [{ name: 't', partitions: [{ partitionIndex: 0 }] }] }
  const removed = await settled(node.call(OffsetDeleteApi, removal))
  strictEqual(errorName(removed?.topics[0]?.partitions[0]?.errorCode ?? -1), 'GROUP_SUBSCRIBED_TO_TOPIC')
})

test('ACLs: READ on the group, DESCRIBE on the topics; of an expression only what may be described matches', async () => {
  await using scene = await start(new StandardAuthorizer({ superUsers: new Set(['User:admin']), allowIfNoAcl: false }))
  const { node, settled } = scene
  await node.createTopic('tea', { partitions: 1 })
  const client = clientOf('alice')
  const grant = (resourceType: number, resourceName: string, operation: AclOperationName) =>
    node.controller.acls.createAcls([
      {
        resourceType,
        resourceName,
        patternType: AclPattern.LITERAL,
        principal: 'User:alice',
        host: '*',
        operation: AclOperation[operation],
        permissionType: AclPermission.ALLOW,
      },
    ])
  const join = async (change: object = {}) => {
    const answer = await settled(node.call(ConsumerGroupHeartbeatApi, { ...joining, ...change }, { client }))
    return answer?.errorCode ? errorName(answer.errorCode) : answer?.assignment?.topicPartitions.length
  }
  const describe = async () => {
    const request = { groupIds: ['g'], includeAuthorizedOperations: false }
    const answer = await settled(node.call(ConsumerGroupDescribeApi, request, { client }))
    return errorName(answer?.groups[0]?.errorCode ?? -1)
  }
  deepStrictEqual([await join(), await describe()], ['GROUP_AUTHORIZATION_FAILED', 'GROUP_AUTHORIZATION_FAILED'])
  await grant(AclResource.GROUP, 'g', 'READ')
  strictEqual(await join(), 'TOPIC_AUTHORIZATION_FAILED')
  await grant(AclResource.TOPIC, 't', 'READ')
  strictEqual(await join({ subscribedTopicNames: [], subscribedTopicRegex: 't.*' }), 1)
  strictEqual(await describe(), 'NONE')
  await settled(
    node.call(
      ConsumerGroupHeartbeatApi,
      { ...joining, memberId: 'other', subscribedTopicNames: ['tea'] },
      {
        client: clientOf('admin'),
      },
    ),
  )
  strictEqual(await describe(), 'TOPIC_AUTHORIZATION_FAILED')
})
