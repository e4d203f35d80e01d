// Classic groups as both nodes must answer them: membership, generations, static members, in every version and with every error.
import { FindCoordinatorApi } from '../../src/protocol/messages/10-find-coordinator.ts'
import { LeaveGroupApi } from '../../src/protocol/messages/13-leave-group.ts'
import { SyncGroupApi } from '../../src/protocol/messages/14-sync-group.ts'
import { DescribeGroupsApi } from '../../src/protocol/messages/15-describe-groups.ts'
import { ListGroupsApi } from '../../src/protocol/messages/16-list-groups.ts'
import { DeleteGroupsApi } from '../../src/protocol/messages/42-delete-groups.ts'
import { eventually } from '../eventually.ts'
import { staticMemberCases } from './group-static-cases.ts'
import { groupCase, type Membership } from './group-talk.ts'
import { type ParityCase, parityCase, sortedBy } from './parity-case.ts'

const versions = (max: number, min = 0): number[] => Array.from({ length: max - min + 1 }, (_, index) => min + index)

const nobody: Membership = { memberId: '', generationId: -1, groupInstanceId: null }
const stranger: Membership = { memberId: 'nobody', generationId: 1, groupInstanceId: null }
const at = (member: Membership, change: Partial<Membership>): Membership => ({ ...member, ...change })

const strangers = groupCase('JoinGroup, SyncGroup, Heartbeat, LeaveGroup of strangers', async talk => {
  for (const version of versions(9)) await talk.join(`join ${version}`, { version, memberId: 'nobody' })
  for (const version of versions(5)) await talk.sync(`sync ${version}`, stranger, { version })
  for (const version of versions(4)) await talk.heartbeat(`heartbeat ${version}`, stranger, { version })
  for (const version of versions(5)) await talk.leave(`leave ${version}`, [{ memberId: 'nobody' }], version)
  await talk.leave('leave several', [{ memberId: 'nobody' }, { memberId: '', groupInstanceId: 'i' }, { memberId: '' }])
  await talk.leave('leave nobody', [])
  for (const version of versions(6)) await talk.describe(`describe ${version}`, version)
})

const withoutGroupId = groupCase('JoinGroup and others without a group id', async talk => {
  const groupId = ''
  await talk.join('join', { groupId })
  await talk.sync('sync', stranger, { groupId })
  await talk.heartbeat('heartbeat', stranger, { groupId })
  for (const version of [2, 5]) {
    const who = version < 3 ? { memberId: 'x' } : { members: [{ memberId: 'x' }] }
    await talk.say(`leave ${version}`, LeaveGroupApi, { request: { groupId, ...who }, version })
  }
  await talk.say('describe', DescribeGroupsApi, { request: { groups: [''] } })
  await talk.say('delete', DeleteGroupsApi, { request: { groupsNames: [''] } })
})

const refusedJoins = groupCase('JoinGroup that is refused', async talk => {
  await talk.join('session too short', { sessionTimeoutMs: 1 })
  await talk.join('session too long', { sessionTimeoutMs: 2_000_000_000 })
  await talk.join('no protocols', { protocols: [] })
  await talk.join('no protocol type', { protocolType: '' })
  await talk.describe('after refusals')
  const member = await talk.settle()
  await talk.join('another protocol type', { client: 'b', protocolType: 'other' })
  await talk.join('another protocol', { client: 'b', protocols: [{ name: 'q', metadata: Buffer.alloc(0) }] })
  await talk.join('another protocol, as a member', { ...member, protocols: [{ name: 'q', metadata: Buffer.alloc(0) }] })
  await talk.describe('at the end')
})

/** One member's life, in one version of everything. */
const life = (version: number): ParityCase =>
  groupCase(`JoinGroup ${version}, a member's life`, async talk => {
    const low = (max: number) => Math.min(version, max)
    const member = await talk.join('join', { version })
    await talk.commit('commit before the assignment', member, { version: Math.max(2, version) })
    await talk.describe('before the assignment', low(6))
    const syncing = { version: low(5), given: { [member.memberId]: 'all', somebody: 'else' } }
    await talk.sync('sync', member, syncing)
    await talk.sync('sync again', member, { version: low(5) })
    await talk.heartbeat('heartbeat', member, { version: low(4) })
    await talk.heartbeat('older generation', at(member, { generationId: 0 }), { version: low(4) })
    await talk.sync('sync of an older generation', at(member, { generationId: 0 }), { version: low(5) })
    await talk.commit('commit', member, { version: Math.max(2, version) })
    await talk.commit('commit of a stranger', nobody, { version: Math.max(2, version) })
    await talk.commit('commit of an older generation', at(member, { generationId: 0 }), {
      version: Math.max(2, version),
    })
    await talk.commit('commit of another member', at(member, { memberId: 'b' }), { version: Math.max(2, version) })
    await talk.describe('stable', low(6))
    const again = await talk.join('the leader joins again', { version, memberId: member.memberId })
    await talk.sync('sync after joining again', again, { version: low(5), given: { [again.memberId]: 'more' } })
    await talk.leave('leave', [{ memberId: member.memberId }], low(5))
    await talk.leave('leave again', [{ memberId: member.memberId }], low(5))
    await talk.describe('empty', low(6))
    await talk.commit('commit of a stranger when it is empty', nobody, { version: Math.max(2, version) })
    await talk.commit('commit of a generation when it is empty', member, { version: Math.max(2, version) })
    await talk.heartbeat('heartbeat after leaving', member, { version: low(4) })
    await talk.sync('sync after leaving', member, { version: low(5) })
    await talk.join('join after leaving', { version, memberId: member.memberId })
  })

