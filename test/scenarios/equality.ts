// Whether a mirror topic equals its source: offsets, bytes as Kafka's tools see them, records as Java reads them.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { eventually } from '../eventually.ts'
import { checkIndexes, type DumpedBatch, dumpLog } from './logs.ts'
import type { ConsumeArgs, Consumed, TopicSide } from './topic-side.ts'

/** Source and destination of a link. */
export interface Sides {
  readonly source: TopicSide
  readonly mirror: TopicSide
  /** The brokers that follow a joined node: their copies are compared too. */
  readonly replicas?: readonly TopicSide[]
}

/** Waits until log start, high watermark and last stable offset of every partition are the same on both sides. */
export async function waitUntilInStep({ source, mirror }: Sides, topic: string): Promise<void> {
  await eventually(
    async () => {
      const [there, here] = await Promise.all([offsets(source, topic), offsets(mirror, topic)])
      deepStrictEqual(here, there)
    },
    { intervalMs: 100 },
  )
}

async function offsets(side: TopicSide, topic: string) {
  const { partitions } = await side.describe(topic)
  return partitions
    .map(({ partition, logStart, highWatermark, lastStable }) => ({ partition, logStart, highWatermark, lastStable }))
    .sort((left, right) => left.partition - right.partition)
}

/** Waits for the mirror, then compares everything. */
export async function assertEqualTopics(sides: Sides, topic: string): Promise<void> {
  await waitUntilInStep(sides, topic)
  const { partitions } = await sides.source.describe(topic)
  for (const { partition, logStart, highWatermark } of partitions) {
    const where = { partition, fromOffset: logStart }
    const [there, here] = await Promise.all([
      dumpLog(sides.source, topic, where),
      dumpLog(sides.mirror, topic, where),
      checkIndexes(sides.mirror, topic, partition),
    ])
    strictEqual(there.length > 0, highWatermark > logStart, `${topic}-${partition} has batches to compare`)
    assertEqualBatches(here, there, `${topic}-${partition}`)
    await assertEqualReplicas(sides, { topic, partition, logStart, there })
  }
  await Promise.all([assertEqualReads(sides, topic), assertEqualTimeSearch(sides, topic)])
}

/** What every replica has to have of a partition. */
interface ExpectedCopy {
  readonly topic: string
  readonly partition: number
  readonly logStart: number
  /** The batches of the source from there on. */
  readonly there: readonly DumpedBatch[]
}

/** A follower hears of the log start and the end of the leader with its next fetch. */
export async function assertEqualReplicas({ replicas = [] }: Sides, expected: ExpectedCopy): Promise<void> {
  const { topic, partition, logStart: fromOffset, there } = expected
  const compared = replicas.map((replica, index) =>
    eventually(
      async () => {
        const copy = await dumpLog(replica, topic, { partition, fromOffset })
        assertEqualBatches(copy, there, `replica ${index + 1} of ${topic}-${partition}`)
      },
      { intervalMs: 500 },
    ),
  )
  await Promise.all(compared)
}

/** Both sides find the same record for a timestamp: before, at, between and after those that are there. */
async function assertEqualTimeSearch({ source, mirror }: Sides, topic: string): Promise<void> {
  for (const [partition, { records }] of Object.entries(await source.consume(topic))) {
    const step = Math.max(1, Math.floor(records.length / 7))
    const sample = records.filter((_, index) => index % step === 0).map(([, timestamp]) => timestamp)
    const timestamps = [0, ...sample.flatMap(timestamp => [timestamp - 1, timestamp, timestamp + 1])].filter(
      ms => ms >= 0,
    )
    const [there, here] = await Promise.all(
      [source, mirror].map(side => side.offsetsForTimes(topic, Number(partition), timestamps)),
    )
    deepStrictEqual(here, there, `${topic}-${partition}: offsets for the timestamps ${timestamps}`)
  }
}

/** One batch at a time, from inside the log (mostly inside a batch). */
const smallFetches: ConsumeArgs = {
  isolation: 'read_committed',
  from: 'middle',
  properties: { 'max.partition.fetch.bytes': '1', 'fetch.max.bytes': '1' },
}

/** Compares what Java consumers read on both sides, uncommitted and committed, record by record. */
export async function assertEqualReads({ source, mirror }: Sides, topic: string): Promise<void> {
  const ways: readonly ConsumeArgs[] = [
    { isolation: 'read_uncommitted' },
    { isolation: 'read_committed' },
    smallFetches,
  ]
  for (const way of ways) {
    const [there, here] = await Promise.all([source.consume(topic, way), mirror.consume(topic, way)])
    assertEqualRecords(here, there, `${topic} ${JSON.stringify(way)}`)
  }
}

/** Like deepStrictEqual, with the first difference only: whole logs are too long to print. */
export function assertEqualBatches(here: readonly DumpedBatch[], there: readonly DumpedBatch[], what: string): void {
  for (const [index, batch] of there.entries()) {
    deepStrictEqual(here[index], batch, `${what}: batch ${index} of ${there.length}, at offset ${batch.baseOffset}`)
  }
  strictEqual(here.length, there.length, `${what}: number of batches`)
}

function assertEqualRecords(here: Consumed, there: Consumed, what: string): void {
  deepStrictEqual(Object.keys(here), Object.keys(there), `${what}: partitions`)
  for (const [partition, expected] of Object.entries(there)) {
    const actual = here[partition]
    if (actual === undefined) throw new Error(`${what}: no partition ${partition}`)
    for (const [index, record] of expected.records.entries()) {
      deepStrictEqual(actual.records[index], record, `${what}: partition ${partition}, record ${index}`)
    }
    strictEqual(actual.records.length, expected.records.length, `${what}: records of partition ${partition}`)
    deepStrictEqual([actual.start, actual.end], [expected.start, expected.end], `${what}: partition ${partition}`)
  }
}
