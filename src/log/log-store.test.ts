/** A data directory: identity, clean and unclean stops, checkpoints, deletion. */
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../core/clock.ts'
import { silentLogger } from '../core/logger.ts'
import { seededRandom } from '../core/random.ts'
import { randomUuid } from '../core/uuid.ts'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { MemoryFileSystem } from './fakes/memory-file-system.ts'
import { defaultLogConfig as config } from './log-config.ts'
import { LogStore } from './log-store.ts'
import type { PartitionLog } from './partition-log.ts'

const topicId = randomUuid()
const identity = { clusterId: 'MkU3OEVBNTcwNTJENDM2Qk', nodeId: 3 }

async function store(
  fs: MemoryFileSystem,
  more: { identity?: typeof identity; clock?: ManualClock; foreignTopics?: string[] } = {},
) {
  return LogStore.open({ directory: '/data', identity, clock: new ManualClock(), logger: silentLogger, fs, ...more })
}

const open = (from: LogStore, partition = 0) => from.openLog({ topic: 'orders', partition, topicId, config })
const append = (log: PartitionLog) =>
  log.appendAsLeader(buildBatch({ records: [{ timestamp: 1n, key: null, value: Buffer.alloc(10) }] }), {
    leaderEpoch: 0,
  })

test('a new directory gets an identity that later starts must match', async () => {
  const fs = new MemoryFileSystem()
  const first = await store(fs)
  await first.close()
  const text = (await fs.readFile('/data/meta.properties')).toString()
  strictEqual(/^version=1$/m.test(text) && /^node.id=3$/m.test(text), true)
  strictEqual((await store(fs)).directoryId, first.directoryId)
  await rejects(store(fs, { identity: { ...identity, nodeId: 4 } }), { name: 'LogError', kind: 'identity' })
  await rejects(store(fs, { identity: { ...identity, clusterId: 'other' } }), { kind: 'identity' })
})

test('only a clean stop leaves the marker, with the broker epoch, and only until the next start', async () => {
  const fs = new MemoryFileSystem()
  const first = await store(fs)
  deepStrictEqual(first.previousStop, { clean: false, brokerEpoch: undefined })
  await append(await open(first))
  await first.close({ brokerEpoch: 77 })
  strictEqual((await fs.readFile('/data/.kafka_cleanshutdown')).toString(), '{"version":0,"brokerEpoch":77}')
  deepStrictEqual((await store(fs)).previousStop, { clean: true, brokerEpoch: 77 })
  deepStrictEqual((await store(fs)).previousStop, { clean: false, brokerEpoch: undefined })
})

test('a stop is not clean while a log from before a crash was never opened', async () => {
  const fs = new MemoryFileSystem()
  const crashed = await store(fs)
  await append(await open(crashed))
  fs.kill()
  await (await store(fs)).close()
  strictEqual((await store(fs)).previousStop.clean, false)
})

// After a kill -9, no stop was clean again: the metadata log, which the controller opens, counted as never verified.
test('a stop is clean though the directory holds logs that others open, or that were set aside', async () => {
  const fs = new MemoryFileSystem()
  const crashed = await store(fs)
  await open(crashed)
  await crashed.openLog({ topic: '__cluster_metadata', partition: 0, config })
  await crashed.openLog({ topic: 'gone', partition: 7, config })
  fs.kill()
  const next = await store(fs, { foreignTopics: ['__cluster_metadata'] })
  deepStrictEqual(await next.partitions(), [
    { topic: 'orders', partition: 0, topicId },
    { topic: 'gone', partition: 7, topicId: undefined },
  ])
  strictEqual(/^\/data\/gone-7\.[0-9a-f]{32}-stray$/.test(await next.setAside('gone', 7)), true)
  await open(next)
  await next.close()
  const last = await store(fs, { foreignTopics: ['__cluster_metadata'] })
  strictEqual(last.previousStop.clean, true)
  deepStrictEqual(await last.partitions(), [{ topic: 'orders', partition: 0, topicId }])
})

