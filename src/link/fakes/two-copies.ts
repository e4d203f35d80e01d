/** Two copies of a partition in memory that are compared batch by batch, with a count of the questions; for tests of where they part. */
import type { Random } from '../../core/random.ts'
import { readBatchHeader } from '../../protocol/batches/batch-header.ts'
import type { BothCopies } from '../mirror/compare-batches.ts'
import type { MirrorLogState } from '../ports.ts'
import { batchAt } from './engine-world.ts'

/** Two logs, and how often the other one was asked for batches. */
export function copiesOf(
  ours: readonly Buffer[],
  theirs: readonly Buffer[],
  more: Partial<MirrorLogState> & { earliest?: number } = {},
) {
  const from = (batches: readonly Buffer[], offset: number) =>
    Buffer.concat(batches.filter(batch => readBatchHeader(batch, 0).lastOffset >= offset).slice(0, 2))
  const asked = { times: 0 }
  const { earliest = 0, ...state } = more
  const logEndOffset = endOf(ours)
  const copies = {
    source: {
      listOffsets: async (_topic: string, [partition = 0]: readonly number[], { spec }: { spec: string }) =>
        new Map([[partition, spec === 'earliest' ? earliest : endOf(theirs)]]),
      readBatches: async (_topic: string, _partition: number, { offset }: { offset: number }) => {
        asked.times++
        return from(theirs, offset)
      },
    },
    sourceTopic: 'orders',
    partition: 0,
    log: {
      state: () => ({
        logStartOffset: 0,
        logEndOffset,
        highWatermark: logEndOffset,
        leaderEpoch: 3,
        isEmpty: false,
        ...state,
      }),
      compactedTo: async () => state.cleanedOffset ?? 0,
      readBatches: async ({ offset }: { offset: number }) => from(ours, offset),
    },
  } as unknown as BothCopies
  return { copies, asked }
}

/** Batches of random sizes with holes between them. */
export function batchesFrom(
  start: number,
  random: Random,
  by: { count: number; producerId: bigint; epoch: number },
): Buffer[] {
  const batches: Buffer[] = []
  let next = start
  for (let made = 0; made < by.count; made++) {
    if (random() < 0.3) next += Math.floor(random() * 9)
    const size = 1 + Math.floor(random() * 4)
    batches.push(batchAt(next, size, by))
    next += size
  }
  return batches
}

/** Behind the last batch. */
export const endOf = (batches: readonly Buffer[]) => {
  const last = batches.at(-1)
  return last ? readBatchHeader(last, 0).lastOffset + 1 : 0
}
