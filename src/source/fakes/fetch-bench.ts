/** What the fetcher's tests start from: a fake cluster, a source cluster connected to it, and a clock that moves while waiting. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { seededRandom } from '../../core/random.ts'
import type { SourceCluster, SourceConnectionSettings } from '../../link/ports.ts'
import { RecordingLogger } from '../../network/fakes/recording-logger.ts'
import { type KafkaSourceOptions, kafkaSource } from '../source-cluster.ts'
import { FakeKafka } from './fake-kafka.ts'

type Changes = Partial<Omit<SourceConnectionSettings, 'fetch'>> & {
  fetch?: Partial<SourceConnectionSettings['fetch']>
} & Partial<Pick<KafkaSourceOptions, 'dnsLookup' | 'canonicalName'>> & { onTrouble?: () => void }

export interface Bench {
  readonly kafka: FakeKafka
  readonly source: SourceCluster
  readonly clock: ManualClock
  readonly logger: RecordingLogger
  /** Lets time pass until the condition holds. */
  readonly until: (condition: () => boolean, what?: string) => Promise<void>
  /** Lets this much time pass, in small steps. */
  readonly pass: (ms: number) => Promise<void>
  readonly open: (changes?: Changes) => SourceCluster
}

const STEP_MS = 5
const STEPS_MAX = 20_000

/** Brokers 1 to `brokers`; everything is closed when the test ends. */
export async function startBench(t: TestContext, options: Changes & { brokers?: number } = {}): Promise<Bench> {
  const clock = new ManualClock()
  const logger = new RecordingLogger()
  const kafka = new FakeKafka(clock)
  for (let id = 1; id <= (options.brokers ?? 1); id++) await kafka.addBroker(id)
  const opened: SourceCluster[] = []
  const bootstrapServers = [...kafka.brokers.values()].map(broker => `127.0.0.1:${broker.server.port}`)
  const open = (changes: Changes = {}) => {
    const { fetch, dnsLookup, canonicalName, onTrouble, ...rest } = { ...options, ...changes }
    const factory = kafkaSource({ clock, logger, random: seededRandom(7), dnsLookup, canonicalName })
    const settings = { ...DEFAULTS, bootstrapServers, ...rest, fetch: { ...DEFAULTS.fetch, ...fetch } }
    const source = factory.open(settings, onTrouble)
    opened.push(source)
    return source
  }
  t.after(async () => {
    let closed = false
    const closing = Promise.all(opened.map(source => source.close())).finally(() => {
      closed = true
    })
    // Sinks may wait for the clock.
    await until(() => closed, 'closing the source')
    await closing
    await kafka.close()
  })
  const until = async (condition: () => boolean, what = 'the condition') => {
    for (let step = 0; !condition(); step++) {
      assert.ok(step < STEPS_MAX, `${what} did not come true in ${STEPS_MAX * STEP_MS} ms`)
      await clock.advance(STEP_MS)
    }
  }
  const pass = async (ms: number) => {
    const endMs = clock.monotonicMs() + ms
    await until(() => clock.monotonicMs() >= endMs)
  }
  return { kafka, source: open(), clock, logger, until, pass, open }
}

const DEFAULTS: SourceConnectionSettings = {
  bootstrapServers: [],
  clusterId: 'fake-cluster',
  clientId: 'test',
  requestTimeoutMs: 30_000,
  connectTimeoutMs: 10_000,
  connectTimeoutMaxMs: 30_000,
  apiTimeoutMs: 60_000,
  idleMsMax: 600_000,
  bootstrapLookup: 'use_all_dns_ips',
  metadataMaxAgeMs: 300_000,
  retryBackoffMs: 100,
  security: {},
  fetch: {
    connectionsPerBroker: 1,
    partitionBytesMax: 1 << 20,
    responseBytesMax: 10 << 20,
    minBytes: 1,
    waitMaxMs: 500,
    backoffMs: 1000,
    inFlightBytesMax: 64 << 20,
    timeoutMs: 30_000,
  },
}
