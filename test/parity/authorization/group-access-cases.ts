// Requests about groups, offsets and transactions; asked by every user of the scene.
import type { Uuid } from '../../../src/core/uuid.ts'
import { errorName } from '../../../src/protocol/errors.ts'
import { OffsetCommitApi, type OffsetCommitRequestInput } from '../../../src/protocol/messages/08-offset-commit.ts'
import { OffsetFetchApi } from '../../../src/protocol/messages/09-offset-fetch.ts'
import { FindCoordinatorApi } from '../../../src/protocol/messages/10-find-coordinator.ts'
import { JoinGroupApi } from '../../../src/protocol/messages/11-join-group.ts'
import { HeartbeatApi } from '../../../src/protocol/messages/12-heartbeat.ts'
import { LeaveGroupApi } from '../../../src/protocol/messages/13-leave-group.ts'
import { SyncGroupApi } from '../../../src/protocol/messages/14-sync-group.ts'
import { DescribeGroupsApi } from '../../../src/protocol/messages/15-describe-groups.ts'
import { ListGroupsApi } from '../../../src/protocol/messages/16-list-groups.ts'
import { InitProducerIdApi } from '../../../src/protocol/messages/22-init-producer-id.ts'
import { DeleteGroupsApi } from '../../../src/protocol/messages/42-delete-groups.ts'
import { OffsetDeleteApi } from '../../../src/protocol/messages/47-offset-delete.ts'
import { eventually } from '../../eventually.ts'
import { topicIdOf, UNKNOWN_ID } from '../parity-case.ts'
import { type AccessCase, accessCase, errorsOf, nameOf } from './access-case.ts'
import type { AccessPeer } from './logged-in.ts'

const GROUPS = ['read', 'describe', 'delete', 'hidden', 'team.group'] as const
export const PRODUCERS = ['write', 'describe', 'hidden', 'team.producer'] as const
export const COMMITTED = ['read', 'describe', 'hidden', 'everybody'] as const

export const offsetsOf = (names: readonly string[]) =>
  names.map(name => ({ name, partitions: [{ partitionIndex: 0, committedOffset: 0n, committedMetadata: null }] }))

const commitOf = (groupId: string, names: readonly string[] = COMMITTED): OffsetCommitRequestInput => ({
  groupId,
  generationIdOrMemberEpoch: -1,
  memberId: '',
  topics: offsetsOf(names),
})

/** Wakes both coordinators, and commits offsets of every group. */
export async function setGroups(peer: AccessPeer): Promise<void> {
  for (const keyType of [0, 1])
    await eventually(async () => {
      const request = { keyType, coordinatorKeys: ['hidden'] }
      const found = await peer.askAs('admin', { api: FindCoordinatorApi, request, version: 4 })
      if (found === 'closed') throw new Error('FindCoordinator: closed')
      for (const { errorCode } of found.coordinators) if (errorCode !== 0) throw new Error(errorName(errorCode))
    })
  for (const group of GROUPS)
    await eventually(async () => {
      const done = await peer.askAs('admin', { api: OffsetCommitApi, request: commitOf(group), version: 8 })
      if (done === 'closed') throw new Error('OffsetCommit: closed')
      for (const { partitions } of done.topics)
        for (const { errorCode } of partitions) if (errorCode !== 0) throw new Error(errorName(errorCode))
    })
  await eventually(async () => {
    const request = { transactionalId: 'describe', transactionTimeoutMs: 60_000 }
    const given = await peer.askAs('admin', { api: InitProducerIdApi, request, version: 4 })
    if (given === 'closed' || given.errorCode !== 0) throw new Error('no producer id yet')
  })
}

export const topLevel = ({ errorCode }: { readonly errorCode: number }) => errorName(errorCode)

interface TopicResult {
  readonly name: string
  readonly partitions: readonly { readonly errorCode: number }[]
}
export const topicErrors = (topics: readonly TopicResult[]) =>
  topics.flatMap(({ name, partitions }) => errorsOf(partitions, () => name)).sort()

const coordinatorCases: AccessCase[] = [
  ...(
    [
      [0, GROUPS],
      [1, PRODUCERS],
      [2, ['group:AAAAAAAAAAAAAAAAAAAAdA:0']],
    ] as const
  ).map(([keyType, keys]) =>
    accessCase(`of type ${keyType}`, FindCoordinatorApi, {
      version: 6,
      users: keyType === 2 ? ['bob', 'alice', 'erin'] : ['bob', 'alice', 'carol', 'dave', 'erin', 'admin'],
      request: { keyType, coordinatorKeys: [...keys] },
      show: ({ errorCode, coordinators }) => ({ errorCode, keys: errorsOf(coordinators, ({ key }) => key) }),
    }),
  ),
  ...['hidden', 'describe'].map(key =>
    accessCase(`of ${key} alone`, FindCoordinatorApi, { version: 2, request: { keyType: 0, key }, show: topLevel }),
  ),
]

