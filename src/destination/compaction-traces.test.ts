/** A log is taken for compacted where something is missing in it, at its start, inside a batch or between two. */
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { readBatchHeader } from '../protocol/batches/batch-header.ts'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { isThinned } from './compaction-traces.ts'

const batchAt = (baseOffset: number, deltas: readonly number[]): Buffer => {
  const records = deltas.map(offsetDelta => ({ offsetDelta, timestamp: 1n, key: null, value: Buffer.from('v') }))
  return buildBatch({ baseOffset, records })
}

function logOf(batches: readonly Buffer[], more: { start?: number; end?: number } = {}) {
  const headers = batches.map(bytes => readBatchHeader(bytes, 0))
  const logEndOffset = more.end ?? (headers.at(-1)?.lastOffset ?? -1) + 1
  return {
    state: () => ({ logStartOffset: more.start ?? 0, logEndOffset }),
    // One batch at a time.
    readBatches: async ({ offset }: { offset: number }) =>
      batches.find((_, index) => (headers[index]?.lastOffset ?? -1) >= offset) ?? Buffer.alloc(0),
  }
}

test('a log in which every offset has its record was not compacted, wherever it begins', async () => {
  const whole = [batchAt(0, [0, 1, 2]), batchAt(3, [0]), batchAt(4, [0, 1])]
  const answers = [logOf([]), logOf(whole), logOf(whole, { start: 2 })].map(isThinned)
  deepEqual(await Promise.all(answers), [false, false, false])
})

test('a hole at the start, between batches, inside a batch or at the end is a trace of compaction', async () => {
  const logs = [
    logOf([batchAt(3, [0])]),
    logOf([batchAt(0, [0]), batchAt(2, [0])]),
    logOf([batchAt(0, [0, 2])]),
    logOf([batchAt(0, [0])], { end: 5 }),
  ]
  deepEqual(await Promise.all(logs.map(isThinned)), [true, true, true, true])
})
