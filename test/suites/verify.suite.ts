/** Verify against a real Kafka: mirrors of every kind of topic, compaction, damage, a source that restarts; history and events. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { batchesIn } from '../../src/protocol/batches/batch-iteration.ts'
import { crc32c } from '../../src/protocol/batches/crc32c.ts'
import { eventually } from '../eventually.ts'
import { sourceVersion } from '../kafka/jars.ts'
import { skipWithout } from '../requirements.ts'
import { waitUntilInStep } from '../scenarios/equality.ts'
import { EventListener } from '../scenarios/event-listener.ts'
import { type MirrorWorld, startMirrorWorld } from '../scenarios/mirror-world.ts'
import { sourceTopics } from '../scenarios/source-topics.ts'

const skip = skipWithout('java')
let world: MirrorWorld

before(async () => {
  if (skip === false) world = await startMirrorWorld(sourceVersion(), { link: { 'topic.config.sync.ms': '1000' } })
})
after(() => world?.close())

interface VerifiedPartition {
  readonly partition: number
  readonly state: string
  readonly method: string | null
  readonly records_only_at_source: number
  readonly records_only_at_mirror: number
  readonly difference: { readonly offset: number; readonly message: string } | null
  readonly message: string | null
}

interface Verification {
  readonly verification_id: string
  readonly state: string
  readonly outcome: string | null
  readonly compared_batches: number
  readonly topics: readonly {
    readonly mirror_topic_name: string
    readonly error_message: string | null
    readonly partitions: readonly VerifiedPartition[]
  }[]
}

const PATH = '/links/from-kafka'

/** A node that has just started first takes over the state of links. */
async function begin(body: object): Promise<string> {
  const begun = await eventually(() => world.node.rest.call('POST', `${PATH}/mirrors:verify`, body))
  return (begun as Verification).verification_id
}

const ended = (id: string): Promise<Verification> =>
  eventually(
    async () => {
      const found = (await world.node.rest.call('GET', `${PATH}/verifications/${id}`)) as Verification
      strictEqual(found.state, 'COMPLETED')
      return found
    },
    { timeoutMs: 300_000 },
  )

const verify = async (...topics: string[]): Promise<Verification> => ended(await begin({ mirror_topic_names: topics }))

test('mirrors of every kind of topic are equal to their sources', { skip }, async () => {
  const { sides, link } = world
  for (const { name, partitions = 1, configs = {}, mirrorConfigs, fill } of sourceTopics) {
    await sides.source.createTopic(name, { partitions, configs })
    await fill?.(sides.source, name)
    await link.mirror(name, mirrorConfigs)
  }
  for (const { name } of sourceTopics) await waitUntilInStep(sides, name)
  const found = await ended(await begin({ mirror_topic_name_pattern: '.*' }))
  strictEqual(found.outcome, 'EQUAL', JSON.stringify(found.topics))
  deepStrictEqual(
    found.topics.map(topic => topic.mirror_topic_name).sort(),
    sourceTopics.map(({ name }) => name).sort(),
  )
  ok(found.compared_batches > 100)
  for (const { partitions } of found.topics)
    for (const partition of partitions) strictEqual(partition.method, 'BATCHES', JSON.stringify(partition))
})

test('mirrors are equal to compacted sources record by record, cleaned there, here, or at both', { skip }, async () => {
  const { sides, link } = world
  const configs = {
    ...{ 'cleanup.policy': 'compact', 'segment.ms': '1000', 'min.cleanable.dirty.ratio': '0.001' },
    'min.compaction.lag.ms': '86400000',
  }
  const start = Date.now()
  const generation = async (topic: string, number: number) => {
    const generate = { count: 30, keys: 30, valueBytes: 100, seed: number, timestamp: start + number * 10_000 }
    await sides.source.produce(topic, { batch: 7, codec: 'zstd', generate: { ...generate, timestampStep: 0 } })
  }
  // The log of the first mirror is one segment, which is never cleaned.
  const mirrors = new Map([
    ['cleaned-there', {}],
    ['cleaned-both', { 'segment.ms': '1000', 'min.cleanable.dirty.ratio': '0.001' }],
  ])
  for (const [topic, mirrorConfigs] of mirrors) {
    await sides.source.createTopic(topic, { configs })
    for (const number of [1, 2, 3, 4]) await generation(topic, number)
    await sides.source.produce(topic, { records: [{ key: 'key-3', value: null, timestamp: start + 50_000 }] })
    await link.mirror(topic, mirrorConfigs)
    await waitUntilInStep(sides, topic)
    await sides.source.alterConfigs(topic, { 'min.compaction.lag.ms': '0' })
    // Rolls, so that what is before can be cleaned.
    await generation(topic, 6)
    await waitUntilInStep(sides, topic)
  }
  await eventually(
    async () => {
      const found = await verify('cleaned-there')
      strictEqual(found.outcome, 'EQUAL', JSON.stringify(found.topics))
      const [partition] = found.topics[0]?.partitions ?? []
      strictEqual(partition?.method, 'RECORDS')
      ok(partition.records_only_at_mirror >= 90, 'the source has dropped what is older')
    },
    { timeoutMs: 240_000, intervalMs: 500 },
  )
  await eventually(
    async () => {
      const checkpoint = await readFile(join(sides.mirror.dataDirectory, 'cleaner-offset-checkpoint'), 'utf8')
      ok(Number(/^cleaned-both 0 (\d+)$/m.exec(checkpoint)?.[1]) > 0, 'the mirror was cleaned')
      const found = await verify('cleaned-both')
      strictEqual(found.outcome, 'EQUAL', JSON.stringify(found.topics))
    },
    { timeoutMs: 240_000, intervalMs: 500 },
  )
})

