/** A new leader epoch for a cut: a Kafka broker leads for a moment, or a replica that lags is taken away and given back; the order of replicas stays. */
import { deepEqual, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLogger } from '../../core/logger.ts'
import { fakeId, javaBroker, lockstepBroker } from '../../metadata/fakes/joined-images.ts'
import { EpochFork } from './epoch-fork.ts'
import { FakeJoinedCluster } from './fakes/fake-joined-cluster.ts'

function scene(replicas: readonly number[] = [1001, 1, 2], isr: readonly number[] = replicas) {
  const cluster = new FakeJoinedCluster([javaBroker(1), javaBroker(2), lockstepBroker(1001), lockstepBroker(1002)])
  cluster.addTopic('orders', [replicas])
  const placed = () => {
    const [partition] = cluster.topics.get('orders') ?? []
    if (!partition) throw new Error('the topic is gone')
    return partition
  }
  Object.assign(placed(), { isr })
  const fork = new EpochFork({ brokerId: 1001, controller: cluster.controller, logger: silentLogger })
  return { cluster, placed, begin: () => fork.begin(fakeId('orders'), 0) }
}

test('an in-sync Kafka broker leads for a moment, and all is as before in a later epoch', async () => {
  const { cluster, placed, begin } = scene([1001, 1002, 1, 2])
  const before = placed().leaderEpoch
  await begin()
  deepEqual(cluster.commands, [
    'orders-0 to 1,1001,1002,2',
    'elect orders-0',
    'orders-0 to 1001,1002,1,2',
    'elect orders-0',
  ])
  const { leader, leaderEpoch, replicas } = placed()
  deepEqual([leader, leaderEpoch, replicas], [1001, before + 2, [1001, 1002, 1, 2]])
})

test('a node that stands in for another one leaves the order as it was', async () => {
  const { placed, begin } = scene([1002, 1001, 1])
  Object.assign(placed(), { leader: 1001 })
  await begin()
  deepEqual([placed().leader, placed().replicas], [1001, [1002, 1001, 1]])
})

test('where no Kafka broker is in sync, one that lags is taken away and given back', async () => {
  const { cluster, placed, begin } = scene([1001, 1, 2], [1001])
  const before = placed().leaderEpoch
  await begin()
  deepEqual(cluster.commands, ['orders-0 to 1001,1', 'orders-0 to 1001,1,2'])
  deepEqual([placed().leader, placed().leaderEpoch, placed().replicas], [1001, before + 1, [1001, 1, 2]])
})

test('the order is restored where the election fails or its answer is lost, and the failure is told', async () => {
  for (const side of ['before', 'after'] as const) {
    const { cluster, placed, begin } = scene()
    cluster.failure = { after: 1, side }
    await rejects(begin())
    deepEqual(placed().replicas, [1001, 1, 2])
  }
})

test('nothing is begun by a node that does not lead, nor while replicas are moved', async () => {
  const led = scene()
  Object.assign(led.placed(), { leader: 2 })
  await rejects(led.begin(), error => {
    match(String(error), /led by 2/)
    return true
  })
  const moving = scene()
  Object.assign(moving.placed(), { addingReplicas: [3] })
  await rejects(moving.begin(), /being moved/)
  deepEqual([led.cluster.commands, moving.cluster.commands], [[], []])
})
