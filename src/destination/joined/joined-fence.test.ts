/** Fences among Java brokers: what keeps clients out, is restored, and comes off last; and releases that are taken up again anywhere. */
import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import type { ReleaseRequest } from '../../link/ports.ts'
import { fakeId, javaBroker, lockstepBroker } from '../../metadata/fakes/joined-images.ts'
import { wholeImageDelta } from '../../metadata/metadata-delta.ts'
import { FakeJoinedCluster } from './fakes/fake-joined-cluster.ts'
import { type ClusterSecurity, denyWrite } from './fence-values.ts'
import { JoinedFence } from './joined-fence.ts'

const orders = fakeId('orders')

function scene({ security, minInSync = 2 }: { security?: ClusterSecurity; minInSync?: number } = {}) {
  const cluster = new FakeJoinedCluster([javaBroker(1), javaBroker(2), lockstepBroker(1001)])
  cluster.addTopic('orders', [
    [1001, 1, 2],
    [1001, 2, 1],
  ])
  const clock = new ManualClock()
  let highWatermark = 10
  const fence = new JoinedFence({
    brokerId: 1001,
    controller: cluster.controller,
    questions: {
      highWatermark: async () => highWatermark,
      logEnd: async () => highWatermark,
      topicConfig: async () => String(minInSync),
    },
    replicas: { lookup: () => ({ highWatermark }) as never },
    security,
    clock,
    logger: silentLogger,
  })
  const behind = (offset: number) => {
    highWatermark = offset
  }
  return { cluster, fence, behind, clock }
}

/** Broker 2 died a while ago. */
function loseBroker2(cluster: FakeJoinedCluster): void {
  cluster.brokers.set(2, javaBroker(2, { fenced: true }))
  for (const partition of cluster.topics.get('orders') ?? [])
    Object.assign(partition, { isr: partition.isr.filter(id => id !== 2) })
}

const request = (fence: JoinedFence, more: Partial<ReleaseRequest> = {}): ReleaseRequest => ({
  topicId: orders,
  verb: 'promote',
  plan: fence.plan(orders),
  endOffsets: [10, 10],
  configs: new Map([['retention.ms', '5000']]),
  ...more,
})

test('a fence is put on with the ACL that opens before the one that closes, and nothing twice', async () => {
  const { cluster, fence } = scene({ security: { allowsIfNoAcl: true } })
  deepEqual(
    [...fence.configsOf(new Map([['retention.ms', '7']]))],
    [
      ['retention.ms', '-1'],
      ['max.message.bytes', '78'],
      ['retention.bytes', '-1'],
    ],
  )
  await fence.guard('orders')
  deepEqual(cluster.commands, ['create ALLOW', 'create DENY'])
  equal((await fence.restore(orders)).length, 3, 'the configs are restored')
  deepEqual(await fence.restore(orders), [])
})

test('readers who were allowed by an ACL need no other one, and without defaults there is only the DENY', async () => {
  const allowed = scene({ security: { allowsIfNoAcl: true } })
  const readers = {
    ...denyWrite('orders'),
    id: fakeId('acl'),
    principal: 'User:alice',
    permissionType: 3,
    operation: 3,
  }
  allowed.cluster.acls.push(readers)
  await allowed.fence.guard('orders')
  const strict = scene({ security: { allowsIfNoAcl: false } })
  await strict.fence.guard('orders')
  deepEqual([allowed.cluster.commands, strict.cluster.commands], [['create DENY'], ['create DENY']])
  const open = scene()
  await open.fence.guard('orders')
  deepEqual(open.cluster.commands, [])
})

test('a fence goes with its topic, and stays where there is a topic of the name', async () => {
  const { cluster, fence } = scene({ security: { allowsIfNoAcl: true } })
  await fence.guard('orders')
  await fence.forget('orders')
  equal(cluster.acls.length, 2)
  cluster.topics.delete('orders')
  await fence.forget('orders')
  deepEqual(cluster.acls, [])
})

test('whatever somebody changes of a fence is seen and restored', async () => {
  const { cluster, fence } = scene({ security: { allowsIfNoAcl: false } })
  await fence.restore(orders)
  const touched: string[] = []
  fence.onDisturbed(ids => touched.push(...ids))
  cluster.configs.set('orders', { ...cluster.configs.get('orders'), 'max.message.bytes': '1000000' })
  cluster.acls = []
  fence.onImage(cluster.image, wholeImageDelta(cluster.image))
  deepEqual(touched, [orders])
  deepEqual(await fence.restore(orders), ['max.message.bytes', 'the ACL that denies WRITE'])
  equal(cluster.configs.get('orders')?.['max.message.bytes'], '78')
})

