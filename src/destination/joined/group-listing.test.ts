/** The groups of a joined cluster: those of every Kafka broker that is there, and none rather than some of them. */
import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { javaBroker, joinedImage, lockstepBroker } from '../../metadata/fakes/joined-images.ts'
import { FakeBrokers } from './fakes/fake-brokers.ts'
import { listGroupIds } from './group-listing.ts'

const group = (groupId: string, protocolType = 'consumer', groupType = 'Classic') => ({
  ...{ groupId, protocolType, groupType },
  groupState: 'Stable',
})

test('groups are asked of every Kafka broker that is alive; those that commit no offsets are left out', async () => {
  const image = joinedImage({
    brokers: [javaBroker(1), javaBroker(2), javaBroker(3, { fenced: true }), lockstepBroker(1001)],
  })
  const brokers = new FakeBrokers()
  const answers = (groups: readonly unknown[], errorCode = 0) => ({ ListGroupsRequest: () => ({ errorCode, groups }) })
  brokers.answers.set(1, answers([group('a'), group('simple', ''), group('connect', 'connect')]))
  brokers.answers.set(2, answers([group('b', 'consumer', 'Consumer'), group('shared', 'share', 'Share')]))
  deepEqual([...(await listGroupIds({ image, kind: 'committing' }, brokers))].sort(), ['a', 'b', 'simple'])
  deepEqual([...(await listGroupIds({ image, kind: 'share' }, brokers))], ['shared'])
  brokers.answers.set(2, answers([], 14))
  await rejects(
    listGroupIds({ image, kind: 'share' }, brokers),
    /broker 2 answers ListGroups with COORDINATOR_LOAD_IN_PROGRESS/,
  )
})
