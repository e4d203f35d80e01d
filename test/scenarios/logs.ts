// Partition logs as Kafka's DumpLogSegments prints them, made comparable; used by the mirror scenarios.
import { strictEqual } from 'node:assert/strict'
import type { TopicSide } from './topic-side.ts'

/** A batch line of a dump with the lines of its records. */
export interface DumpedBatch {
  readonly baseOffset: number
  readonly lastOffset: number
  readonly lines: readonly string[]
}

/** A field of a batch, as in `producerId: 7`; undefined where the dump does not show it. */
export function batchField(batch: DumpedBatch, name: string): string | undefined {
  return new RegExp(`(?:^| )${name}: (\\S+)`).exec(batch.lines[0] ?? '')?.[1]
}

interface Dump {
  readonly output: readonly string[]
  readonly problems: string
}

/**
 * The batches of a partition that reach `fromOffset` or beyond, deeply iterated, with printed data. Left out are the
 * leader epoch (a mirror has its destination's) and the position in the file (segments may be cut elsewhere).
 */
export async function dumpLog(side: TopicSide, topic: string, options: DumpOptions = {}): Promise<DumpedBatch[]> {
  const { partition = 0, fromOffset = 0 } = options
  const files = await side.files(topic, partition, ['.log'])
  const { output, problems } = await dump(side, files)
  strictEqual(withoutHoles(problems), '', `DumpLogSegments finds faults in ${topic}-${partition}`)
  return batchesOf(output).filter(batch => batch.lastOffset >= fromOffset)
}

/** Which part of a topic to dump. */
export interface DumpOptions {
  /** Default 0. */
  readonly partition?: number
  /** Default 0: everything on disk. */
  readonly fromOffset?: number
}

/** Lets DumpLogSegments check every index of a partition against its log; throws with what it complains about. */
export async function checkIndexes(side: TopicSide, topic: string, partition = 0): Promise<void> {
  const files = await side.files(topic, partition, ['.index', '.timeindex', '.txnindex', '.snapshot'])
  const { problems } = await dump(side, files)
  strictEqual(problems, '', `indexes of ${topic}-${partition}`)
}

function dump(side: TopicSide, files: readonly string[]): Promise<Dump> {
  const args = ['--deep-iteration', '--print-data-log', '--max-message-size', '40000000']
  return side.driver.call('dump-log', { files, args })
}

function batchesOf(output: readonly string[]): DumpedBatch[] {
  const batches: { baseOffset: number; lastOffset: number; lines: string[] }[] = []
  for (const line of output) {
    const offsets = /^baseOffset: (\d+) lastOffset: (\d+) /.exec(line)
    if (offsets !== null) {
      const comparable = line.replace(/ partitionLeaderEpoch: \d+/, '').replace(/ position: \d+/, '')
      batches.push({ baseOffset: Number(offsets[1]), lastOffset: Number(offsets[2]), lines: [comparable] })
    } else if (line.startsWith('| ')) batches.at(-1)?.lines.push(line)
    else if (!/^(Dumping |Log starting offset: |$)/.test(line)) throw new Error(`unexpected line of a dump: ${line}`)
  }
  return batches
}

/** Holes are what cleaning leaves, so they are no fault here; whether both sides have the same ones is compared. */
function withoutHoles(problems: string): string {
  return problems
    .split('\n')
    .filter(line => !line.startsWith('Non-consecutive offsets in ') && !/^ +-?\d+ is followed by \d+$/.test(line))
    .join('\n')
}
