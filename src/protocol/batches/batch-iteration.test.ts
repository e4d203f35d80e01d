/** Walking several batches and stopping where the bytes do. */
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { batchesIn, bytesOfBatch, completeBytes, nextBatchPosition, recordBytesOf } from './batch-iteration.ts'
import { buildBatch } from './build-batch.ts'

const batches = [0, 10, 20].map(baseOffset =>
  buildBatch({ baseOffset, records: [{ timestamp: 1n, key: null, value: Buffer.alloc(baseOffset, 'v') }] }),
)
const all = Buffer.concat(batches)

test('batches come in order with their positions', () => {
  deepEqual(
    [...batchesIn(all)].map(header => [header.baseOffset, header.position]),
    [
      [0, 0],
      [10, batches[0]?.length],
      [20, (batches[0]?.length ?? 0) + (batches[1]?.length ?? 0)],
    ],
  )
  equal([...batchesIn(all, batches[0]?.length)].length, 2)
})

test('a partial trailing batch ends the walk wherever it is cut', () => {
  const last = batches[2]?.length ?? 0
  for (let cut = 1; cut <= last; cut++) {
    const bytes = all.subarray(0, all.length - cut)
    equal([...batchesIn(bytes)].length, 2)
    equal(completeBytes(bytes), all.length - last)
  }
  equal(completeBytes(all), all.length)
  equal(completeBytes(Buffer.alloc(0)), 0)
})

test('an old format or an impossible length stops the walk with an error, not silently', () => {
  const old = Buffer.concat([all, Buffer.from('0000000000000000000003e8aabbccdd01', 'hex')])
  throws(() => completeBytes(old), { kind: 'unsupported-magic' })
  throws(() => [...batchesIn(old)], { kind: 'unsupported-magic' })
  const broken = Buffer.concat([all, all])
  broken.writeInt32BE(10, all.length + 8)
  throws(() => completeBytes(broken), { kind: 'invalid-size' })
})

test('bytes of a batch and of its records are references', () => {
  const [, second] = [...batchesIn(all)]
  if (!second) throw new Error('three batches')
  deepEqual(bytesOfBatch(all, second), batches[1])
  equal(bytesOfBatch(all, second).buffer, all.buffer)
  equal(recordBytesOf(all, second).length, second.sizeBytes - 61)
  equal(nextBatchPosition(all, second.position), second.position + second.sizeBytes)
})
