/** Batches of a mirror beside those of its source, each cleaned in its own way. */
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { readBatchHeader } from '../../protocol/batches/batch-header.ts'
import { type BatchInput, buildBatch } from '../../protocol/batches/build-batch.ts'
import { type BothCopies, compareBatch } from './compare-batches.ts'

const record = (offsetDelta: number, value = `value ${offsetDelta}`) => ({
  offsetDelta,
  timestamp: BigInt(1000 + offsetDelta),
  key: Buffer.from(`key ${offsetDelta}`),
  value: Buffer.from(value),
})

const batch = (records: BatchInput['records'], more: Partial<BatchInput> = {}): Buffer =>
  buildBatch({
    baseOffset: 100,
    lastOffsetDelta: 9,
    producerId: 7n,
    producerEpoch: 0,
    baseSequence: 0,
    records,
    ...more,
  })

const whole = Array.from({ length: 10 }, (_, offsetDelta) => record(offsetDelta))

function compare(ours: Buffer, theirs: Buffer): Promise<string> {
  const copies = {
    source: { readBatches: async () => theirs },
    sourceTopic: 't',
    partition: 0,
    log: { readBatches: async () => ours },
  } as unknown as BothCopies
  return compareBatch(copies, readBatchHeader(ours, 0), { earliest: 0, latest: 200 })
}

test('a batch that was cleaned at one end, or differently at both, is the same batch', async () => {
  const odd = whole.filter(({ offsetDelta }) => offsetDelta % 2 === 1)
  const first = whole.slice(0, 4)
  equal(await compare(batch(whole), batch(whole)), 'equal')
  equal(await compare(batch(whole), batch(odd)), 'equal')
  equal(await compare(batch(odd), batch(whole)), 'equal')
  equal(await compare(batch(first), batch(odd)), 'equal')
  equal(await compare(batch(odd), batch(first, { deleteHorizon: 5000n, compression: 'gzip' })), 'equal')
})

test('where nothing is left at both ends there is nothing to compare', async () => {
  const [even, odd] = [0, 1].map(rest => whole.filter(({ offsetDelta }) => offsetDelta % 2 === rest))
  equal(await compare(batch([]), batch(whole)), 'gone')
  equal(await compare(batch(whole), batch([])), 'gone')
  equal(await compare(batch(even ?? []), batch(odd ?? [])), 'gone')
})

test('another record, or a record where a batch that was never cleaned has none, is another batch', async () => {
  const other = whole.with(3, record(3, 'another'))
  equal(await compare(batch(whole), batch(other)), 'different')
  equal(await compare(batch(other.slice(2)), batch(whole)), 'different')
  equal(await compare(batch(whole), batch(whole, { producerId: 8n })), 'different')
})
