// Content of the topic with transactions; the open one is there when the mirror is failed over.
import type { TopicSide } from './topic-side.ts'

/** Transactional id of the transaction that stays open. */
export const openTransaction = (topic: string): string => `${topic}-open`

/** Records of the open transaction. */
export const openTransactionRecords = 6

/** Idempotent, committed, aborted, overlapping, and one open transaction below committed data: LSO < HW. */
export async function fillWithTransactions(source: TopicSide, topic: string): Promise<void> {
  const id = (name: string) => `${topic}-${name}`
  await source.produce(topic, { batch: 5, generate: { count: 20, keys: 5 } })
  await source.produce(topic, { transaction: { id: id('a'), end: 'commit' }, batch: 4, generate: { count: 12 } })
  await source.produce(topic, {
    transaction: { id: id('a'), end: 'abort' },
    batch: 4,
    generate: { count: 12, seed: 2 },
  })
  // Overlapping: b is open while c commits and d aborts, then b itself is aborted, and e behind it committed.
  await source.produce(topic, { transaction: { id: id('b'), end: 'open' }, generate: { count: 5, seed: 3 } })
  await source.produce(topic, { transaction: { id: id('c'), end: 'commit' }, generate: { count: 5, seed: 4 } })
  await source.produce(topic, { transaction: { id: id('d'), end: 'abort' }, generate: { count: 5, seed: 5 } })
  await source.produce(topic, { transaction: { id: id('e'), end: 'open' }, codec: 'zstd', generate: { count: 5 } })
  await source.endTransaction(id('b'), 'abort')
  await source.produce(topic, { generate: { count: 3 } })
  await source.endTransaction(id('e'), 'commit')
  // Never ended: what follows it is not stable.
  const generate = { count: openTransactionRecords, keys: 2, keyPrefix: 'open-' }
  await source.produce(topic, { transaction: { id: openTransaction(topic), end: 'open' }, batch: 2, generate })
  await source.produce(topic, { transaction: { id: id('f'), end: 'abort' }, generate: { count: 4, seed: 6 } })
  await source.produce(topic, { transaction: { id: id('f'), end: 'commit' }, generate: { count: 4, seed: 7 } })
}
