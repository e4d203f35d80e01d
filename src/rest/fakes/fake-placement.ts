/** Placement of a joined cluster in memory, for tests of the routes. */
import type { PlacementAdmin } from '../placement-ports.ts'

/** Every move is of partition 0 and accepted, but node 7 is unknown. */
export function fakePlacement(): PlacementAdmin {
  const moved = (node: number, topics: readonly string[], to: readonly number[]) => {
    if (node === 7) throw new Error('broker 7 is not a Lockstep node of this cluster')
    return topics.map(topic => ({ topic, partition: 0, from: [1001, 1002, 1], to, copies: false, error: null }))
  }
  return {
    move: async ({ node, topics }) => moved(node, topics, [node, 1001, 1]),
    drain: async node => moved(node, ['orders'], [1002, 1]),
    resume: async node => {
      moved(node, [], [])
    },
    foreignPartitions: () => [
      {
        topic: 'theirs',
        partition: 2,
        replicas: [1001],
        leader: 1001,
        sinceMs: 1_700_000_000_000,
        state: 'waiting',
        attempts: 1,
        error: null,
      },
    ],
    misplacedPartitions: () => [
      {
        topic: 'orders',
        partition: 0,
        condition: 'LED_BY_KAFKA',
        replicas: [1001, 1],
        leader: 1,
        sinceMs: 1_700_000_000_000,
        reason: null,
      },
    ],
  }
}
