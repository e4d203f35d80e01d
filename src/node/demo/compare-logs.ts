/** Compares the logs of a source and a mirror partition batch by batch; called at the end of `demo --once`. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BatchHeader } from '../../protocol/batches/batch-header.ts'
import { batchesIn, completeBytes } from '../../protocol/batches/batch-iteration.ts'
import { verifyBatch } from '../../protocol/batches/verify-batch.ts'
import { DemoError } from './demo-error.ts'
import type { TopicClient } from './topic-client.ts'

/** What identifies a batch: with the CRC checked against the content, equal facts are equal records. */
export interface BatchFacts {
  readonly baseOffset: number
  readonly lastOffset: number
  readonly records: number
  readonly sizeBytes: number
  readonly crc: number
}

/** Reads a partition's log from its segment files, as a dead node left them. Throws BatchError for damage. */
export async function factsOnDisk(partitionDirectory: string): Promise<BatchFacts[]> {
  const segments = (await readdir(partitionDirectory)).filter(name => /^\d{20}\.log$/.test(name)).sort()
  const facts: BatchFacts[] = []
  for (const segment of segments) facts.push(...factsIn(await readFile(join(partitionDirectory, segment))))
  return facts
}

/** Reads a partition's log up to its high watermark, as a client. */
export async function factsByFetch(
  client: Pick<TopicClient, 'read' | 'topic'>,
  partition: number,
): Promise<BatchFacts[]> {
  const facts: BatchFacts[] = []
  for (let offset = 0; ; ) {
    const { records, highWatermark } = await client.read(partition, offset)
    const read = factsIn(records.subarray(0, completeBytes(records)))
    facts.push(...read)
    offset = (read.at(-1)?.lastOffset ?? offset - 1) + 1
    if (offset >= highWatermark) return facts
    if (read.length === 0)
      throw new DemoError(
        `${client.topic}-${partition} gives no batch at offset ${offset}, below its high watermark ${highWatermark}`,
      )
  }
}

function factsIn(buffer: Buffer): BatchFacts[] {
  return Array.from(batchesIn(buffer), header => {
    verifyBatch(buffer, header)
    return factsOf(header)
  })
}

const factsOf = ({ baseOffset, lastOffset, recordCount, sizeBytes, crc }: BatchHeader): BatchFacts => ({
  baseOffset,
  lastOffset,
  records: recordCount,
  sizeBytes,
  crc,
})

/** The first batch in which the two logs differ, in words; undefined = they are equal. */
export function firstDifference(source: readonly BatchFacts[], mirror: readonly BatchFacts[]): string | undefined {
  const batches = Math.max(source.length, mirror.length)
  for (let i = 0; i < batches; i++) {
    const ours = source[i]
    const theirs = mirror[i]
    if (ours === undefined) return `batch ${i} is only in the mirror: ${factsText(theirs)}`
    if (theirs === undefined) return `batch ${i} is only in the source: ${factsText(ours)}`
    if (factsText(ours) !== factsText(theirs))
      return `batch ${i} differs: source has ${factsText(ours)}, mirror has ${factsText(theirs)}`
  }
  return undefined
}

function factsText(facts: BatchFacts | undefined): string {
  if (facts === undefined) return 'nothing'
  const { baseOffset, lastOffset, records, sizeBytes, crc } = facts
  return `offsets ${baseOffset} to ${lastOffset}, ${records} records, ${sizeBytes} bytes, CRC 0x${crc.toString(16).padStart(8, '0')}`
}
