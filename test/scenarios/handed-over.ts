// What a mirror of a joined cluster is once it was promoted or failed over: a topic of the Kafka brokers alone; used by suites.
import { deepStrictEqual, ok } from 'node:assert/strict'
import { eventually } from '../eventually.ts'
import { assertEqualReplicas } from './equality.ts'
import { dumpLog } from './logs.ts'
import type { MirrorWorld } from './mirror-world.ts'

/**
 * A Kafka broker leads every partition, all of them are in sync, each has what the source has at the same offsets, and nobody is kept
 * from writing. To be asked before anybody writes; where the destination is standalone there is nothing to ask.
 */
export async function assertHandedOver({ sides, joined }: MirrorWorld, topic: string): Promise<void> {
  if (joined === undefined) return
  const brokers = joined.brokers.map(({ id }) => id)
  await eventually(async () => {
    const { partitions, configs } = await sides.mirror.describe(topic)
    for (const { leader, isr } of partitions) {
      ok(brokers.includes(leader), `led by ${leader}`)
      deepStrictEqual(isr.toSorted(), brokers)
    }
    ok(configs['max.message.bytes'] !== '78', 'the write fence is gone')
  })
  const { partitions } = await sides.source.describe(topic)
  for (const { partition, logStart } of partitions) {
    const there = await dumpLog(sides.source, topic, { partition, fromOffset: logStart })
    await assertEqualReplicas(sides, { topic, partition, logStart, there })
  }
}
