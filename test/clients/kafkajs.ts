// KafkaJS as writer (it cannot read without a group); used by the client suite.
import { CompressionTypes, Kafka, logLevel, Partitioners } from 'kafkajs'
import type { ClientWriter } from './client-record.ts'

export const kafkaJsWriter: ClientWriter = {
  name: 'KafkaJS',
  codecs: ['none', 'gzip'],
  idempotent: true,
  write: async ({ bootstrap, topic, codec, acks, idempotent, records }) => {
    const kafka = new Kafka({ clientId: 'suite', brokers: [bootstrap], logLevel: logLevel.NOTHING })
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
