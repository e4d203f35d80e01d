// @platformatic/kafka as writer, and as reader that follows topics in a group; used by suites of clients.
import {
  Consumer,
  MessagesStreamFallbackModes,
  MessagesStreamModes,
  ProduceAcks,
  Producer,
  stringDeserializers,
  stringSerializers,
} from '@platformatic/kafka'
import type { ClientWriter } from './client-record.ts'
import { platformaticOptions } from './client-security.ts'
import type { Follower, Following, Seen } from './follower.ts'

/** Of a client that waits as long as a slow machine may need; what cannot succeed later it does not repeat. */
export const patientPlatformatic = (bootstrap: string, clientId = 'suite') => ({
  clientId,
  bootstrapBrokers: bootstrap.split(','),
  connectTimeout: 30_000,
  requestTimeout: 60_000,
  timeout: 30_000,
  retries: 60,
  retryDelay: 500,
})

export const platformaticWriter: ClientWriter = {
  name: '@platformatic/kafka',
  codecs: ['none', 'gzip', 'snappy', 'lz4', 'zstd'],
  idempotent: true,
  write: async ({ bootstrap, topic, codec, acks, idempotent, records, security, patienceMs }) => {
    const producer = new Producer({
      ...patientPlatformatic(bootstrap),
      serializers: stringSerializers,
      // It repeats a login that was refused, too.
      ...(patienceMs === undefined ? {} : { retries: 0 }),
      ...platformaticOptions(security),
    })
    // A connection that was refused may be reset afterwards: it tells a second error, for which the client does not listen.
    producer.on('client:broker:failed', ({ connection }) => connection?.on('error', () => {}))
    try {
      await producer.send({
        acks: acks === 'all' ? ProduceAcks.ALL : ProduceAcks.LEADER,
        compression: codec,
        idempotent,
        messages: records.map(({ key, value, headers, timestamp }) => ({
          topic,
          partition: 0,
          ...(key === null ? {} : { key }),
          ...(value === null ? {} : { value }),
          headers: Object.fromEntries(headers.map(([name, content]) => [name, content ?? ''])),
          timestamp: BigInt(timestamp),
        })),
      })
    } finally {
      await producer.close()
    }
  },
}

/** Reads on until it is closed, or until its stream ends with an error. */
export async function followWithPlatformatic({ bootstrap, topics, group }: Following, seen: Seen): Promise<Follower> {
  const consumer = new Consumer({
    ...patientPlatformatic(bootstrap),
    connectTimeout: 3_000,
    requestTimeout: 5_000,
    timeout: 5_000,
    groupId: group,
    sessionTimeout: 10_000,
    deserializers: stringDeserializers,
    autocommit: 500,
    maxWaitTime: 100,
    metadataMaxAge: 1_000,
  })
  const close = () => consumer.close(true)
  try {
    const stream = await consumer.consume({
      topics: [...topics],
      mode: MessagesStreamModes.COMMITTED,
      fallbackMode: MessagesStreamFallbackModes.EARLIEST,
    })
    const read = async () => {
      for await (const { topic, partition, offset, value } of stream) seen.add(`${topic}-${partition}`, offset, value)
    }
    const ended = read()
    ended.catch(() => {})
    return { ended, close }
  } catch (error) {
    await close()
    throw error
  }
}
