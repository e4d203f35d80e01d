/** Consumer groups of both protocols and share groups as REST tells them. */
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ConsumerClient } from '../../coordinator/fakes/consumer-client.ts'
import { GroupBench } from '../../coordinator/fakes/group-bench.ts'
import { ShareClient } from '../../coordinator/fakes/share-client.ts'
import { localGroupAdmin } from './group-admin.ts'

test('a group of the consumer protocol is told with its members and what they have', async () => {
  const bench = await GroupBench.start()
  const { groups, controller, replicas } = bench.node
  const admin = localGroupAdmin({ brokerId: 1, groups, replicas, controller })
  const client = new ConsumerClient(bench, { instanceId: 'one' })
  await client.beat()
  await client.commit(0)
  const assignment = [0, 1].map(partition => ({ topic: 't', partition }))
  const members = [{ memberId: client.memberId, instanceId: 'one', clientId: 'client', assignment }]
  const group = { groupId: 'g', state: 'Stable', type: 'consumer', isSimple: false, assignor: 'uniform', members }
  deepEqual(admin.list(), [group])
  const told = admin.describe('g')
  deepEqual(told, group)
  const lags = told ? await admin.lags(told) : []
  deepEqual(
    lags.map(({ partition, currentOffset, member }) => [partition, currentOffset, member?.memberId]),
    [[0, 0, client.memberId]],
  )
  await bench.close()
})

test('a share group is told with its members, and how far it is from the end', async () => {
  const bench = await GroupBench.start()
  const { groups, controller, replicas } = bench.node
  const admin = localGroupAdmin({ brokerId: 1, groups, replicas, controller })
  const starts = [{ topicName: 't', partitions: [{ partitionIndex: 1, startOffset: 0 }] }]
  const altering = groups.shares.alterOffsets('g', starts)
  await bench.settle()
  await altering
  const client = new ShareClient(bench)
  await client.beats(2)
  const assignment = [0, 1].map(partition => ({ topic: 't', partition }))
  const members = [{ memberId: client.memberId, instanceId: null, clientId: 'client', assignment }]
  const group = { groupId: 'g', state: 'Stable', type: 'share', isSimple: false, assignor: 'simple', members }
  deepEqual(admin.list(), [group])
  const lags = admin.lags(group)
  await bench.settle()
  deepEqual(
    (await lags).map(({ partition, currentOffset, logEndOffset }) => [partition, currentOffset, logEndOffset]),
    [[1, 0, 0]],
  )
  deepEqual(groups.figures.groups, [{ type: 'share', state: 'Stable', count: 1 }])
  deepEqual(groups.figures.members.get('share'), 1)
  await bench.close()
})