const twoMembers = groupCase('JoinGroup of two members', async talk => {
  const first = await talk.settle()
  const joining = talk.joinAside('b')
  await talk.reaches('PreparingRebalance', 2)
  await talk.heartbeat('rebalance is told', first)
  await talk.sync('sync meanwhile', first)
  await talk.commit('commit meanwhile', first)
  await talk.describe('preparing')
  const leader = await talk.join('first joins again', { memberId: first.memberId })
  const second = await joining
  talk.note('second has joined', second)
  await talk.heartbeat('heartbeat before the assignment', leader)
  await talk.commit('commit before the assignment', leader)
  await talk.describe('completing')
  const follower = { memberId: second.memberId, generationId: second.generationId, groupInstanceId: null }
  await talk.join('follower joins again, unchanged', { client: 'b', memberId: follower.memberId })
  const waiting = talk.ask(SyncGroupApi, {
    groupId: talk.group,
    ...follower,
    protocolType: 'test',
    protocolName: 'p',
    assignments: [],
  })
  await talk.sync('leader assigns', leader, { given: { [leader.memberId]: 'left', [follower.memberId]: 'right' } })
  talk.note('follower is assigned', await waiting)
  await talk.describe('stable')
  await talk.join('follower joins again, unchanged, when stable', { client: 'b', memberId: follower.memberId })
  await talk.sync('wrong protocol name', leader, { protocolName: 'q' })
  await talk.sync('wrong protocol type', leader, { protocolType: 'other' })
  await talk.sync('no protocol name', leader, { protocolName: null })
  await talk.leave('leader leaves', [{ memberId: leader.memberId }])
  await talk.heartbeat('follower hears of it', follower)
  const alone = await talk.join('follower joins again', { client: 'b', memberId: follower.memberId })
  await talk.sync('follower leads', alone, { given: { [alone.memberId]: 'all' } })
  await talk.say('delete with a member', DeleteGroupsApi, { request: { groupsNames: [talk.group] } })
  await talk.leave('everybody leaves', [{ memberId: alone.memberId }])
  for (const version of versions(2))
    await talk.say(`delete ${version}`, DeleteGroupsApi, {
      request: { groupsNames: [talk.group, talk.group, 'no such'] },
      version,
    })
  await talk.describe('deleted')
})

const changedMetadata = groupCase('JoinGroup with changed metadata begins a rebalance', async talk => {
  const first = await talk.settle()
  const joining = talk.joinAside('b')
  await talk.reaches('PreparingRebalance', 2)
  const leader = await talk.join('first joins again', { memberId: first.memberId })
  const second = await joining
  const follower = { memberId: second.memberId, generationId: second.generationId, groupInstanceId: null }
  const waiting = talk.ask(SyncGroupApi, {
    groupId: talk.group,
    ...follower,
    protocolType: 'test',
    protocolName: 'p',
    assignments: [],
  })
  await talk.sync('leader assigns', leader, { given: { [leader.memberId]: 'left', [follower.memberId]: 'right' } })
  talk.note('follower is assigned', await waiting)
  const changing = talk.joinAside('b', { memberId: follower.memberId, metadata: 'other' })
  await talk.reaches('PreparingRebalance', 2)
  const next = await talk.join('leader joins again', { memberId: leader.memberId })
  talk.note('follower with other metadata', await changing)
  await talk.describe('completing')
  const interrupted = talk.ask(SyncGroupApi, {
    groupId: talk.group,
    memberId: follower.memberId,
    generationId: next.generationId,
    protocolType: 'test',
    protocolName: 'p',
    assignments: [],
  })
  await talk.waitsForSync()
  const changingAgain = talk.joinAside('a', { memberId: leader.memberId, metadata: 'changed' })
  talk.note('a waiting SyncGroup is interrupted', await interrupted)
  const last = await talk.join('follower joins again', { client: 'b', memberId: follower.memberId, metadata: 'other' })
  talk.note('leader with other metadata', await changingAgain)
  await talk.leave('both leave', [{ memberId: leader.memberId }, { memberId: last.memberId }])
  await talk.describe('empty')
})

const votes = groupCase('JoinGroup, members vote for a protocol', async talk => {
  const protocols = (...names: string[]) => names.map(name => ({ name, metadata: Buffer.from(name) }))
  const first = await talk.join('prefers p', { protocols: protocols('p', 'q', 'r') })
  await talk.sync('sync', first, { given: { [first.memberId]: 'all' } })
  const second = talk.joinAside('b', { protocols: protocols('q', 'p') })
  await talk.reaches('PreparingRebalance', 2)
  const third = talk.joinAside('c', { protocols: protocols('r', 'q', 'p') })
  await talk.reaches('PreparingRebalance', 3)
  await talk.join('prefers q now', { memberId: first.memberId, protocols: protocols('q', 'r', 'p') })
  talk.note('second', await second)
  talk.note('third', await third)
})

