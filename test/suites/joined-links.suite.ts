/** Links into a complete Apache Kafka 4.3.1 that Lockstep nodes have joined: mirrors on every Java replica, groups, and what two nodes do for each other. */
import { ok, strictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../eventually.ts'
import type { LockstepNode } from '../lockstep-process.ts'
import { skipWithout } from '../requirements.ts'
import { assertEqualBatches, assertEqualReads, waitUntilInStep } from '../scenarios/equality.ts'
import { type JoinedWorld, startJoinedWorld } from '../scenarios/joined-world.ts'
import { dumpLog } from '../scenarios/logs.ts'
import type { MirrorLink } from '../scenarios/mirror-link.ts'

const skip = skipWithout('java')
let world: JoinedWorld
let first: LockstepNode
let link: MirrorLink

before(async () => {
  if (skip !== false) return
  world = await startJoinedWorld({ properties: { 'default.replication.factor': '2' } })
  first = await world.join({ nodeId: 1001 })
})
after(() => world?.close())

/** Batches of every Java replica are those of the source, but for the leader epoch. */
async function assertOnEveryReplica(topic: string, partitions: number): Promise<void> {
  const { there, here, replica, cluster } = world
  await waitUntilInStep({ source: there, mirror: here }, topic)
  for (let partition = 0; partition < partitions; partition++) {
    const expected = await dumpLog(there, topic, { partition })
    ok(expected.length > 0)
    for (const { id } of cluster.brokers)
      await eventually(async () => {
        const found = await dumpLog(replica(id), topic, { partition })
        assertEqualBatches(found, expected, `${topic}-${partition} on broker ${id}`)
      })
  }
}

test('a mirror of a real source is on every Java replica, led by the Lockstep node', { skip }, async () => {
  const { there, here } = world
  await there.createTopic('orders', { partitions: 2 })
  for (const partition of [0, 1]) await there.produce('orders', { partition, generate: { count: 500 } })
  await there.produce('orders', { generate: { count: 20 }, transaction: { id: 'a', end: 'abort' } })
  link = await eventually(() => world.link(first, { 'metadata.max.age.ms': '1000' }))
  await link.mirror('orders')
  await assertOnEveryReplica('orders', 2)
  await assertEqualReads({ source: there, mirror: here }, 'orders')
  const { partitions } = await here.describe('orders')
  for (const { leader, isr } of partitions) {
    strictEqual(leader, 1001)
    strictEqual(isr.length, 3)
  }
})
