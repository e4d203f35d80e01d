/** How a node comes to lead a topic of Kafka brokers: fenced first, in sync before it is elected, and nothing that was written last is left behind. */
import { deepEqual, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { fakeId, javaBroker, lockstepBroker } from '../../metadata/fakes/joined-images.ts'
import { FakeJoinedCluster } from './fakes/fake-joined-cluster.ts'
import { JoinedFence } from './joined-fence.ts'

const orders = fakeId('orders')

function scene(partitions: readonly (readonly number[])[] = [[1, 2]]) {
  const cluster = new FakeJoinedCluster([javaBroker(1), javaBroker(2), lockstepBroker(1001), lockstepBroker(1002)])
  cluster.addTopic('orders', partitions)
  const clock = new ManualClock()
  const told = { fence: '78', end: 10, highWatermark: 10, asked: [] as string[] }
  const fence = new JoinedFence({
    brokerId: 1001,
    controller: cluster.controller,
    questions: {
      highWatermark: async () => told.highWatermark,
      logEnd: async (leader, topic, partition) => {
        told.asked.push(`end of ${topic}-${partition} at ${leader}`)
        return told.end
      },
      topicConfig: async (leader, topic) => {
        told.asked.push(`fence of ${topic} at ${leader}`)
        return told.fence
      },
    },
    replicas: { lookup: () => ({ highWatermark: 10 }) as never },
    security: { allowsIfNoAcl: false },
    clock,
    logger: silentLogger,
  })
  const placed = (partition = 0) => {
    const found = cluster.topics.get('orders')?.[partition]
    if (!found) throw new Error('the topic is gone')
    return found
  }
  /** The copy here has everything. */
  const caughtUp = () => {
    for (const one of cluster.topics.get('orders') ?? [])
      Object.assign(one, { isr: [...new Set([...one.isr, ...one.addingReplicas])], addingReplicas: [] })
  }
  /** Lets waits end. */
  const patiently = async (work: Promise<void>) => {
    let done = false
    const ended = work.finally(() => {
      done = true
    })
    ended.catch(() => {})
    for (let turn = 0; !done && turn < 400; turn++) {
      await new Promise(resolve => setImmediate(resolve))
      if (!done) await clock.advance(50)
    }
    await ended
  }
  return { cluster, fence, told, placed, caughtUp, patiently }
}

test('the fence is put on, then a copy is made here, and only when it has everything this node is elected', async () => {
  const { cluster, fence, told, placed, caughtUp, patiently } = scene()
  await rejects(patiently(fence.enclose(orders)), error => {
    match(String(error), /partition 0 is being copied to this node/)
    return true
  })
  deepEqual(cluster.commands, [
    'set max.message.bytes 78',
    'set retention.ms -1',
    'set retention.bytes -1',
    'create DENY',
    'orders-0 to 1,2,1001',
  ])
  caughtUp()
  cluster.commands.length = 0
  await patiently(fence.enclose(orders))
  deepEqual(cluster.commands, ['orders-0 to 1001,1,2', 'elect orders-0'])
  deepEqual(told.asked, ['fence of orders at 1', 'end of orders-0 at 1'])
  deepEqual([placed().leader, placed().replicas, placed().leaderEpoch], [1001, [1001, 1, 2], 1])
  await fence.enclose(orders)
  deepEqual(cluster.commands, ['orders-0 to 1001,1,2', 'elect orders-0'], 'there is nothing more to do')
})

test('a copy is made behind those that are there while clients write, and is taken away again without a trace', async () => {
  const { cluster, fence, told, placed, caughtUp, patiently } = scene()
  cluster.configs.set('orders', { 'retention.ms': '5' })
  const plan = fence.plan(orders)
  match((await fence.stage(orders)) ?? '', /partition 0 is being copied to this node/)
  caughtUp()
  deepEqual(await fence.stage(orders), undefined)
  deepEqual([placed().leader, placed().replicas], [1, [1, 2, 1001]])
  deepEqual(told.asked, [])
  await fence.unstage({ topicId: orders, plan })
  deepEqual([placed().leader, placed().replicas], [1, [1, 2]])
  deepEqual(cluster.commands, ['orders-0 to 1,2,1001', 'orders-0 to 1,2'])
  // Shut, it is fenced where it is.
  told.fence = '1048588'
  await rejects(patiently(fence.shut(orders)), /broker 1 may let clients write still/)
  told.fence = '78'
  await patiently(fence.shut(orders))
  deepEqual([placed().leader, cluster.configs.get('orders')?.['max.message.bytes']], [1, '78'])
})

test('nobody is elected while the leader may still take records, or has some that are not replicated', async () => {
  const { cluster, fence, told, placed, caughtUp, patiently } = scene()
  await rejects(patiently(fence.enclose(orders)))
  caughtUp()
  told.fence = '1048588'
  await rejects(patiently(fence.enclose(orders)), /partition 0 is led by broker 1: what was written last/)
  told.fence = '78'
  told.end = 11
  await rejects(patiently(fence.enclose(orders)), /what was written last is being replicated/)
  deepEqual(placed().leader, 1)
  told.highWatermark = 11
  await patiently(fence.enclose(orders))
  deepEqual(placed().leader, 1001)
  deepEqual(cluster.commands.at(-1), 'elect orders-0')
})

test('it is taken up again by another node, whose own replica takes the place of the first one', async () => {
  const { cluster, fence, placed, caughtUp, patiently } = scene([
    [1002, 1, 2],
    [1002, 2, 1],
  ])
  Object.assign(placed(), { leader: 1, isr: [1, 2], leaderEpoch: 4 })
  await rejects(patiently(fence.enclose(orders)))
  caughtUp()
  await patiently(fence.enclose(orders))
  deepEqual(
    [placed(0), placed(1)].map(({ leader, replicas }) => [leader, replicas]),
    [
      [1001, [1001, 1, 2]],
      [1001, [1001, 2, 1]],
    ],
  )
  deepEqual(cluster.commands.slice(-2), ['elect orders-0', 'elect orders-1'])
})

test('a move of others is waited for, and a command that fails is made again', async () => {
  const { cluster, fence, placed, caughtUp, patiently } = scene()
  Object.assign(placed(), { addingReplicas: [2] })
  await rejects(patiently(fence.enclose(orders)), /is being copied/)
  deepEqual(
    cluster.commands.filter(command => command.startsWith('orders')),
    [],
  )
  Object.assign(placed(), { addingReplicas: [] })
  for (const side of ['before', 'after'] as const) {
    cluster.failure = { after: 0, side }
    await rejects(patiently(fence.enclose(orders)))
  }
  caughtUp()
  cluster.failure = { after: 0, side: 'after' }
  await rejects(patiently(fence.enclose(orders)), /the answer is lost/)
  await patiently(fence.enclose(orders))
  deepEqual(placed().leader, 1001)
})
