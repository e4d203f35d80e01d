/** The cleaner of a running node: producers write, consumers read and the node is killed while it cleans. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { eventually } from '../eventually.ts'
import { JavaDriver } from '../java/driver.ts'
import { skipWithoutJava } from '../kafka/jars.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { checkIndexes } from '../scenarios/logs.ts'
import { MirrorLink } from '../scenarios/mirror-link.ts'
import { TopicSide } from '../scenarios/topic-side.ts'

const skip = skipWithoutJava()
let java: JavaDriver

before(async () => {
  if (!skip) java = await JavaDriver.start({ version: '4.3.1' })
})
after(async () => {
  if (!skip) await java.close()
})

/** Key and value of the newest committed record of every key, by digest. */
async function newest(side: TopicSide, topic: string): Promise<{ byKey: Map<string, unknown>; records: number }> {
  const { records = [] } = (await side.consume(topic, { isolation: 'read_committed' }))[0] ?? {}
  return { byKey: new Map(records.map(([, , , key, value]) => [String(key), value])), records: records.length }
}

/** Cleaned up to the active segment. */
async function isCleaned(side: TopicSide, topic: string): Promise<void> {
  const active = Number((await side.files(topic, 0, ['.log'])).at(-1)?.slice(-24, -4))
  equal(await cleanedOffset(side, topic), active)
}

async function cleanedOffset(side: TopicSide, topic: string): Promise<number> {
  const checkpoint = await readFile(join(side.dataDirectory, 'cleaner-offset-checkpoint'), 'utf8')
  return Number(new RegExp(`^${topic} 0 (\\d+)$`, 'm').exec(checkpoint)?.[1] ?? -1)
}

test('a running node cleans beside producers and readers, through kills', { skip }, async () => {
  const node = await LockstepNode.start({ properties: { 'log.cleaner.backoff.ms': '50' } })
  try {
    const side = new TopicSide(java, node)
    const rolling = { 'segment.ms': '1000', 'min.cleanable.dirty.ratio': '0.01' }
    await side.createTopic('compacted', { configs: { ...rolling, 'cleanup.policy': 'compact' } })
    await side.createTopic('plain', { configs: { 'cleanup.policy': 'delete', 'retention.ms': '-1' } })
    const start = Date.now()
    for (let round = 0; round < 9; round++) {
      // A segment is rolled by what is later than its first.
      const generate = { count: 150, keys: 40, valueBytes: 100, timestamp: start + round * 10_000, timestampStep: 0 }
      const codec = (['none', 'zstd', 'gzip'] as const)[round % 3] ?? 'none'
      const end = round % 4 === 2 ? 'abort' : 'commit'
      for (const topic of ['plain', 'compacted']) {
        const args = { codec, batch: 20, generate: { ...generate, seed: round } }
        await side.produce(topic, round % 2 === 0 ? { ...args, transaction: { id: topic, end } } : args)
      }
      // The end of a transaction is acknowledged before its markers are written.
      await eventually(async () => {
        deepEqual((await newest(side, 'compacted')).byKey, (await newest(side, 'plain')).byKey, `round ${round}`)
      })
      if (round % 4 !== 3) continue
      await node.kill()
      await node.start()
    }
    await eventually(() => isCleaned(side, 'compacted'))
    const [compacted, plain] = [await newest(side, 'compacted'), await newest(side, 'plain')]
    deepEqual(compacted.byKey, plain.byKey)
    // The last two rounds may be in segments that were not closed yet.
    ok(compacted.records < plain.records / 2, `${compacted.records} of ${plain.records} records are left`)
    await node.stop()
    await checkIndexes(side, 'compacted', 0)
  } finally {
    await node.close()
  }
})

