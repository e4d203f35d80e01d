// The tests of real clients against a node: what each writes is read back by all; used by the client suite.
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import type { ClientReader, ClientRecord, ClientWriter, PlacedRecord } from '../clients/client-record.ts'
import { eventually } from '../eventually.ts'
import type { TopicSide } from './topic-side.ts'

/**
 * Lets a client write with each of its codecs, acknowledged by all and by the leader, idempotent or not, into a fresh
 * or given topic, and every reader read it back. Records below `from` were there before.
 */
export async function writeAndReadBack(
  side: TopicSide,
  writer: ClientWriter,
  options: { readers: readonly ClientReader[]; topic: string; from?: number },
): Promise<void> {
  const { readers, topic, from = 0 } = options
  const written: ClientRecord[] = []
  const ways = [
    { acks: 'all', idempotent: true },
    { acks: 'all', idempotent: false },
    { acks: '1', idempotent: false },
  ] as const
  for (const codec of writer.codecs) {
    for (const way of ways.filter(({ idempotent }) => writer.idempotent || !idempotent)) {
      const records = sampleRecords(`${writer.name} ${codec} ${way.acks} ${way.idempotent}`)
      await writer.write({ bootstrap: side.bootstrap, security: side.login, topic, codec, ...way, records })
      written.push(...records)
    }
  }
  // With acks=1 nobody has waited for other replicas.
  await eventually(async () => {
    const { partitions } = await side.describe(topic)
    strictEqual(partitions.find(({ partition }) => partition === 0)?.highWatermark, from + written.length)
  })
  for (const reader of readers) {
    for (const isolation of ['read_uncommitted', 'read_committed'] as const) {
      const all = await reader.read(side, topic, isolation)
      const read = all.filter(({ partition, offset }) => partition === 0 && offset >= from)
      assertSame(read, written, { from, exactTimestamps: writer.name !== 'kcat', what: `${reader.name} ${isolation}` })
    }
  }
}

function sampleRecords(label: string): ClientRecord[] {
  const timestamp = Date.now()
  return Array.from({ length: 30 }, (_, index) => ({
    key: `key-${index % 7}`,
    value: `${label} number ${index} ${'and so on '.repeat(index)}`,
    headers: [['suite', label]],
    timestamp: timestamp + index,
  }))
}

function assertSame(
  read: readonly PlacedRecord[],
  written: readonly ClientRecord[],
  { from, exactTimestamps, what }: { from: number; exactTimestamps: boolean; what: string },
): void {
  for (const [index, { key, value, headers, timestamp }] of written.entries()) {
    const record = read[index]
    ok(record !== undefined, `${what}: no record ${index} of ${written.length}`)
    deepStrictEqual(
      [record.offset, record.key, record.value, record.headers],
      [from + index, key, value, headers],
      what,
    )
    if (exactTimestamps) strictEqual(record.timestamp, timestamp, what)
  }
  strictEqual(read.length, written.length, what)
}

/** Every reader sees on the mirror what Java sees on the source. */
export async function readAlike(
  sides: { source: TopicSide; mirror: TopicSide },
  topic: string,
  { java, readers }: { java: ClientReader; readers: readonly ClientReader[] },
): Promise<void> {
  for (const isolation of ['read_uncommitted', 'read_committed'] as const) {
    const expected = await java.read(sides.source, topic, isolation)
    for (const reader of readers) {
      const actual = await reader.read(sides.mirror, topic, isolation)
      for (const [index, record] of expected.entries()) {
        deepStrictEqual(actual[index], seenBy(reader, record), `${reader.name}, ${topic} ${isolation}, record ${index}`)
      }
      strictEqual(actual.length, expected.length, `${reader.name}, ${topic} ${isolation}`)
    }
  }
}

function seenBy(reader: ClientReader, record: PlacedRecord): PlacedRecord {
  if (reader.hidesNullHeaders !== true) return record
  return { ...record, headers: record.headers.map(([name, value]) => [name, value ?? '']) }
}
