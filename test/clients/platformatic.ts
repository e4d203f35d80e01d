// @platformatic/kafka as writer (it cannot read without a group); used by the client suite.
import { ProduceAcks, Producer, stringSerializers } from '@platformatic/kafka'
import type { ClientWriter } from './client-record.ts'
import { platformaticOptions } from './client-security.ts'

export const platformaticWriter: ClientWriter = {
  name: '@platformatic/kafka',
  codecs: ['none', 'gzip', 'snappy', 'lz4', 'zstd'],
  idempotent: true,
  write: async ({ bootstrap, topic, codec, acks, idempotent, records, security }) => {
    const producer = new Producer({
      clientId: 'suite',
      bootstrapBrokers: [bootstrap],
      serializers: stringSerializers,
      retries: 2,
      ...platformaticOptions(security),
    })
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
