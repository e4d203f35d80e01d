/** Consumer groups of both protocols as REST tells them. */
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ConsumerClient } from '../../coordinator/fakes/consumer-client.ts'
import { GroupBench } from '../../coordinator/fakes/group-bench.ts'
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
