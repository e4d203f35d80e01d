/** Equality of two logs by batches, and how logs are read for it. */
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import { type BatchFacts, factsByFetch, factsOnDisk, firstDifference } from './compare-logs.ts'

const batch = (baseOffset: number, values: readonly string[], leaderEpoch = 0) =>
  buildBatch({
    baseOffset,
    leaderEpoch,
    records: values.map(value => ({ timestamp: 1000n, key: null, value: Buffer.from(value) })),
  })

const facts = (baseOffset: number, given: Partial<BatchFacts> = {}): BatchFacts => ({
  baseOffset,
  lastOffset: baseOffset + 1,
  records: 2,
  sizeBytes: 100,
  crc: 0xabc,
  ...given,
})

test('equal logs have no difference', () => {
  strictEqual(firstDifference([], []), undefined)
  strictEqual(firstDifference([facts(0), facts(2)], [facts(0), facts(2)]), undefined)
})

test('the first difference is named, whatever differs', () => {
  for (const change of [{ baseOffset: 3 }, { lastOffset: 9 }, { crc: 1 }, { sizeBytes: 1 }, { records: 1 }])
    strictEqual(
      firstDifference([facts(0), facts(2), facts(4)], [facts(0), facts(2, change), facts(5)])?.startsWith(
        'batch 1 differs: source has offsets 2 to 3, 2 records, 100 bytes, CRC 0x00000abc, mirror has ',
      ),
      true,
      JSON.stringify(change),
    )
  strictEqual(
    firstDifference([facts(0), facts(2)], [facts(0)]),
    'batch 1 is only in the source: offsets 2 to 3, 2 records, 100 bytes, CRC 0x00000abc',
  )
  strictEqual(
    firstDifference([], [facts(0)]),
    'batch 0 is only in the mirror: offsets 0 to 1, 2 records, 100 bytes, CRC 0x00000abc',
  )
})

test('a log on disk and the same log fetched piece by piece, under another leader epoch, are equal', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'lockstep-compare-'))
  try {
    const all = (epoch: number) => [batch(0, ['a', 'b'], epoch), batch(2, ['c'], epoch), batch(7, ['d'], epoch)]
    const [first, second, third] = all(3)
    await writeFile(join(directory, '00000000000000000007.log'), third ?? '')
    await writeFile(
      join(directory, '00000000000000000000.log'),
      Buffer.concat([first ?? Buffer.alloc(0), second ?? Buffer.alloc(0)]),
    )
    await writeFile(join(directory, '00000000000000000000.index'), 'not a log')
    const onDisk = await factsOnDisk(directory)
    const mirrored = all(9)
    const fetched = await factsByFetch(
      {
        topic: 't',
        read: async (_partition, offset) => {
          const at = mirrored.findIndex(bytes => Number(bytes.readBigInt64BE(0)) >= offset)
          return { records: mirrored[at] ?? Buffer.alloc(0), highWatermark: 8 }
        },
      },
      0,
    )
    deepStrictEqual(
      onDisk.map(({ baseOffset, lastOffset }) => [baseOffset, lastOffset]),
      [
        [0, 1],
        [2, 2],
        [7, 7],
      ],
    )
    strictEqual(firstDifference(onDisk, fetched), undefined)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
})

test('damaged content is no equality', async () => {
  const damaged = batch(0, ['a'])
  damaged.writeUInt8(damaged.readUInt8(damaged.length - 2) ^ 1, damaged.length - 2)
  const client = { topic: 't', read: async () => ({ records: damaged, highWatermark: 1 }) }
  await rejects(factsByFetch(client, 0), /CRC/)
})

test('a log that gives nothing below its high watermark is refused', async () => {
  const client = { topic: 't', read: async () => ({ records: Buffer.alloc(0), highWatermark: 5 }) }
  await rejects(factsByFetch(client, 3), /t-3 gives no batch at offset 0, below its high watermark 5/)
})
