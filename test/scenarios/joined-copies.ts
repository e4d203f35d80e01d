// A topic of two partitions of a joined cluster and its counterpart at a standalone node: what is written into it, and whether all copies are the same; used by suites of restores and reverses.
import { ok } from 'node:assert/strict'
import { eventually } from '../eventually.ts'
import { assertEqualBatches } from './equality.ts'
import type { JoinedPeersWorld } from './joined-peers-world.ts'
import { dumpLog } from './logs.ts'
import type { TopicSide } from './topic-side.ts'

export const partitions = [0, 1]

/** Plain records, a committed transaction and an aborted one, in each partition. */
export async function fill(side: TopicSide, topic: string, id: string): Promise<void> {
  for (const partition of partitions) {
    const records = (what: string) =>
      Array.from({ length: 6 }, (_, index) => ({ key: `${index}`, value: `${id} ${what} ${index}` }))
    await side.produce(topic, { partition, batch: 2, records: records('plain') })
    for (const end of ['commit', 'abort'] as const) {
      const transaction = { id: `${topic}-${partition}-${id}`, end }
      await side.produce(topic, { partition, records: records(end), transaction })
    }
  }
}

/** The joined cluster, with the logs of its first Kafka broker. */
export function javaOf({ copies: [side] }: Pick<JoinedPeersWorld, 'copies'>): TopicSide {
  ok(side)
  return side
}

export async function endsOf(side: TopicSide, topic: string): Promise<number[]> {
  const { partitions: all } = await side.describe(topic)
  return all.toSorted((a, b) => a.partition - b.partition).map(({ highWatermark }) => highWatermark)
}

export async function leadersIn(side: TopicSide, topic: string): Promise<number[]> {
  const { partitions: all } = await side.describe(topic)
  return all.map(({ leader }) => leader)
}

/** Every replica of the joined cluster has the batches that the other cluster has, at the same offsets. */
export async function assertSameCopies(
  { there, copies }: Pick<JoinedPeersWorld, 'there' | 'copies'>,
  topic: string,
): Promise<void> {
  for (const partition of partitions)
    for (const [index, copy] of copies.entries())
      await eventually(
        async () => {
          const expected = await dumpLog(there, topic, { partition })
          ok(expected.length > 0)
          const found = await dumpLog(copy, topic, { partition })
          assertEqualBatches(found, expected, `replica ${index} of ${topic}-${partition}`)
        },
        { intervalMs: 500 },
      )
}
