// KafkaJS as writer, with and without transactions, and as reader that follows topics in a group; used by suites of clients.
import { CompressionTypes, type EachMessagePayload, Kafka, type KafkaConfig, logLevel, Partitioners } from 'kafkajs'
import type { ClientWriter, TransactionalWriter } from './client-record.ts'
import { kafkaJsOptions } from './client-security.ts'
import type { Follower, Following, Seen } from './follower.ts'
import './kafkajs-timers.ts'

/** A client that waits as long as a slow machine may need; what cannot succeed later it does not repeat. */
export const patientKafkaJs = (bootstrap: string, more: Partial<KafkaConfig> = {}): Kafka =>
  new Kafka({
    clientId: 'suite',
    brokers: bootstrap.split(','),
    logLevel: logLevel.NOTHING,
    connectionTimeout: 30_000,
    authenticationTimeout: 30_000,
    requestTimeout: 60_000,
    retry: { retries: 60, initialRetryTime: 100, maxRetryTime: 1000 },
    ...more,
  })

export const kafkaJsWriter: ClientWriter = {
  name: 'KafkaJS',
  codecs: ['none', 'gzip'],
  idempotent: true,
  write: async ({ bootstrap, topic, codec, acks, idempotent, records, security }) => {
    const kafka = patientKafkaJs(bootstrap, kafkaJsOptions(security))
    const producer = kafka.producer({ idempotent, createPartitioner: Partitioners.DefaultPartitioner })
    await producer.connect()
    try {
      await producer.send({
        topic,
        acks: acks === 'all' ? -1 : 1,
        compression: codec === 'gzip' ? CompressionTypes.GZIP : CompressionTypes.None,
        messages: records.map(({ key, value, headers, timestamp }) => ({
          partition: 0,
          key,
          value,
          headers: Object.fromEntries(headers.map(([name, content]) => [name, content ?? ''])),
          timestamp: String(timestamp),
        })),
      })
    } finally {
      await producer.disconnect()
    }
  },
}

export const kafkaJsTransactions: TransactionalWriter = {
  name: 'KafkaJS',
  write: async ({ bootstrap, topic, transactionalId, transactions }) => {
    const producer = patientKafkaJs(bootstrap).producer({
      transactionalId,
      idempotent: true,
      maxInFlightRequests: 1,
      createPartitioner: Partitioners.DefaultPartitioner,
    })
    await producer.connect()
    try {
      for (const { values, commit } of transactions) {
        const transaction = await producer.transaction()
        await transaction.send({ topic, messages: values.map(value => ({ partition: 0, value })) })
        await (commit ? transaction.commit() : transaction.abort())
      }
    } finally {
      await producer.disconnect()
    }
  },
}

/** Resolves to `topic: value` of the first `count` records of all topics that match, read as a group of one. */
export async function readTopicsByPattern(of: {
  readonly bootstrap: string
  readonly pattern: RegExp
  readonly count: number
}): Promise<string[]> {
  const consumer = patientKafkaJs(of.bootstrap).consumer({ groupId: `pattern-${of.count}`, maxWaitTimeInMs: 100 })
  const seen: string[] = []
  await consumer.connect()
  try {
    await consumer.subscribe({ topic: of.pattern, fromBeginning: true })
    await new Promise<void>((resolve, reject) => {
      consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error))
      const eachMessage = async ({ topic, message }: { topic: string; message: { value: Buffer | null } }) => {
        seen.push(`${topic}: ${message.value}`)
        if (seen.length >= of.count) resolve()
      }
      consumer.run({ eachMessage }).catch(reject)
    })
    await consumer.stop()
  } finally {
    await consumer.disconnect()
  }
  return seen
}

/** Reads on until it is closed, or until its consumer crashes and does not start again by itself. */
export async function followWithKafkaJs({ bootstrap, topics, group }: Following, seen: Seen): Promise<Follower> {
  const kafka = patientKafkaJs(bootstrap, { connectionTimeout: 3_000, requestTimeout: 5_000 })
  const consumer = kafka.consumer({
    groupId: group,
    maxWaitTimeInMs: 100,
    metadataMaxAge: 1_000,
    sessionTimeout: 10_000,
  })
  const { promise: ended, reject } = Promise.withResolvers<void>()
  ended.catch(() => {})
  consumer.on(consumer.events.CRASH, ({ payload }) => {
    if (!payload.restart) reject(payload.error)
  })
  const close = () => consumer.disconnect()
  try {
    await consumer.connect()
    await consumer.subscribe({ topics: [...topics], fromBeginning: true })
    const eachMessage = async ({ topic, partition, message }: EachMessagePayload) =>
      seen.add(`${topic}-${partition}`, message.offset, String(message.value))
    consumer.run({ autoCommitInterval: 500, eachMessage }).catch(reject)
  } catch (error) {
    await close()
    throw error
  }
  return { ended, close }
}