test('a release moves the topic to the in-sync brokers, then takes the fence off, the DENY before the ALLOW', async () => {
  const { cluster, fence } = scene({ security: { allowsIfNoAcl: true } })
  await fence.guard('orders')
  await fence.restore(orders)
  cluster.commands.length = 0
  deepEqual(await fence.release(request(fence)), [])
  deepEqual(cluster.commands, [
    'orders-0 to 1,2',
    'orders-1 to 2,1',
    'delete max.message.bytes',
    'set retention.ms 5000',
    'delete retention.bytes',
    'delete DENY',
    'delete ALLOW',
  ])
  deepEqual(cluster.configs.get('orders'), { 'retention.ms': '5000' })
  deepEqual(
    cluster.topics.get('orders')?.map(({ leader, leaderEpoch }) => [leader, leaderEpoch]),
    [
      [1, 1],
      [2, 1],
    ],
  )
  ok(fence.isTakenAway(orders, 0))
})

test('a node that somebody unregistered has its mirrors still, and a release leaves its replicas out', async () => {
  const { cluster, fence } = scene()
  cluster.brokers.delete(1001)
  for (const partition of cluster.topics.get('orders') ?? []) Object.assign(partition, { leader: 1, isr: [1, 2] })
  equal(fence.isTakenAway(orders, 0), false)
  equal(fence.plan(orders), '[[1,2],[2,1]]')
  await fence.release(request(fence))
  deepEqual(
    cluster.topics.get('orders')?.map(({ replicas }) => replicas),
    [
      [1, 2],
      [2, 1],
    ],
  )
  ok(fence.isTakenAway(orders, 0))
})

test('with a broker down a promote waits where the topic asks for two, and a failover goes on with the one that is there', async () => {
  const { cluster, fence } = scene()
  await fence.restore(orders)
  loseBroker2(cluster)
  const { obstacles, warnings } = await fence.outlook(orders, 'promote')
  deepEqual(
    [...obstacles.values()],
    ['1 of 2 brokers that have to be in sync are', '1 of 2 brokers that have to be in sync are'],
  )
  deepEqual(warnings, ['broker 2 is not in sync with 2 of its partitions and gets them when it is back'])
  await rejects(fence.release(request(fence)), /partition 0: 1 of 2 brokers/)
  cluster.commands.length = 0
  match((await fence.release(request(fence, { verb: 'failover' })))[0] ?? '', /broker 2 is not in sync/)
  const moves = cluster.commands.filter(command => command.startsWith('orders-'))
  deepEqual(moves, ['orders-0 to 1', 'orders-1 to 1', 'orders-0 to 1,2', 'orders-1 to 2,1'])
  ok(cluster.commands.indexOf('delete max.message.bytes') < cluster.commands.indexOf('orders-0 to 1,2'))
  deepEqual(cluster.topics.get('orders')?.[0]?.leader, 1)
})

test('with a broker down a promote completes where the topic asks for one', async () => {
  const { cluster, fence } = scene({ minInSync: 1 })
  loseBroker2(cluster)
  await fence.release(request(fence))
  deepEqual(
    cluster.topics.get('orders')?.map(({ leader }) => leader),
    [1, 1],
  )
})

test('nothing is moved before the in-sync brokers have everything, and it is said what is waited for', async () => {
  const { cluster, fence, behind, clock } = scene()
  behind(9)
  const waiting = rejects(fence.release(request(fence)), /in-sync replicas have it up to 9 of 10/)
  await clock.advance(11_000)
  await waiting
  deepEqual(cluster.commands, [])
})

test('a release that fails anywhere is taken up by whoever comes next, and does nothing twice that matters', async () => {
  for (const side of ['before', 'after'] as const)
    for (let after = 0; ; after++) {
      const { cluster, fence } = scene({ security: { allowsIfNoAcl: true }, minInSync: 1 })
      await fence.guard('orders')
      await fence.restore(orders)
      loseBroker2(cluster)
      const asked = request(fence)
      cluster.failure = { after, side }
      const failed = await fence.release(asked).then(
        () => false,
        () => true,
      )
      cluster.failure = undefined
      await fence.release(asked)
      deepEqual(cluster.configs.get('orders'), { 'retention.ms': '5000' }, `${side} ${after}`)
      deepEqual(cluster.acls, [], `${side} ${after}`)
      deepEqual(
        cluster.topics.get('orders')?.map(({ replicas, leader }) => [replicas, leader]),
        [
          [[1, 2], 1],
          [[2, 1], 1],
        ],
        `${side} ${after}`,
      )
      if (!failed) break
    }
})
