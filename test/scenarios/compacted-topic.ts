// Content of the compacted topic, and the wait until Kafka's cleaner has been over it.
import { ok } from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { eventually } from '../eventually.ts'
import { dumpLog } from './logs.ts'
import type { TopicSide } from './topic-side.ts'

/** Properties of a source whose cleaner comes by often enough for a test. */
export const eagerCleaner = { 'log.cleaner.backoff.ms': '100', 'log.cleaner.threads': '1' }

/**
 * Writes generations of the same keys, one segment each (the topic's segment.ms is 1 s and timestamps jump by 10 s),
 * with tombstones and transactions, and waits until all but the active segment is cleaned.
 */
export async function fillCompacted(source: TopicSide, topic: string): Promise<void> {
  // From now on, since markers are stamped with the wall clock and a segment is rolled by what is later than its first.
  const start = Date.now()
  let generation = 0
  const next = () => start + 10_000 * ++generation
  const keys = 40
  const generate = { count: keys, keys, valueBytes: 200, timestampStep: 0 }
  for (const codec of ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const) {
    await source.produce(topic, { codec, batch: 16, generate: { ...generate, timestamp: next(), seed: generation } })
  }
  const transaction = (name: string, end: 'commit' | 'abort') => ({ id: `${topic}-${name}`, end })
  await source.produce(topic, {
    transaction: transaction('a', 'commit'),
    generate: { ...generate, timestamp: next(), seed: 50 },
  })
  await source.produce(topic, {
    transaction: transaction('b', 'abort'),
    generate: { ...generate, timestamp: next(), seed: 51 },
  })
  const tombstones = Array.from({ length: 10 }, (_, key) => ({
    key: `key-${30 + key}`,
    value: null,
    timestamp: next(),
  }))
  await source.produce(topic, { codec: 'gzip', records: tombstones })
  await source.produce(topic, { batch: 7, generate: { ...generate, count: 25, timestamp: next(), seed: 60 } })
  await source.produce(topic, { records: [{ key: 'last', value: 'active segment', timestamp: next() }] })
  await waitUntilCleaned(source, topic)
  // The copy is compared byte by byte, so nothing may be cleaned while it is made.
  await source.alterConfigs(topic, { 'min.compaction.lag.ms': '86400000' })
  await assertShowsCleaning(source, topic)
}

async function waitUntilCleaned(source: TopicSide, topic: string): Promise<void> {
  await eventually(
    async () => {
      const logs = await source.files(topic, 0, ['.log'])
      const active = Number(basename(logs.at(-1) ?? '').replace('.log', ''))
      const checkpoint = await readFile(join(source.dataDirectory, 'cleaner-offset-checkpoint'), 'utf8')
      const cleaned = new RegExp(`^${topic} 0 (\\d+)$`, 'm').exec(checkpoint)?.[1]
      ok(active > 0 && Number(cleaned) === active, `cleaned to ${cleaned}, active segment ${active}`)
    },
    { timeoutMs: 120_000, intervalMs: 100 },
  )
}

/** The scene is worth nothing without what only a cleaner makes. */
async function assertShowsCleaning(source: TopicSide, topic: string): Promise<void> {
  const batches = await dumpLog(source, topic)
  const heads = batches.map(batch => batch.lines[0] ?? '')
  const holes = batches.filter(
    (batch, index) => index > 0 && batch.baseOffset !== (batches[index - 1]?.lastOffset ?? 0) + 1,
  )
  ok(holes.length > 0 || (batches[0]?.baseOffset ?? 0) > 0, 'cleaning left holes')
  ok(
    heads.some(head => head.includes(' count: 0 ')),
    'cleaning left an empty batch',
  )
  ok(
    heads.some(head => /deleteHorizonMs: OptionalLong\[/.test(head)),
    'cleaning left a delete horizon',
  )
}
