// Damage on the disk of a source; used by suites.
import { open, readFile, truncate } from 'node:fs/promises'
import { readBatchHeader } from '../../src/protocol/batches/batch-header.ts'
import { batchesIn } from '../../src/protocol/batches/batch-iteration.ts'
import type { TopicSide } from './topic-side.ts'

/** Flips a bit of the last byte of a partition's first batch on the disk of the source; doing it again repairs it. */
export async function flipBit(source: TopicSide, topic: string): Promise<void> {
  const [file = ''] = await source.files(topic, 0, ['.log'])
  const log = await open(file, 'r+')
  try {
    const header = Buffer.alloc(61)
    await log.read(header, 0, header.length, 0)
    const position = readBatchHeader(header, 0).sizeBytes - 1
    const byte = Buffer.alloc(1)
    await log.read(byte, 0, 1, position)
    byte[0] = (byte[0] ?? 0) ^ 1
    await log.write(byte, 0, 1, position)
  } finally {
    await log.close()
  }
}

/** Takes the last batch of a partition off the disk of a source that is dead, as a power failure takes what was not flushed. */
export async function loseLastBatch(source: TopicSide, topic: string, partition: number): Promise<void> {
  const file = (await source.files(topic, partition, ['.log'])).at(-1) ?? ''
  const last = [...batchesIn(await readFile(file))].at(-1)
  if (last === undefined) throw new Error(`${file} holds no batch`)
  await truncate(file, last.position)
}
