/** Truncate-and-restore between two real nodes where retention or compaction took records away between the failover and the restore, at either side. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import kafkajs, { Partitioners } from 'kafkajs'
import { patientKafkaJs } from '../clients/kafkajs.ts'
import { eventually } from '../eventually.ts'
import type { AlterMirrorRow } from '../scenarios/mirror-link.ts'
import {
  administer,
  batchesOnDisk,
  type Peer,
  type PeersWorld,
  startPeersWorld,
  visibleRecords,
} from '../scenarios/peers-world.ts'

const rolling = [
  { name: 'segment.ms', value: '1000' },
  { name: 'min.cleanable.dirty.ratio', value: '0.01' },
  { name: 'cleanup.policy', value: 'compact' },
]
/** What cleaners leave alone until it is altered. */
const later = { name: 'min.compaction.lag.ms', value: '86400000' }
const topics = {
  'deleted-there': [],
  'deleted-here': [],
  'compacted-here': rolling,
  'compacted-there': [...rolling, later],
  'overwritten-there': [...rolling, later],
}
type Topic = keyof typeof topics
const names = Object.keys(topics) as Topic[]
/** Generations that both sides have; each is one batch of six records. */
const common = [1, 2, 3]
const perGeneration = 6
const commonEnd = common.length * perGeneration
/** Timestamps of generations are this far apart, so that each begins a segment. */
const apartMs = 10_000
const startMs = Date.now()

let world: PeersWorld

/** A key that only this generation writes, and five that all do; `overwritten-there` writes only such. */
async function write(peer: Peer, topic: Topic, generations: readonly number[]): Promise<void> {
  const kafka = patientKafkaJs(peer.node.bootstrap)
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  await producer.connect()
  try {
    for (const generation of generations) {
      const keys = [topic === 'overwritten-there' ? 'shared-0' : `only-${generation}`, 1, 2, 3, 4, 5].map(String)
      const timestamp = String(startMs + generation * apartMs)
      const messages = keys.map(key => ({ partition: 0, key, timestamp, value: `${key}=${generation}` }))
      await producer.send({ topic, messages })
    }
  } finally {
    await producer.disconnect()
  }
}

/** The value of every key, as who reads the whole topic has them in the end. */
async function newest(peer: Peer, topic: Topic): Promise<ReadonlyMap<string, string>> {
  const values = (await visibleRecords(peer, topic, [0])).map(({ value }) => value.split('=') as [string, string])
  return new Map(values)
}

const ends = async (peer: Peer, topic: Topic) =>
  (await administer(peer, admin => admin.fetchTopicOffsets(topic))).map(({ low, high }) => [Number(low), Number(high)])

const deleteBelow = (peer: Peer, topic: Topic, offset: number) =>
  administer(peer, async admin => {
    // KafkaJS deletes only in topics that it has asked for before.
    await admin.fetchTopicOffsets(topic)
    await admin.deleteTopicRecords({ topic, partitions: [{ partition: 0, offset: String(offset) }] })
  })

/** Waits until the node's cleaner has been over everything below that offset. */
const untilCleaned = ({ node }: Peer, topic: Topic, offset: number) =>
  eventually(async () => {
    const checkpoint = await readFile(join(node.dataDirectory, 'cleaner-offset-checkpoint'), 'utf8')
    const cleaned = Number(new RegExp(`^${topic} 0 (\\d+)$`, 'm').exec(checkpoint)?.[1] ?? 0)
    ok(cleaned >= offset, `${topic} is cleaned up to ${cleaned}`)
  })

/** The other node may have just started: its half of the link is not looked at before. */
const restored = (topic: Topic, options: { validateOnly?: boolean } = {}): Promise<AlterMirrorRow> =>
  eventually(async () => {
    const row = await world.east.link.restore(topic, options)
    ok(row)
    strictEqual(row.error_code, null, row.error_message ?? '')
    return row
  })

/** Refused for that reason, by a dry run and in truth; clients go on writing. */
async function isRefused(topic: Topic, reason: RegExp): Promise<void> {
  const { east } = world
  for (const validateOnly of [true, false])
    await eventually(async () => match((await east.link.restore(topic, { validateOnly }))?.error_message ?? '', reason))
  const [[, end] = []] = await ends(east, topic)
  await write(east, topic, [20])
  deepStrictEqual(
    (await ends(east, topic)).map(([, now]) => now),
    [(end ?? 0) + perGeneration],
  )
}

