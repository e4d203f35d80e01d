// The Java clients, through the resident driver, as reader and writer; used by the client suite.
import type { JavaDriver } from '../java/driver.ts'
import { TopicSide } from '../scenarios/topic-side.ts'
import { type ClientReader, type ClientWriter, inOrder, type PlacedRecord } from './client-record.ts'

type ContentRow = readonly [
  number,
  number,
  string,
  string,
  string,
  string,
  string | null,
  string | null,
  [string, string | null][],
]

/** Java reads with assign. */
export function javaReader(driver: JavaDriver): ClientReader {
  return {
    name: 'Java',
    read: async (place, topic, isolation) => {
      const side = new TopicSide(driver, { bootstrap: place.bootstrap, login: place.login, dataDirectory: '' })
      const contents = await side.consume(topic, { isolation, content: true })
      const placed = Object.entries(contents).flatMap(([partition, { records }]) =>
        records.map((row): PlacedRecord => {
          const [offset, timestamp, , , , , key, value, headers] = row as unknown as ContentRow
          return { partition: Number(partition), offset, timestamp, key, value, headers }
        }),
      )
      return inOrder(placed)
    },
  }
}

/** Java writes with every codec. */
export function javaWriter(driver: JavaDriver): ClientWriter {
  return {
    name: 'Java',
    codecs: ['none', 'gzip', 'snappy', 'lz4', 'zstd'],
    idempotent: true,
    write: async ({ bootstrap, topic, codec, acks, idempotent, records, security }) => {
      const side = new TopicSide(driver, { bootstrap, login: security, dataDirectory: '' })
      await side.produce(topic, { partition: 0, codec, acks, idempotent, records })
    },
  }
}