const tooMany = groupCase('JoinGroup of more members than group.max.size', async talk => {
  const rebalanceTimeoutMs = 15_000
  const first = await talk.join('first', { rebalanceTimeoutMs })
  const joining = ['b', 'c', 'd'].map(client => talk.joinAside(client, { rebalanceTimeoutMs }))
  await talk.reaches('PreparingRebalance', 4)
  await talk.join('first joins again', { memberId: first.memberId, rebalanceTimeoutMs })
  const others = await Promise.all(joining)
  await talk.join('fifth when it is complete', { client: 'e' })
  await talk.describe('of four', 4)
  const clients = ['b', 'c', 'd']
  const again = others.map(({ memberId }, index) =>
    talk.joinAside(clients[index] ?? '', { memberId, rebalanceTimeoutMs, metadata: 'changed' }),
  )
  // Before that the group is complete, and a fifth is turned away.
  await talk.reaches('PreparingRebalance', 4)
  again.push(talk.joinAside('e', { rebalanceTimeoutMs }))
  await talk.reaches('PreparingRebalance', 5)
  await talk.join('first is the last to join again', { memberId: first.memberId })
  for (const member of await Promise.all(again)) talk.note('one of the others', member.generationId)
  await talk.describe('of four others', 4)
})

const pendingMember = groupCase('LeaveGroup of a member that has only its id', async talk => {
  const pending = await talk.join('gets its id', { twice: false })
  await talk.heartbeat('heartbeat', pending)
  await talk.describe('without members')
  await talk.leave('leave', [{ memberId: pending.memberId }])
  await talk.leave('leave again', [{ memberId: pending.memberId }])
  await talk.join('join with it', { memberId: pending.memberId })
})

const expiredSession = groupCase('Heartbeat that does not come ends the membership', async talk => {
  const member = await talk.settle({ sessionTimeoutMs: 10_000 })
  await talk.reaches('Empty', 0)
  await talk.heartbeat('too late', member)
  await talk.describe('empty')
})

const expiredRebalance = groupCase('JoinGroup goes on without members that do not come again', async talk => {
  await talk.settle({ rebalanceTimeoutMs: 10_000 })
  const second = await talk.join('second', { client: 'b', rebalanceTimeoutMs: 10_000 })
  await talk.heartbeat('second is alone', second)
  await eventually(async () => {
    const { groups } = await talk.ask(DescribeGroupsApi, { groups: [talk.group] })
    if (groups[0]?.groupState !== 'Empty') throw new Error(`${groups[0]?.groupState}`)
  })
  await talk.heartbeat('and was too late with its SyncGroup', second)
})

interface ListOptions {
  readonly states?: string[]
  readonly types?: string[]
  readonly version?: number
}

const listing = groupCase('ListGroups', async talk => {
  const empty = await talk.settle()
  await talk.leave('leave', [{ memberId: empty.memberId }])
  const other = { groupId: `${talk.group} with a member` }
  const member = await talk.join('join another group', other)
  await talk.sync('sync', member, { ...other, given: { [member.memberId]: 'all' } })
  const list = async (what: string, { states = [], types = [], version = 5 }: ListOptions = {}) => {
    const request = {
      ...(version >= 4 ? { statesFilter: states } : {}),
      ...(version >= 5 ? { typesFilter: types } : {}),
    }
    const { errorCode, groups } = await talk.ask(ListGroupsApi, request, { version })
    const own = groups.filter(({ groupId }) => groupId.startsWith(talk.group))
    talk.note(what, { errorCode, groups: sortedBy(own, ({ groupId }) => groupId) })
  }
  for (const version of versions(5)) await list(`version ${version}`, { version })
  await list('empty ones', { states: ['empty'] })
  await list('stable ones', { states: ['STABLE'] })
  await list('of two states', { states: ['Stable', 'Empty'] })
  await list('of an unknown state', { states: ['nonsense'] })
  await list('classic ones', { types: ['Classic'] })
  await list('consumer ones', { types: ['consumer'] })
  await list('of an unknown type', { types: ['nonsense'] })
  await list('of unknown and known types', { types: ['nonsense', 'classic'] })
})

const coordinators: ParityCase[] = versions(6).map(version =>
  parityCase(`groups, version ${version}`, FindCoordinatorApi, {
    version,
    request: version >= 4 ? { coordinatorKeys: ['a', '', 'c'], keyType: 0 } : { key: 'a' },
  }),
)

export const groupCases: readonly ParityCase[] = [
  ...coordinators,
  strangers,
  withoutGroupId,
  refusedJoins,
  ...versions(9).map(life),
  twoMembers,
  changedMetadata,
  ...staticMemberCases,
  votes,
  pendingMember,
  listing,
]

/** They wait for time to pass, as much as a slow machine needs between two requests. */
export const slowGroupCases: readonly ParityCase[] = [tooMany, expiredSession, expiredRebalance]