test('a verification outlives a restart of its source', { skip }, async () => {
  const { sides, link, cluster } = world
  await sides.source.createTopic('slow')
  await sides.source.produce('slow', { batch: 10, generate: { count: 3000, valueBytes: 1000, random: true } })
  await link.mirror('slow')
  await waitUntilInStep(sides, 'slow')
  const id = await begin({ mirror_topic_names: ['slow'], max_bytes_per_second: 500_000 })
  await cluster.node(1).kill()
  await cluster.node(1).start()
  const found = await ended(id)
  strictEqual(found.outcome, 'EQUAL', JSON.stringify(found.topics))
  await link.waitForState('ACTIVE')
})

test('a byte of a mirror that was altered under a right CRC is found where it is, and nothing else', {
  skip,
}, async () => {
  const { sides, link, node } = world
  for (const topic of ['damaged', 'intact']) {
    await sides.source.createTopic(topic)
    await sides.source.produce(topic, { batch: 10, generate: { count: 40, valueBytes: 100 } })
    await link.mirror(topic)
    await waitUntilInStep(sides, topic)
  }
  await node.stop()
  const offset = await alterSecondBatch(await sides.mirror.files('damaged', 0, ['.log']))
  await node.start()
  // The node that has just come back may not lead, or not reach the source, yet.
  const found = await eventually(async () => {
    const now = await verify('damaged', 'intact')
    strictEqual(now.outcome, 'DIFFERENT', JSON.stringify(now.topics))
    return now
  })
  const [damaged, intact] = ['damaged', 'intact'].map(name =>
    found.topics.find(topic => topic.mirror_topic_name === name),
  )
  strictEqual(damaged?.partitions[0]?.difference?.offset, offset)
  match(damaged.partitions[0]?.difference?.message ?? '', /is not the same at source and mirror: CRC/)
  strictEqual(intact?.partitions[0]?.state, 'EQUAL')
})

/** As a faulty disk would not do it: the CRC is right afterwards. Resolves to where the batch begins. */
async function alterSecondBatch(files: readonly string[]): Promise<number> {
  const log = await open(files[0] ?? '', 'r+')
  try {
    const bytes = await log.readFile()
    const [, batch] = batchesIn(bytes)
    ok(batch)
    const { position, sizeBytes, baseOffset } = batch
    const whole = bytes.subarray(position, position + sizeBytes)
    whole[sizeBytes - 5] = (whole[sizeBytes - 5] ?? 0) ^ 1
    whole.writeUInt32BE(crc32c(whole.subarray(21)), 17)
    await log.write(whole, 0, sizeBytes, position)
    return baseOffset
  } finally {
    await log.close()
  }
}

test('states and their reasons reach whoever listens, resumed or told that something was missed, and are kept', {
  skip,
}, async () => {
  const { link, node } = world
  const states = (listener: EventListener) =>
    listener.heard.flatMap(({ type, data }) =>
      type === 'state' && data['mirror_topic_name'] === 'intact' ? [data['mirror_status']] : [],
    )
  const first = new EventListener(node)
  try {
    await eventually(() => ok(first.heard.some(({ type }) => type === 'lag')))
    await link.must('pause', ['intact'])
    await eventually(() => strictEqual(states(first).at(-1), 'PAUSED'))
  } finally {
    first.close()
  }
  await link.must('resume', ['intact'])
  const second = new EventListener(node, first.lastId)
  try {
    await eventually(() => ok(states(second).includes('ACTIVE')))
    ok(!second.heard.some(({ type }) => type === 'missed'))
  } finally {
    second.close()
  }
  await node.crash()
  const third = new EventListener(node, first.lastId)
  try {
    await eventually(() => strictEqual(third.heard[0]?.type, 'missed'))
  } finally {
    third.close()
  }
  const history = (await link.history('intact')) as readonly { mirror_status: string; event: string }[]
  deepStrictEqual(
    history.slice(0, 3).map(({ mirror_status, event }) => [mirror_status, event]),
    [
      ['ACTIVE', 'resume'],
      ['PAUSED', 'pause'],
      ['ACTIVE', 'create'],
    ],
  )
})