const memberCases: AccessCase[] = GROUPS.flatMap(groupId => {
  const member = { groupId, generationId: 1, memberId: 'm' }
  return [
    accessCase(groupId, HeartbeatApi, { version: 4, request: member, show: topLevel }),
    accessCase(groupId, SyncGroupApi, {
      version: 5,
      request: { ...member, protocolType: 'consumer', protocolName: 'range', assignments: [] },
      show: topLevel,
    }),
    accessCase(groupId, LeaveGroupApi, {
      version: 4,
      request: { groupId, members: [{ memberId: 'm' }] },
      show: ({ errorCode, members }) => ({ errorCode, members: errorsOf(members, ({ memberId }) => memberId) }),
    }),
    accessCase(groupId, JoinGroupApi, {
      version: 7,
      request: {
        groupId,
        sessionTimeoutMs: 10_000,
        rebalanceTimeoutMs: 10_000,
        memberId: 'nobody',
        protocolType: 'consumer',
        protocols: [{ name: 'range', metadata: Buffer.alloc(0) }],
      },
      show: topLevel,
    }),
  ]
})

const groupCases: AccessCase[] = [
  accessCase('with operations', DescribeGroupsApi, {
    version: 5,
    request: { groups: [...GROUPS, 'absent'], includeAuthorizedOperations: true },
    show: ({ groups }) =>
      groups.map(group => `${group.groupId} ${errorName(group.errorCode)} ${group.authorizedOperations}`).sort(),
  }),
  accessCase('', ListGroupsApi, {
    version: 4,
    request: { statesFilter: [] },
    show: ({ errorCode, groups }) => ({ errorCode, groups: groups.map(({ groupId }) => groupId).sort() }),
  }),
]

const offsetCases: AccessCase[] = [
  ...GROUPS.map(group =>
    accessCase(`to ${group}`, OffsetCommitApi, {
      version: 8,
      request: commitOf(group, [...COMMITTED, 'absent']),
      show: ({ topics }) => topicErrors(topics),
    }),
  ),
  ...['read', 'hidden', 'team.group'].map(groupId =>
    accessCase(`of ${groupId}`, OffsetFetchApi, {
      version: 7,
      request: { groupId, topics: [...COMMITTED, 'absent'].map(name => ({ name, partitionIndexes: [0] })) },
      show: ({ errorCode, topics }) => ({ errorCode, topics: topicErrors(topics) }),
    }),
  ),
  ...[8, 9].map(version =>
    accessCase(`of all groups, version ${version}`, OffsetFetchApi, {
      version,
      request: {
        groups: GROUPS.flatMap(groupId => [
          { groupId, topics: null },
          { groupId, topics: COMMITTED.map(name => ({ name, partitionIndexes: [0] })) },
        ]),
      },
      show: ({ groups }) =>
        groups.map(({ groupId, errorCode, topics }) => ({ groupId, errorCode, topics: topicErrors(topics) })),
    }),
  ),
  ...['delete', 'hidden', 'absent'].map(groupId =>
    accessCase(`of ${groupId}`, OffsetDeleteApi, {
      request: {
        groupId,
        topics: ['everybody', 'elsewhere', 'absent'].map(name => ({ name, partitions: [{ partitionIndex: 0 }] })),
      },
      show: ({ errorCode, topics }) => ({ errorCode, topics: topicErrors(topics) }),
    }),
  ),
]

const ids = (peer: AccessPeer) => [...COMMITTED.map(name => topicIdOf(peer, name)), UNKNOWN_ID]

const byId = (
  peer: AccessPeer,
  topics: readonly { readonly topicId: Uuid; readonly partitions: TopicResult['partitions'] }[],
) => topicErrors(topics.map(({ topicId, partitions }) => ({ name: nameOf(peer, topicId), partitions })))

const offsetsByIdCases: AccessCase[] = [
  accessCase('by id', OffsetCommitApi, {
    version: 10,
    request: peer => ({
      ...commitOf('team.group', []),
      topics: ids(peer).map(topicId => ({
        topicId,
        partitions: [{ partitionIndex: 0, committedOffset: 0n, committedMetadata: null }],
      })),
    }),
    show: ({ topics }, peer) => byId(peer, topics),
  }),
  accessCase('by id', OffsetFetchApi, {
    version: 10,
    request: peer => ({
      groups: GROUPS.flatMap(groupId => [
        { groupId, topics: null },
        { groupId, topics: ids(peer).map(topicId => ({ topicId, partitionIndexes: [0] })) },
      ]),
    }),
    show: ({ groups }, peer) =>
      groups.map(({ groupId, errorCode, topics }) => ({ groupId, errorCode, topics: byId(peer, topics) })),
  }),
]

/** The last one: others see less after it. */
const groupDeletion = accessCase('', DeleteGroupsApi, {
  users: ['bob', 'alice', 'carol', 'dave', 'erin'],
  request: { groupsNames: [...GROUPS, 'absent'] },
  show: ({ results }) => errorsOf(results, ({ groupId }) => groupId),
})

export const groupAccessCases: readonly AccessCase[] = [
  ...coordinatorCases,
  ...groupCases,
  ...memberCases,
  ...offsetCases,
  ...offsetsByIdCases,
  groupDeletion,
]
