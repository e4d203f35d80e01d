/** Checks the files of a cleanly closed log as Kafka's DumpLogSegments does, independently of the index classes. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { readBatchHeader } from '../../protocol/batches/batch-header.ts'
import type { FileSystem } from '../file-system.ts'

/** Every index entry points at the batch whose last offset it names; every time entry holds its batch's max timestamp. */
export async function verifyIndexFiles(fs: FileSystem, directory: string): Promise<void> {
  const names = (await fs.list(directory)) ?? []
  for (const name of names.filter(name => name.endsWith('.log'))) {
    const stem = `${directory}/${name.slice(0, 20)}`
    const log = await fs.readFile(`${stem}.log`)
    await verifySegment({
      baseOffset: Number(name.slice(0, 20)),
      log,
      index: await fs.readFile(`${stem}.index`),
      timeIndex: await fs.readFile(`${stem}.timeindex`),
    })
  }
}

async function verifySegment(of: { baseOffset: number; log: Buffer; index: Buffer; timeIndex: Buffer }): Promise<void> {
  const { baseOffset, log, index, timeIndex } = of
  const byLastOffset = new Map<number, bigint>()
  let largest = -1n
  for (let at = 0; at < log.length; ) {
    const header = readBatchHeader(log, at)
    byLastOffset.set(header.lastOffset, header.maxTimestamp)
    if (header.maxTimestamp > largest) largest = header.maxTimestamp
    at += header.sizeBytes
  }
  strictEqual(index.length % 8, 0)
  strictEqual(timeIndex.length % 12, 0)
  for (let at = 0; at < index.length; at += 8) {
    const { lastOffset } = readBatchHeader(log, index.readInt32BE(at + 4))
    strictEqual(lastOffset, baseOffset + index.readInt32BE(at))
  }
  let before = -1n
  for (let at = 0; at < timeIndex.length; at += 12) {
    const timestamp = timeIndex.readBigInt64BE(at)
    ok(timestamp > before)
    deepStrictEqual(byLastOffset.get(baseOffset + timeIndex.readInt32BE(at + 8)), timestamp)
    before = timestamp
  }
  strictEqual(before, largest)
}
