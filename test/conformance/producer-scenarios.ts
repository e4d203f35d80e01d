// Java producers without transactions: acknowledgements, refusals and what reads give back; run by the suite of the Java clients.
import type { Scenario } from './scenario.ts'

const once = { retries: '0', 'enable.idempotence': 'false', 'linger.ms': '0' }

const acknowledgements: Scenario = {
  name: 'producers are acknowledged at every level and with every codec',
  async run(side, seen) {
    await side.createTopics({ name: 'acknowledged', partitions: 1 })
    const consumer = await side.consumer('acknowledged', {})
    const end = () => consumer.run('offsets', { of: 'end', partitions: ['acknowledged-0'] })
    for (const acks of ['0', '1', 'all']) {
      for (const codec of ['none', 'gzip', 'snappy', 'lz4', 'zstd']) {
        const id = `acks-${acks}-${codec}`
        const properties = { acks, 'compression.type': codec, 'enable.idempotence': String(acks === 'all') }
        await side.producer(id, 'open', { properties })
        await seen.step(`acks=${acks} ${codec}`, () =>
          side.producer(id, 'send', { topic: 'acknowledged', records: [{ key: codec, value: `${acks} ${codec}` }] }),
        )
        await side.producer(id, 'close', { seconds: 10 })
      }
      // Nobody says that a record of acks=0 is there, and the next producer is told its offset.
      if (acks === '0') await seen.settles('end of acks=0', end, offsets => JSON.stringify(offsets).includes('5'))
    }
    await consumer.run('assign', { partitions: ['acknowledged-0'] })
    // Nobody waits for acks=0, so records of several producers may change places.
    await seen.step('read', async () => (await consumer.takeUntil(15)).map(([, , , value]) => value).toSorted())
    await seen.step('end', end)
    await consumer.close()
  },
}

/** What a topic's configs make of records. */
const refusals: readonly [string, Record<string, string>, object, Record<string, string>?][] = [
  ['too-large', { 'max.message.bytes': '500' }, { value: 'x'.repeat(2000) }],
  ['too-old', { 'message.timestamp.before.max.ms': '1000' }, { value: 'old', timestamp: 1 }],
  ['too-new', { 'message.timestamp.after.max.ms': '1000' }, { value: 'new', timestamp: 32_503_680_000_000 }],
  ['keyless', { 'cleanup.policy': 'compact' }, { value: 'no key' }],
  ['insync', { 'min.insync.replicas': '2' }, { value: 'two wanted' }],
  ['insync-acks-1', { 'min.insync.replicas': '2' }, { value: 'one is enough' }, { acks: '1' }],
  ['append-time', { 'message.timestamp.type': 'LogAppendTime' }, { value: 'late', timestamp: 1 }],
  ['recompressed', { 'compression.type': 'zstd' }, { value: 'x'.repeat(2000) }, { 'compression.type': 'gzip' }],
]

const refused: Scenario = {
  name: "producers are refused what the topic's configs forbid",
  async run(side, seen) {
    for (const [name, configs, record, properties = {}] of refusals) {
      const topic = `refusing-${name}`
      await side.createTopics({ name: topic, configs })
      await side.producer(topic, 'open', { properties: { ...once, ...properties } })
      await seen.step(name, () => side.producer(topic, 'send', { topic, records: [record] }))
      await side.producer(topic, 'close')
    }
    await side.producer('idempotent', 'open')
    await seen.step('idempotent, too large', () =>
      side.producer('idempotent', 'send', { topic: 'refusing-too-large', records: [{ value: 'x'.repeat(2000) }] }),
    )
    await seen.step('idempotent, afterwards', () =>
      side.producer('idempotent', 'send', { topic: 'refusing-too-large', records: [{ value: 'small' }] }),
    )
    await side.producer('idempotent', 'close')
  },
}

const strangers: Scenario = {
  name: 'producers and consumers that ask for what is not there',
  async run(side, seen) {
    await side.createTopics({ name: 'known' })
    await side.producer('impatient', 'open', { properties: { 'max.block.ms': '2000' } })
    await side.producer('stranger', 'open')
    await seen.step('unknown topic', () =>
      side.producer('impatient', 'send', { topic: 'nobody', records: [{ value: 'x' }] }),
    )
    await seen.step('bad name', () =>
      side.producer('stranger', 'send', { topic: 'no good', records: [{ value: 'x' }] }),
    )
    await seen.step('unknown partition', () =>
      side.producer('impatient', 'send', { topic: 'known', partition: 3, records: [{ value: 'x' }] }),
    )
    await seen.step('known partition', () =>
      side.producer('stranger', 'send', { topic: 'known', partition: 0, records: [{ value: 'x' }] }),
    )
    for (const id of ['impatient', 'stranger']) await side.producer(id, 'close')
    const impatient = await side.consumer('impatient', { 'default.api.timeout.ms': '2000' })
    await seen.step('end of no topic', () => impatient.run('offsets', { of: 'end', partitions: ['nobody-0'] }))
    await impatient.close()
    const consumer = await side.consumer('stranger', { 'auto.offset.reset': 'none' })
    await consumer.run('assign', { partitions: ['known-0'] })
    await seen.step('no position', () => consumer.failure())
    await consumer.run('seek', { partition: 'known-0', offset: 0 })
    await consumer.run('pollable', { on: true })
    await seen.settles(
      'position',
      () => consumer.run('position', { partition: 'known-0' }),
      position => position === 1,
    )
    await seen.step('time', () => consumer.run('times', { partition: 'known-0', timestamp: 9_999_999_999_999 }))
    await consumer.close()
    const beyond = await side.consumer('beyond', { 'auto.offset.reset': 'none' })
    // It must not poll before it has a position.
    await beyond.run('pollable', { on: false })
    await beyond.run('assign', { partitions: ['known-0'] })
    await beyond.run('seek', { partition: 'known-0', offset: 99 })
    await beyond.run('pollable', { on: true })
    await seen.step('beyond the end', () => beyond.failure())
    await beyond.close()
  },
}

export const producerScenarios: readonly Scenario[] = [acknowledgements, refused, strangers]
