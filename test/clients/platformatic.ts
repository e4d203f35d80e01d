// @platformatic/kafka as writer (it cannot read without a group); used by the client suite.
import { ProduceAcks, Producer, stringSerializers } from '@platformatic/kafka'
import type { ClientWriter } from './client-record.ts'
import { platformaticOptions } from './client-security.ts'

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
