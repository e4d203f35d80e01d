/** Groups of a joined cluster: whom a link asks about their offsets, how it commits, and what it does where coordinators move. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { seededRandom } from '../../core/random.ts'
import { javaBroker, joinedImage, lockstepBroker } from '../../metadata/fakes/joined-images.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { OffsetCommitRequest } from '../../protocol/messages/08-offset-commit.ts'
import type { OffsetFetchRequest } from '../../protocol/messages/09-offset-fetch.ts'
import type { FindCoordinatorRequest } from '../../protocol/messages/10-find-coordinator.ts'
import type { DescribeGroupsRequest } from '../../protocol/messages/15-describe-groups.ts'
import type { ConsumerGroupDescribeRequest } from '../../protocol/messages/69-consumer-group-describe.ts'
import { FakeBrokers } from './fakes/fake-brokers.ts'
import { GroupCoordinators } from './group-coordinators.ts'
import { GroupRequests } from './group-requests.ts'

interface Members {
  readonly classic: ReadonlySet<string>
  readonly consumer: ReadonlySet<string>
}

const describing = (members: Members) => ({
  DescribeGroupsRequest: ({ groups }: DescribeGroupsRequest) => ({
    groups: groups.map(groupId => ({
      errorCode: 0,
      groupId,
      groupState: members.consumer.has(groupId) ? 'Dead' : 'Stable',
      protocolType: 'consumer',
      protocolData: '',
      members: members.classic.has(groupId)
        ? [
            {
              memberId: 'a',
              clientId: '',
              clientHost: '',
              memberMetadata: Buffer.alloc(0),
              memberAssignment: Buffer.alloc(0),
            },
          ]
        : [],
    })),
  }),
  ConsumerGroupDescribeRequest: ({ groupIds }: ConsumerGroupDescribeRequest) => ({
    groups: groupIds.map(groupId => ({
      errorCode: 0,
      groupId,
      groupState: 'Stable',
      groupEpoch: 1,
      assignmentEpoch: 1,
      assignorName: 'uniform',
      members: [
        {
          ...{ memberId: 'b', memberEpoch: 1, clientId: '', clientHost: '', subscribedTopicNames: [] },
          ...{ assignment: { topicPartitions: [] }, targetAssignment: { topicPartitions: [] } },
        },
      ],
    })),
  }),
})

function scene() {
  const clock = new ManualClock()
  const brokers = new FakeBrokers()
  const image = () => joinedImage({ brokers: [javaBroker(1), javaBroker(2), lockstepBroker(1001)] })
  const coordinator = new Map<string, number>()
  const denied = new Map<string, number>()
  const members = { classic: new Set<string>(), consumer: new Set<string>() }
  const commits: OffsetCommitRequest[] = []
  const refusal = { code: 0 }
  const coordinates = (id: number, group: string) => coordinator.get(group) === id
  const answersOf = (id: number) => ({
    FindCoordinatorRequest: ({ coordinatorKeys }: FindCoordinatorRequest) => ({
      coordinators: coordinatorKeys.map(key => ({
        key,
        nodeId: coordinator.get(key) ?? -1,
        host: 'h',
        port: 1,
        errorCode: coordinator.has(key) ? 0 : (denied.get(key) ?? ErrorCode.COORDINATOR_NOT_AVAILABLE),
        errorMessage: null,
      })),
    }),
    OffsetFetchRequest: ({ groups }: OffsetFetchRequest) => ({
      groups: groups.map(({ groupId }) => ({
        groupId,
        topics: [
          { name: 'orders', partitions: [{ partitionIndex: 0, committedOffset: 7n, metadata: 'm', errorCode: 0 }] },
          { name: 'orders', partitions: [{ partitionIndex: 1, committedOffset: -1n, metadata: '', errorCode: 0 }] },
        ],
        errorCode: coordinates(id, groupId) ? 0 : ErrorCode.NOT_COORDINATOR,
      })),
    }),
    ...describing(members),
    OffsetCommitRequest: (request: OffsetCommitRequest) => {
      commits.push(request)
      const errorCode = coordinates(id, request.groupId) ? refusal.code : ErrorCode.NOT_COORDINATOR
      const topics = request.topics.map(({ name, partitions }) => ({
        name,
        partitions: partitions.map(({ partitionIndex }) => ({ partitionIndex, errorCode })),
      }))
      return { topics }
    },
  })
  for (const id of [1, 2]) brokers.answers.set(id, answersOf(id))
  const coordinators = new GroupCoordinators({ brokerId: 1001, image, brokers })
  const may = { write: true }
  const parts = { coordinators, brokers, clock, random: seededRandom(3), mayWrite: () => may.write }
  return {
    clock,
    brokers,
    coordinator,
    denied,
    members,
    commits,
    refusal,
    may,
    groups: new GroupRequests(parts),
    answersOf,
  }
}

const offset = { topic: 'orders', partition: 0, offset: 5, metadata: '' }

test('groups that are asked about together share requests, and members of both protocols are seen', async () => {
  const { groups, coordinator, members, brokers } = scene()
  coordinator.set('a', 1).set('b', 1).set('c', 2)
  members.classic.add('a')
  members.consumer.add('b')
  const [a, b, c] = await Promise.all(['a', 'b', 'c'].map(group => groups.read(group)))
  const offsets = [{ topic: 'orders', partition: 0, offset: 7, metadata: 'm' }]
  deepStrictEqual(a, { kind: 'offsets', offsets, hasMembers: true })
  deepStrictEqual(b, { kind: 'offsets', offsets, hasMembers: true })
  deepStrictEqual(c, { kind: 'offsets', offsets, hasMembers: false })
  strictEqual(brokers.asked.filter(asked => asked.endsWith('OffsetFetchRequest')).length, 2)
  await groups.read('a')
  strictEqual(brokers.asked.filter(asked => asked.endsWith('FindCoordinatorRequest')).length, 1)
})

test('offsets are committed as by nobody, without an epoch, and refusals are told by their kind', async () => {
  const { groups, coordinator, commits, refusal } = scene()
  coordinator.set('g', 2)
  deepStrictEqual(await groups.commit('g', [offset, { ...offset, partition: 3 }]), { kind: 'committed' })
  const [
    { generationIdOrMemberEpoch, memberId, topics } = { generationIdOrMemberEpoch: 0, memberId: '?', topics: [] },
  ] = commits
  deepStrictEqual([generationIdOrMemberEpoch, memberId, topics.length], [-1, '', 1])
  deepStrictEqual(
    topics[0]?.partitions.map(({ committedLeaderEpoch }) => committedLeaderEpoch),
    [-1, -1],
  )
  refusal.code = ErrorCode.UNKNOWN_MEMBER_ID
  deepStrictEqual(await groups.commit('g', [offset]), { kind: 'in-use' })
  refusal.code = ErrorCode.GROUP_ID_NOT_FOUND
  strictEqual((await groups.commit('g', [offset])).kind, 'other-type')
})

test('a coordinator that moved or died is looked for again', async () => {
  const { groups, coordinator, brokers, clock, answersOf } = scene()
  coordinator.set('g', 1)
  await groups.read('g')
  coordinator.set('g', 2)
  const moved = groups.commit('g', [offset])
  await clock.advance(1000)
  deepStrictEqual(await moved, { kind: 'committed' })
  brokers.answers.delete(2)
  const waiting = groups.read('g')
  await clock.advance(1000)
  brokers.answers.set(2, answersOf(2))
  await clock.advance(5000)
  strictEqual((await waiting).kind, 'offsets')
  brokers.answers.delete(2)
  const given = groups.read('g')
  for (let second = 0; second < 30; second++) await clock.advance(1000)
  strictEqual((await given).kind, 'retriable')
})

test('a link coordinator that was deposed commits nothing more, not even what it had begun', async () => {
  const { groups, coordinator, commits, may, clock } = scene()
  coordinator.set('g', 1)
  await groups.read('g')
  coordinator.set('g', 2)
  const begun = groups.commit('g', [offset])
  const refused = rejects(begun, /not the link coordinator/)
  await new Promise(resolve => setImmediate(resolve))
  strictEqual(commits.length, 1)
  may.write = false
  for (let second = 0; second < 5; second++) await clock.advance(1000)
  await refused
  strictEqual(commits.length, 1)
})

test('a group that we have no rights to is told at once, with the right, and holds up no other', async () => {
  const { groups, coordinator, denied, refusal } = scene()
  coordinator.set('mine', 1)
  denied.set('theirs', ErrorCode.GROUP_AUTHORIZATION_FAILED)
  const [mine, theirs] = await Promise.all(['mine', 'theirs'].map(group => groups.read(group)))
  strictEqual(mine?.kind, 'offsets')
  ok(theirs?.kind === 'retriable')
  match(theirs.message, /lacks READ on the group theirs; grant it with kafka-acls/)
  const refused = await groups.commit('theirs', [offset])
  ok(refused.kind === 'failed')
  match(refused.message, /lacks READ on the group theirs/)
  refusal.code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
  const ofTopic = await groups.commit('mine', [offset])
  ok(ofTopic.kind === 'failed')
  match(ofTopic.message, /lacks READ on the topic orders/)
  denied.clear()
  coordinator.set('theirs', 2)
  strictEqual((await groups.read('theirs')).kind, 'offsets')
})