test('a mirror is cleaned by its own configs, goes on mirroring, and is writable after a failover', {
  skip,
}, async () => {
  const source = await LockstepNode.start({ properties: { 'log.cleaner.enable': 'false' } })
  const node = await LockstepNode.start({ properties: { 'log.cleaner.backoff.ms': '50' } }).catch(async error => {
    await source.close()
    throw error
  })
  try {
    const [there, here] = [new TopicSide(java, source), new TopicSide(java, node)]
    const rolling = { 'segment.ms': '1000', 'min.cleanable.dirty.ratio': '0.01' }
    await there.createTopic('orders', { configs: { ...rolling, 'cleanup.policy': 'compact' } })
    const { bootstrap, clusterId } = source
    const link = await MirrorLink.create(node, 'west', { bootstrap, clusterId })
    await link.mirror('orders', rolling)
    const start = Date.now()
    const produce = async (side: TopicSide, round: number) => {
      const generate = { count: 200, keys: 40, valueBytes: 100, timestamp: start + round * 10_000, timestampStep: 0 }
      const end = round % 3 === 1 ? 'abort' : 'commit'
      await side.produce('orders', { batch: 20, transaction: { id: 'p', end }, generate: { ...generate, seed: round } })
    }
    const same = () =>
      eventually(async () => {
        const [original, copy] = [await newest(there, 'orders'), await newest(here, 'orders')]
        deepEqual(copy.byKey, original.byKey)
        return { original: original.records, copy: copy.records }
      })
    for (let round = 0; round < 6; round++) {
      await produce(there, round)
      await same()
      if (round === 2) await node.kill().then(() => node.start())
      if (round === 4) await link.must('pause', ['orders']).then(() => link.must('resume', ['orders']))
    }
    await eventually(() => isCleaned(here, 'orders'))
    const left = await same()
    ok(left.copy < left.original, `${left.copy} of ${left.original} records are left`)
    await link.failOver(['orders'])
    const before = (await here.describe('orders')).partitions[0]?.highWatermark ?? 0
    await produce(here, 6)
    await eventually(async () => {
      equal((await here.describe('orders')).partitions[0]?.highWatermark, before + 201)
      equal((await newest(here, 'orders')).byKey.size, 40)
    })
  } finally {
    await node.close()
    await source.close()
  }
})

test('committed offsets outlive the cleaning of __consumer_offsets, and kills', { skip }, async () => {
  const topic = '__consumer_offsets'
  const node = await LockstepNode.start({
    properties: { 'log.cleaner.backoff.ms': '50', 'offsets.topic.num.partitions': '1' },
  })
  try {
    const side = new TopicSide(java, node)
    await side.createTopic('read', { partitions: 20 })
    const groups = <T>(args: object) => java.call<T>('admin-groups', { bootstrap: node.bootstrap, ...args })
    const commit = (group: string, n: number) => {
      const offsets = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`read-${index}`, n + index]))
      return groups({ op: 'alter-offsets', group, offsets })
    }
    await commit('kept', 0)
    await side.alterConfigs(topic, { 'segment.ms': '20', 'min.cleanable.dirty.ratio': '0.01' })
    for (let round = 1; round < 12; round++) {
      for (const group of ['kept', 'deleted']) await commit(group, round)
      if (round === 6) await node.kill().then(() => node.start())
    }
    await groups({ op: 'delete', groups: ['deleted'] })
    const end = (await side.describe(topic)).partitions[0]?.highWatermark ?? 0
    await eventually(async () => {
      // Segments end where a later one begins.
      await commit('kept', 100)
      ok((await cleanedOffset(side, topic)) > end)
    })
    const before = await groups<object>({ op: 'offsets', group: 'kept' })
    await node.kill()
    await node.start()
    deepEqual(await groups({ op: 'offsets', group: 'kept' }), before)
    ok(JSON.stringify(before).includes('119'), JSON.stringify(before))
    deepEqual(await groups({ op: 'offsets', group: 'deleted' }), {})
    const { records } = (await side.consume(topic))[0] ?? { records: [] }
    ok(records.length < end, `${records.length} of ${end} records are left`)
  } finally {
    await node.close()
  }
})