before(async () => {
  world = await startPeersWorld(
    { 'metadata.max.age.ms': '1000', 'topic.config.sync.ms': '1000' },
    { 'log.cleaner.backoff.ms': '50' },
  )
  const { east, west } = world
  await administer(east, admin =>
    admin.createTopics({
      topics: names.map(topic => ({ topic, numPartitions: 1, configEntries: topics[topic] })),
    }),
  )
  for (const topic of names) await write(east, topic, common)
  for (const topic of names) await west.link.mirror(topic)
  for (const topic of names)
    await eventually(async () => {
      strictEqual((await west.link.describe(topic)).mirror_lags[0]?.log_end_offset, commonEnd)
    })
  // What the mirrors never get.
  await west.link.must('pause', names)
  for (const topic of names) await west.link.waitForStatus(topic, 'PAUSED')
  for (const topic of names) await write(east, topic, [4, 5, 6])
  await untilCleaned(east, 'compacted-here', commonEnd + perGeneration)
  await east.node.kill()
  await west.link.failOver(names)
  // Only what links copy is like at the source: not how segments are rolled.
  for (const name of ['compacted-there', 'overwritten-there'] as const) {
    const configEntries = topics[name].map(entry => (entry === later ? { ...entry, value: '0' } : entry))
    const resource = { type: kafkajs.ConfigResourceTypes.TOPIC, name, configEntries }
    await administer(west, admin => admin.alterConfigs({ validateOnly: false, resources: [resource] }))
  }
  for (const topic of names) await write(west, topic, [7, 8, 9])
  await deleteBelow(west, 'deleted-there', commonEnd + perGeneration)
  for (const name of ['compacted-there', 'overwritten-there'] as const)
    await untilCleaned(west, name, commonEnd + perGeneration)
  await east.node.start()
  await deleteBelow(east, 'deleted-here', commonEnd + perGeneration)
})
after(() => world?.close())

test('what the successor deleted behind the common end is not missed: the log is cut, and begins where the other one does', async () => {
  const { east, west } = world
  const dry = await restored('deleted-there', { validateOnly: true })
  const row = await restored('deleted-there')
  strictEqual(row.messages_truncated, 3 * perGeneration)
  strictEqual(row.partition_level_truncation_data?.[0]?.offset_truncated_to, commonEnd)
  deepStrictEqual(dry.partition_level_truncation_data, row.partition_level_truncation_data)
  match(row.warnings?.join(' ') ?? '', /could not be compared: the other cluster has deleted it/)
  await east.link.waitForStatus('deleted-there', 'ACTIVE')
  await eventually(async () => {
    deepStrictEqual(await ends(east, 'deleted-there'), [[commonEnd + perGeneration, commonEnd + 3 * perGeneration]])
    deepStrictEqual(await ends(east, 'deleted-there'), await ends(west, 'deleted-there'))
    const above = async (peer: Peer) =>
      (await batchesOnDisk(peer, 'deleted-there', 0)).filter(batch => batch.baseOffset >= commonEnd + perGeneration)
    deepStrictEqual(await above(east), await above(west))
  })
})

test('where retention took away here what both had, nothing is cut, and nothing is changed', async () => {
  await isRefused('deleted-here', /the log begins at offset 24 here, and what both clusters have ends at 18/)
})

test('what was compacted because of records that are cut off is mirrored anew', async () => {
  const { east, west } = world
  const row = await restored('compacted-here')
  strictEqual(row.partition_level_truncation_data?.[0]?.offset_truncated_to, 0)
  match(row.warnings?.join(' ') ?? '', /was compacted up to offset \d+ here: all of it is cut off and mirrored anew/)
  await east.link.waitForStatus('compacted-here', 'ACTIVE')
  // Its cleaner is at work: a file may go while it is read.
  const values = await eventually(async () => {
    const found = await newest(east, 'compacted-here')
    deepStrictEqual(found, await newest(west, 'compacted-here'))
    return found
  })
  // Of the generations that are gone nothing is left, and of those that both had what nobody wrote again.
  deepStrictEqual(
    [4, 5, 6].map(generation => values.get(`only-${generation}`)),
    [undefined, undefined, undefined],
  )
  deepStrictEqual(
    ['only-1', 'only-3', 'only-9', '5'].map(key => values.get(key)),
    ['1', '3', '9', '9'],
  )
})

test('what the successor compacted away does not hide where the two parted', async () => {
  const { east, west } = world
  const row = await restored('compacted-there')
  deepStrictEqual(
    row.partition_level_truncation_data?.map(part => [part.offset_truncated_to, part.messages_truncated]),
    [[commonEnd, 3 * perGeneration]],
  )
  await east.link.waitForStatus('compacted-there', 'ACTIVE')
  await eventually(async () => {
    deepStrictEqual(await newest(east, 'compacted-there'), await newest(west, 'compacted-there'))
  })
})

test('where compaction left nothing to compare, nothing is cut, and nothing is changed', async () => {
  await isRefused('overwritten-there', /no batch below offset 18 is the same at both clusters/)
})
