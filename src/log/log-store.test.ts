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

async function store(fs: MemoryFileSystem, more: { identity?: typeof identity; clock?: ManualClock } = {}) {
  return LogStore.open({
    directory: '/data',
    identity: more.identity ?? identity,
    clock: more.clock ?? new ManualClock(),
    logger: silentLogger,
    fs,
  })
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
