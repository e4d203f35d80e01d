/** What the metadata log bears: rot below a snapshot, and a power failure within a command larger than a batch. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { MemoryFileSystem } from '../../log/fakes/memory-file-system.ts'
import { batchesIn } from '../../protocol/batches/batch-iteration.ts'
import { MetadataRecordType } from '../../protocol/metadata-records/registry.ts'
import { newTopic } from './fakes/cluster-images.ts'
import { openController } from './fakes/open-controller.ts'
import type { LocalController } from './local-controller.ts'
import { MetadataLog } from './metadata-log.ts'

const folder = '/data/__cluster_metadata-0'
const LOG = `${folder}/00000000000000000000.log`
const create = { validateOnly: false }

const open = (fs: MemoryFileSystem, properties: Record<string, string> = {}) => openController(fs, properties)

const names = (controller: LocalController) => [...controller.image.topicIds.keys()].sort()

/** A log of one segment with a snapshot somewhere in it, after a kill. Resolves to the offset that the snapshot covers. */
async function logWithSnapshot(fs: MemoryFileSystem): Promise<{ covered: number; topics: string[] }> {
  const controller = await open(fs, { 'metadata.log.max.record.bytes.between.snapshots': '300' })
  for (let i = 0; i < 12; i++) await controller.createTopics([newTopic(`topic-${i}`)], create)
  for (let turn = 0; turn < 200; turn++) await new Promise<void>(resolve => setImmediate(resolve))
  const topics = names(controller)
  await controller.close()
  const snapshots = ((await fs.list(folder)) ?? []).filter(name => name.endsWith('.checkpoint')).sort()
  return { covered: Number(snapshots.at(-1)?.slice(0, 20)), topics }
}

/** Flips a bit in the contents of the first batch whose end is above or not above the offset. */
async function rot(fs: MemoryFileSystem, covered: number, where: 'below' | 'above'): Promise<void> {
  const bytes = await fs.readFile(LOG)
  const hit = [...batchesIn(bytes)].find(({ lastOffset }) => lastOffset < covered === (where === 'below'))
  assert.ok(hit)
  const position = hit.position + hit.sizeBytes - 1
  await fs.file(LOG).write([Buffer.from([(bytes[position] ?? 0) ^ 0x10])], position)
}

test('rot in what the newest snapshot covers does not matter; above it the node refuses to start', async () => {
  const fs = new MemoryFileSystem()
  const { covered, topics } = await logWithSnapshot(fs)
  await rot(fs, covered, 'below')
  const again = await open(fs)
  assert.deepEqual(names(again), topics)
  await again.createTopics([newTopic('later')], create)
  await again.close()
  await rot(fs, covered, 'above')
  await assert.rejects(open(fs), /damaged at byte/)
})

test('a command of several batches has each of them on disk before the next, so that a torn one is the last', async () => {
  const fs = new MemoryFileSystem()
  const clock = new ManualClock()
  const segments = { bytes: 1 << 30, ms: 1_000_000 }
  const log = await MetadataLog.open({ directory: '/data', nodeId: 1, segments, fs, clock, logger: silentLogger })
  await log.startEpoch()
  const value = { resourceType: 2, resourceName: 't', name: 'x', value: 'v'.repeat(32_000) }
  const records = Array.from({ length: 150 }, () => ({ type: MetadataRecordType.Config, version: 0, value }) as const)
  const done: string[] = []
  fs.failWhen = ({ name, path }) => {
    if (path.endsWith('.log')) done.push(name)
    return undefined
  }
  const bytes = await log.append(records)
  assert.deepEqual([done, [...batchesIn(bytes)].length], [['write', 'sync', 'write', 'sync'], 2])
  await log.close()
})
