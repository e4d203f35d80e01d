/** Batches for random tests of a log: plain, idempotent and transactional ones, markers, holes, odd timestamps and sizes. */
import type { Random } from '../../core/random.ts'
import { lastOffsetAt } from '../../protocol/batches/batch-layout.ts'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import { buildEndMarker } from '../../protocol/batches/control-batch.ts'

/** One to three batches from offset `first` on, now and then with a hole between. */
export function randomBatches(random: Random, from: { first: number; leaderEpoch: number }): Buffer {
  let next = from.first
  return Buffer.concat(
    Array.from({ length: 1 + Math.floor(random() * 3) }, () => {
      const batch = randomBatch(random, next, from.leaderEpoch)
      next = lastOffsetAt(batch, 0) + 1 + (random() < 0.2 ? Math.floor(random() * 50) : 0)
      return batch
    }),
  )
}

function randomBatch(random: Random, baseOffset: number, leaderEpoch: number): Buffer {
  const below = (bound: number) => Math.floor(random() * bound)
  const kind = random()
  const producer = { producerId: BigInt(below(4)), producerEpoch: 0, leaderEpoch }
  const timestamp = random() < 0.05 ? 1n << 62n : BigInt(below(1_000_000)) - 1n
  if (kind < 0.15) {
    const type = kind < 0.08 ? 'abort' : 'commit'
    return buildEndMarker({ ...producer, type, coordinatorEpoch: 1, offset: baseOffset, timestamp })
  }
  const records = Array.from({ length: 1 + below(4) }, () => ({
    timestamp: timestamp + BigInt(below(3)),
    key: null,
    value: Buffer.alloc(below(random() < 0.03 ? 5000 : 300), below(256)),
  }))
  const transaction = kind < 0.6 ? { ...producer, transactional: true, baseSequence: below(1000) } : {}
  return buildBatch({ baseOffset, records, ...transaction })
}
