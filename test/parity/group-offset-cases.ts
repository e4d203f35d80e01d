// Committed offsets as both nodes must answer them: committing, fetching and deleting, in every version and with every error.
import { ZERO_UUID } from '../../src/core/uuid.ts'
import { OffsetCommitApi } from '../../src/protocol/messages/08-offset-commit.ts'
import { OffsetFetchApi } from '../../src/protocol/messages/09-offset-fetch.ts'
import { FindCoordinatorApi } from '../../src/protocol/messages/10-find-coordinator.ts'
import { InitProducerIdApi } from '../../src/protocol/messages/22-init-producer-id.ts'
import { AddOffsetsToTxnApi } from '../../src/protocol/messages/25-add-offsets-to-txn.ts'
import { EndTxnApi } from '../../src/protocol/messages/26-end-txn.ts'
import { TxnOffsetCommitApi } from '../../src/protocol/messages/28-txn-offset-commit.ts'
import { DeleteGroupsApi } from '../../src/protocol/messages/42-delete-groups.ts'
import { OffsetDeleteApi } from '../../src/protocol/messages/47-offset-delete.ts'
import { DescribeTransactionsApi } from '../../src/protocol/messages/65-describe-transactions.ts'
import { eventually } from '../eventually.ts'
import { type GroupTalk, groupCase, type Membership } from './group-talk.ts'
import { type ParityCase, sortedBy, UNKNOWN_ID } from './parity-case.ts'

const versions = (max: number, min: number): number[] =>
  Array.from({ length: max - min + 1 }, (_, index) => min + index)

const nobody: Membership = { memberId: '', generationId: -1, groupInstanceId: null }

interface FetchOptions {
  readonly version?: number
  readonly requireStable?: boolean
  readonly all?: true
}

/** Partitions 0 and 1 of topic p, 0 of an unknown one; or everything. */
async function fetch(talk: GroupTalk, what: string, { version = 9, requireStable, all }: FetchOptions = {}) {
  const stable = requireStable === undefined ? {} : { requireStable }
  const named = (name: string) =>
    version >= 10 ? { topicId: name === 'p' ? talk.topicId(name) : UNKNOWN_ID } : version >= 8 ? { name } : {}
  const topics = ['p', 'nowhere'].map(name => ({
    name: version < 10 ? name : '',
    ...named(name),
    partitionIndexes: name === 'p' ? [0, 1, 77] : [0],
  }))
  const request =
    version >= 8
      ? { groups: [{ groupId: talk.group, topics: all ? null : topics }], ...stable }
      : { groupId: talk.group, topics: all ? null : topics, ...stable }
  await talk.say(what, OffsetFetchApi, {
    request,
    version,
    show: ({ errorCode, topics, groups }) => ({
      errorCode,
      topics: sortedBy(topics, ({ name }) => name),
      groups: groups.map(group => ({ ...group, topics: sortedBy(group.topics, ({ name }) => name) })),
    }),
  })
}

const strangers = groupCase('OffsetCommit of strangers', async talk => {
  await fetch(talk, 'of no group')
  await talk.commit('of a generation, version 8', { ...nobody, generationId: 1, memberId: 'm' }, { version: 8 })
  await talk.commit('of a generation, version 9', { ...nobody, generationId: 1, memberId: 'm' })
  for (const version of versions(10, 2)) {
    await talk.commit(`version ${version}`, nobody, { version })
    await fetch(talk, `committed by version ${version}`, { version: Math.max(9, version) })
  }
  for (const version of versions(10, 1)) await fetch(talk, `version ${version}`, { version })
  for (const version of versions(10, 2)) await fetch(talk, `everything, version ${version}`, { version, all: true })
  await talk.describe('a simple group')
  await talk.commit('with a member id', { ...nobody, memberId: 'm' })
  await talk.commit('of an instance', { ...nobody, groupInstanceId: 'i' })
  await talk.commit('of a generation', { ...nobody, generationId: 0 })
})