test('what was recovered once is not made durable again, nor is what nobody touched', async () => {
  const fs = new MemoryFileSystem()
  const crashed = await store(fs)
  for (let partition = 0; partition < 5; partition++) {
    const log = await open(crashed, partition)
    await append(log)
    await log.flush()
  }
  fs.kill()
  const syncsOf = async (work: () => Promise<unknown>) => {
    const before = fs.syncs
    await work()
    return fs.syncs - before
  }
  const openAll = async (from: LogStore) => {
    for (let partition = 0; partition < 5; partition++) {
      const log = await open(from, partition)
      await log.assignEpochStart((log.latestEpoch ?? 0) + 1, log.logEndOffset)
    }
  }
  const clock = new ManualClock()
  const first = await store(fs, { clock })
  await openAll(first)
  await clock.advance(5_000)
  fs.kill()
  const second = await store(fs)
  strictEqual(await syncsOf(() => openAll(second)), 0)
  await second.close()
  const third = await store(fs)
  strictEqual(await syncsOf(() => openAll(third)), 0)
  // The marker of a clean stop.
  strictEqual(await syncsOf(() => third.close()), 1)
})

test('partitions on disk are listed with their topic ids', async () => {
  const fs = new MemoryFileSystem()
  const first = await store(fs)
  await open(first)
  await first.openLog({ topic: 'a-b.c_d-1', partition: 12, config })
  deepStrictEqual(await first.partitions(), [
    { topic: 'orders', partition: 0, topicId },
    { topic: 'a-b.c_d-1', partition: 12, topicId: undefined },
  ])
})

test('a log of another topic id is refused', async () => {
  const fs = new MemoryFileSystem()
  const first = await store(fs)
  await open(first)
  await first.close()
  const other = { topic: 'orders', partition: 0, topicId: randomUuid(), config }
  await rejects((await store(fs)).openLog(other), { kind: 'topic-id' })
})

test('a deleted log is gone, and what a crash leaves of it goes at the next start', async () => {
  const fs = new MemoryFileSystem()
  const first = await store(fs)
  await append(await open(first))
  await open(first, 1)
  await first.deleteLog('orders', 1)
  strictEqual(first.log('orders', 1), undefined)
  deepStrictEqual(
    (await first.partitions()).map(({ partition }) => partition),
    [0],
  )
  let removed: string | undefined
  fs.failWhen = ({ name, path }) => {
    if (name !== 'remove' || !path.endsWith('-delete')) return undefined
    removed = path
    return new Error('killed')
  }
  await rejects(first.deleteLog('orders', 0))
  fs.failWhen = () => undefined
  fs.kill()
  strictEqual(/^\/data\/orders-0\.[0-9a-f]{32}-delete$/.test(removed ?? ''), true)
  await store(fs)
  deepStrictEqual(
    (await fs.list('/data'))?.filter(name => name.includes('orders')),
    [],
  )
})

test('a new log of the same name inherits nothing', async () => {
  const fs = new MemoryFileSystem()
  const first = await store(fs)
  const log = await open(first)
  await log.truncateFullyAndStartAt(5000)
  await append(log)
  await log.flush()
  await first.saveCheckpoints()
  await first.deleteLog('orders', 0)
  await append(await open(first))
  fs.crash(seededRandom(3))
  strictEqual((await open(await store(fs))).logStartOffset, 0)
})

test('a raised log start and the high watermark survive a crash once checkpointed', async () => {
  const fs = new MemoryFileSystem()
  const clock = new ManualClock()
  const first = await store(fs, { clock })
  const log = await open(first)
  for (let i = 0; i < 10; i++) await append(log)
  await log.flush()
  await log.raiseLogStartOffset(7)
  first.noteHighWatermark(log, 9)
  await clock.advance(5000)
  await new Promise(resolve => setImmediate(resolve))
  fs.crash(seededRandom(1))
  const second = await store(fs)
  strictEqual((await open(second)).logStartOffset, 7)
  strictEqual(second.savedHighWatermark('orders', 0), 9)
  const text = (await fs.readFile('/data/log-start-offset-checkpoint')).toString()
  strictEqual(text, '0\n1\norders 0 7\n')
})

test('a failed log comes back by reopening it', async () => {
  const fs = new MemoryFileSystem()
  const first = await store(fs)
  const log = await open(first)
  await append(log)
  await log.flush()
  await append(log)
  fs.failWhen = ({ name }) => (name === 'sync' ? new Error('EIO') : undefined)
  await rejects(log.flush(), { kind: 'storage', failed: true })
  fs.failWhen = () => undefined
  await rejects(append(log), { failed: true })
  const again = await first.reopenLog({ topic: 'orders', partition: 0, topicId, config })
  strictEqual(again.logEndOffset, 2)
  await append(again)
  await first.close()
  strictEqual((await store(fs)).previousStop.clean, true)
})
