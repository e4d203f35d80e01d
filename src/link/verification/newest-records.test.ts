/** The newest records of keys are looked for up to the end of this moment, and what is missing is looked for twice. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { readBatchHeader } from '../../protocol/batches/batch-header.ts'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import { recordsOf } from '../../protocol/batches/records-of.ts'
import type { ReadableEnd } from './batch-reader.ts'
import { CleanedKeys } from './cleaned-keys.ts'
import { newestAgree } from './newest-records.ts'

const batchOf = (offset: number, key: string): Buffer =>
  buildBatch({ baseOffset: offset, records: [{ timestamp: 1n, key: Buffer.from(key), value: Buffer.from('v') }] })

const endOf = (...batches: readonly [offset: number, key: string][]): ReadableEnd => ({
  read: async offset => Buffer.concat(batches.filter(([at]) => at >= offset).map(([at, key]) => batchOf(at, key))),
})

/** One key of which only the mirror has a record, at offset 1. */
function loneAtMirror(): CleanedKeys {
  const keys = new CleanedKeys(10)
  const bytes = batchOf(1, 'a')
  const header = readBatchHeader(bytes, 0)
  const [record] = recordsOf(bytes, header)
  ok(record)
  keys.onlyAt('mirror', header, record)
  return keys
}

// It was read until it gave nothing, which a source that is written all the time never does.
test('a source that grows all the time is read up to its present end', async () => {
  let reads = 0
  const growing: ReadableEnd = {
    read: async offset => {
      if (++reads > 100) throw new Error('read on and on')
      return batchOf(offset, offset === 5 ? 'a' : 'other')
    },
  }
  const ends = { source: growing, mirror: endOf([1, 'a']), present: async () => 8 }
  equal(await newestAgree(ends, loneAtMirror(), { from: 0, to: 2 }), undefined)
  equal(reads, 7)
})

test('a key whose newest record a cleaner replaced behind the end that was known is looked for again', async () => {
  let present = 3
  const source = endOf([4, 'a'])
  const ends = { source, mirror: endOf([1, 'a']), present: async () => present++ }
  equal(await newestAgree(ends, loneAtMirror(), { from: 0, to: 2 }), undefined)
  const never = { source: endOf(), mirror: endOf([1, 'a']), present: async () => 3 }
  deepEqual(await newestAgree(never, loneAtMirror(), { from: 0, to: 2 }), {
    offset: 1,
    message: 'only the mirror has this record; the source has nothing of its key',
  })
})