const details = groupCase('OffsetCommit, what is committed', async talk => {
  const commit = (what: string, version: number, partitions: { partitionIndex: number; committedOffset: bigint }[]) =>
    talk.commit(what, nobody, {
      version,
      topics: [
        { name: 'p', partitions: partitions.map(part => ({ ...part, committedMetadata: null })) },
        { name: 'nowhere', partitions: [{ partitionIndex: 0, committedOffset: 1n, committedMetadata: '' }] },
        { name: 'q', partitions: [{ partitionIndex: 0, committedOffset: 7n, committedMetadata: 'x'.repeat(4096) }] },
        { name: 'q', partitions: [{ partitionIndex: 1, committedOffset: 7n, committedMetadata: 'x'.repeat(4097) }] },
      ],
    })
  await commit('several topics', 9, [
    { partitionIndex: 0, committedOffset: 1n },
    { partitionIndex: 99, committedOffset: 2n },
    { partitionIndex: 1, committedOffset: -1n },
    { partitionIndex: 1, committedOffset: 2n ** 62n },
    { partitionIndex: -1, committedOffset: 5n },
  ])
  await fetch(talk, 'committed', { all: true })
  await talk.say('leader epochs', OffsetCommitApi, {
    request: {
      groupId: talk.group,
      generationIdOrMemberEpoch: -1,
      memberId: '',
      topics: [
        {
          name: 'p',
          partitions: [{ partitionIndex: 0, committedOffset: 3n, committedLeaderEpoch: 12, committedMetadata: 'ü' }],
        },
      ],
    },
    version: 8,
  })
  for (const version of [1, 4, 5, 8]) await fetch(talk, `version ${version}`, { version })
  await talk.commit('nothing', nobody, { topics: [] })
  await talk.commit('ids that nobody knows', nobody, {
    version: 10,
    topics: [
      { topicId: UNKNOWN_ID, partitions: [{ partitionIndex: 0, committedOffset: 1n, committedMetadata: '' }] },
      { topicId: ZERO_UUID, partitions: [{ partitionIndex: 0, committedOffset: 1n, committedMetadata: '' }] },
      { topicId: talk.topicId('q'), partitions: [{ partitionIndex: 9, committedOffset: 1n, committedMetadata: '' }] },
    ],
  })
})

const withoutGroupId = groupCase('OffsetCommit and others without a group id', async talk => {
  await talk.commit('commit', nobody, { groupId: '' })
  for (const version of [7, 10]) {
    const request = version >= 8 ? { groups: [{ groupId: '', topics: null }] } : { groupId: '', topics: null }
    await talk.say(`fetch ${version}`, OffsetFetchApi, { request, version })
  }
  await talk.say('delete offsets', OffsetDeleteApi, { request: { groupId: '', topics: [] } })
})

const batched = groupCase('OffsetFetch of several groups', async talk => {
  await talk.commit('commit', nobody)
  const groups = [
    { groupId: talk.group, topics: [{ name: 'p', partitionIndexes: [0] }] },
    { groupId: 'no such group', topics: [{ name: 'p', partitionIndexes: [0] }] },
    { groupId: 'no such group', topics: null },
    { groupId: talk.group, topics: [] },
    { groupId: talk.group, memberId: 'm', memberEpoch: 3, topics: null },
  ]
  await talk.say('five', OffsetFetchApi, { request: { groups }, version: 9 })
  await talk.say('none', OffsetFetchApi, { request: { groups: [] }, version: 9 })
})

const deletion = groupCase('OffsetDelete', async talk => {
  const remove = (what: string, topics: string[], partitions = [0, 1, 99]) =>
    talk.say(what, OffsetDeleteApi, {
      request: {
        groupId: talk.group,
        topics: topics.map(name => ({ name, partitions: partitions.map(partitionIndex => ({ partitionIndex })) })),
      },
    })
  await remove('of no group', ['p'])
  await talk.commit('commit', nobody)
  await remove('of a simple group', ['p', 'nowhere', 'q'])
  await fetch(talk, 'gone')
  await remove('nothing', [])
  const member = await talk.settle()
  await remove('with a member that is no consumer', ['p'])
  await talk.leave('leave', [{ memberId: member.memberId }])
  await remove('without members', ['p'])
  await talk.say('delete the group', DeleteGroupsApi, { request: { groupsNames: [talk.group] } })
  await remove('of a deleted group', ['p'])
})

/** A consumer's subscription: version 0, one topic, no data. */
const subscription = (topic: string): string =>
  `\0\0\0\0\0\x01\0${String.fromCharCode(topic.length)}${topic}\xff\xff\xff\xff`

const subscribed = groupCase('OffsetDelete of topics that members read', async talk => {
  const consumer = {
    protocolType: 'consumer',
    protocols: [{ name: 'p', metadata: Buffer.from(subscription('p'), 'latin1') }],
  }
  const member = await talk.join('join', consumer)
  await talk.sync('sync', member, { protocolType: 'consumer', given: { [member.memberId]: 'all' } })
  await talk.commit('commit', member)
  const request = {
    groupId: talk.group,
    topics: ['p', 'q'].map(name => ({ name, partitions: [{ partitionIndex: 0 }] })),
  }
  await talk.say('while subscribed', OffsetDeleteApi, { request })
  await fetch(talk, 'still there')
  await talk.leave('leave', [{ memberId: member.memberId }])
  await talk.say('after leaving', OffsetDeleteApi, { request })
  await fetch(talk, 'gone')
  const odd = await talk.join('join without a subscription', { protocolType: 'consumer' })
  await talk.sync('sync', odd, { protocolType: 'consumer', given: { [odd.memberId]: 'all' } })
  await talk.say('of unknown subscriptions', OffsetDeleteApi, { request })
})

