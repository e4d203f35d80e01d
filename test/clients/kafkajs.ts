// KafkaJS as writer, with and without transactions (it cannot read without a group); used by suites of clients.
import { CompressionTypes, Kafka, logLevel, Partitioners } from 'kafkajs'
import type { ClientWriter, TransactionalWriter } from './client-record.ts'
import { kafkaJsOptions } from './client-security.ts'

export const kafkaJsWriter: ClientWriter = {
  name: 'KafkaJS',
  codecs: ['none', 'gzip'],
  idempotent: true,
  write: async ({ bootstrap, topic, codec, acks, idempotent, records, security }) => {
    const secured = kafkaJsOptions(security)
    const kafka = new Kafka({ clientId: 'suite', brokers: [bootstrap], logLevel: logLevel.NOTHING, ...secured })
    const retry = { retries: 2 }
    const producer = kafka.producer({ idempotent, retry, createPartitioner: Partitioners.DefaultPartitioner })
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
    const kafka = new Kafka({ clientId: 'suite', brokers: [bootstrap], logLevel: logLevel.NOTHING })
    const producer = kafka.producer({
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
