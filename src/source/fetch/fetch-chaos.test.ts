/** The fetcher under random faults: whatever happens to the source, every offset arrives once, in order, one call at a time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Random, seededRandom } from '../../core/random.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { FakeKafka } from '../fakes/fake-kafka.ts'
import { FakeSink } from '../fakes/fake-sink.ts'
import { type Bench, startBench } from '../fakes/fetch-bench.ts'

const PARTITIONS = 9
const BROKERS = [1, 2, 3]
const FAULTS = [
  ErrorCode.NOT_LEADER_OR_FOLLOWER,
  ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
  ErrorCode.KAFKA_STORAGE_ERROR,
  ErrorCode.UNKNOWN_SERVER_ERROR,
  ErrorCode.OFFSET_OUT_OF_RANGE,
]

for (let seed = 1; seed <= 5; seed++) {
  test(`every offset arrives once and in order whatever happens to the source (seed ${seed})`, async t => {
    const random = seededRandom(seed)
    const bench = await startBench(t, { brokers: BROKERS.length, fetch: { connectionsPerBroker: 1 + (seed % 3) } })
    const { kafka, source, until, pass, clock } = bench
    const topic = kafka.addTopic(
      'orders',
      Array.from({ length: PARTITIONS }, (_, i) => 1 + (i % BROKERS.length)),
    )
    const sinks = topic.partitions.map((_, partition) => {
      const sink = new FakeSink({ topicId: topic.topicId, lastSourceEpoch: 1 })
      source.fetcher.start('orders', partition, sink)
      return sink
    })
    kafka.onFetch = () => (random() < 0.02 ? { errorCode: pick(random, FAULTS) } : undefined)
    for (let step = 0; step < 60; step++) {
      await disturb(bench, random)
      const sink = pick(random, sinks)
      const slow = Promise.withResolvers<void>()
      if (random() < 0.3) {
        sink.hold = slow.promise
        clock.after(random() * 2000, slow.resolve)
      }
      if (random() < 0.1) await restart(bench, sinks)
      kafka.append('orders', Math.floor(random() * PARTITIONS), Math.ceil(random() * 30))
      await pass(random() * 300)
    }
    kafka.onFetch = undefined
    for (const id of BROKERS) if (!kafka.brokers.has(id)) await kafka.addBroker(id, ports(kafka).get(id))
    for (const partition of topic.partitions.filter(found => found.leader < 0))
      Object.assign(partition, { leader: 1, leaderEpoch: partition.leaderEpoch + 1 })
    await until(() => sinks.every((sink, partition) => sink.offset === topic.partitions[partition]?.end))
    // Slow sinks end, and nothing comes twice.
    await pass(2500)
    for (const sink of sinks) {
      assert.deepEqual(
        sink.received,
        Array.from({ length: sink.offset }, (_, offset) => offset),
      )
      assert.equal(sink.mostConcurrent, 1)
    }
  })
}

const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)] ?? assert.fail()

const knownPorts = new WeakMap<FakeKafka, Map<number, number>>()
/** Where each broker listens, also while it is down. */
function ports(kafka: FakeKafka): Map<number, number> {
  const known = knownPorts.get(kafka) ?? new Map<number, number>()
  for (const { id, server } of kafka.brokers.values()) known.set(id, server.port)
  knownPorts.set(kafka, known)
  return known
}

/** Moves a leader, kills a broker or brings one back. */
async function disturb({ kafka }: Bench, random: Random): Promise<void> {
  const known = ports(kafka)
  const partitions = kafka.topics.get('orders')?.partitions ?? []
  const what = random()
  if (what < 0.3) {
    const partition = pick(random, partitions)
    partition.leader = pick(random, [...kafka.brokers.keys()])
    partition.leaderEpoch++
    kafka.wake()
  } else if (what < 0.4 && kafka.brokers.size > 1) {
    const dead = pick(random, [...kafka.brokers.keys()])
    await kafka.stopBroker(dead)
    for (const partition of partitions.filter(found => found.leader === dead)) {
      partition.leader = random() < 0.5 ? pick(random, [...kafka.brokers.keys()]) : -1
      partition.leaderEpoch++
    }
  } else if (what < 0.55) {
    const down = BROKERS.find(id => !kafka.brokers.has(id))
    if (down !== undefined) await kafka.addBroker(down, known.get(down))
    for (const partition of partitions.filter(found => found.leader < 0)) {
      partition.leader = pick(random, [...kafka.brokers.keys()])
      partition.leaderEpoch++
    }
  } else if (what < 0.65) disturbSessions(kafka, random)
}

/** Evicts all fetch sessions, makes their epochs wrong, or stops granting any for a while. */
function disturbSessions({ sessions }: FakeKafka, random: Random): void {
  const what = random()
  if (what < 0.4) sessions.forget()
  else if (what < 0.7) sessions.skipEpochs()
  else sessions.enabled = !sessions.enabled
}

/** Stops a partition and starts it again, with the same sink. */
async function restart({ source, until }: Bench, sinks: readonly FakeSink[]): Promise<void> {
  for (const [partition, sink] of sinks.entries()) {
    if (partition % 4 !== 0) continue
    let stopped = false
    const stopping = source.fetcher.stop('orders', partition).then(() => {
      stopped = true
    })
    source.fetcher.start('orders', partition, sink)
    await until(() => stopped)
    await stopping
  }
}