/** Commits offset 42 of p-0 in a transaction that stays open. */
async function begin(talk: GroupTalk, transactionalId: string) {
  let producer = { producerId: -1n, producerEpoch: -1 }
  await eventually(async () => {
    await talk.ask(FindCoordinatorApi, { keyType: 1, coordinatorKeys: [transactionalId] })
    const request = { transactionalId, transactionTimeoutMs: 60_000 }
    const { errorCode, producerId, producerEpoch } = await talk.ask(InitProducerIdApi, request, { version: 4 })
    if (errorCode !== 0) throw new Error(`InitProducerId: ${errorCode}`)
    producer = { producerId, producerEpoch }
  })
  const who = { transactionalId, ...producer, groupId: talk.group }
  await talk.say('add the group', AddOffsetsToTxnApi, { request: who, version: 3 })
  const commit = (what: string, change: object, version = 3) =>
    talk.say(what, TxnOffsetCommitApi, {
      request: {
        ...who,
        topics: ['p', 'nowhere'].map(name => ({
          name,
          partitions: [{ partitionIndex: 0, committedOffset: 42n, committedMetadata: 'tx' }],
        })),
        ...change,
      },
      version,
    })
  const end = (committed: boolean) =>
    talk.say(`end, ${committed}`, EndTxnApi, { request: { transactionalId, ...producer, committed }, version: 3 })
  /** Its markers, which are written behind the answer, are there. */
  const ended = () =>
    eventually(async () => {
      const { transactionStates } = await talk.ask(DescribeTransactionsApi, { transactionalIds: [transactionalId] })
      const state = transactionStates[0]?.transactionState
      if (!state?.startsWith('Complete')) throw new Error(`${transactionalId} is ${state}`)
    })
  return { commit, end, ended }
}

const transactional = groupCase('TxnOffsetCommit', async talk => {
  await talk.commit('before', nobody)
  const first = await begin(talk, 'tx-1')
  await first.commit('commit', {})
  await first.commit('version 2', {}, 2)
  await first.commit('with a generation', { generationId: 3, memberId: 'm' })
  await fetch(talk, 'unstable', { requireStable: true })
  await fetch(talk, 'as it was', { requireStable: false })
  await fetch(talk, 'everything, unstable', { requireStable: true, all: true })
  await first.end(true)
  await settledOffset(talk, 42n)
  await fetch(talk, 'committed', { requireStable: true })
  const second = await begin(talk, 'tx-2')
  await second.commit('commit', {})
  await talk.commit('a plain one comes later', nobody)
  await second.end(true)
  await settledOffset(talk, 5n)
  await fetch(talk, 'the later one stays', { requireStable: true })
  const third = await begin(talk, 'tx-3')
  await third.commit('commit', {})
  await talk.say('delete offsets', OffsetDeleteApi, {
    request: { groupId: talk.group, topics: [{ name: 'p', partitions: [{ partitionIndex: 0 }] }] },
  })
  await third.end(true)
  await third.ended()
  await fetch(talk, 'deleted', { requireStable: true })
})

const transactionalMember = groupCase('TxnOffsetCommit of a member', async talk => {
  const member = await talk.settle()
  const { memberId, generationId } = member
  const transaction = await begin(talk, 'tx-4')
  await transaction.commit('of nobody', {})
  await transaction.commit('of the member', { memberId, generationId })
  await transaction.commit('of an older generation', { memberId, generationId: generationId - 1 })
  await transaction.commit('of another member', { memberId: 'm', generationId })
  await transaction.commit('of an unknown instance', { memberId, generationId, groupInstanceId: 'i' })
  await transaction.end(false)
  await settledOffset(talk, -1n)
  await fetch(talk, 'aborted', { requireStable: true })
})

async function settledOffset(talk: GroupTalk, offset: bigint): Promise<void> {
  await eventually(async () => {
    const groups = [{ groupId: talk.group, topics: [{ name: 'p', partitionIndexes: [0] }] }]
    const answer = await talk.ask(OffsetFetchApi, { groups, requireStable: true }, { version: 9 })
    const found = answer.groups[0]?.topics[0]?.partitions[0]
    if (found?.errorCode !== 0 || found.committedOffset !== offset) throw new Error(`offset ${found?.committedOffset}`)
  })
}

export const groupOffsetCases: readonly ParityCase[] = [
  strangers,
  details,
  withoutGroupId,
  batched,
  deletion,
  subscribed,
  transactional,
  transactionalMember,
]
