/** The checkpoint of Kafka's cleaner: kept for a Kafka that takes the directory over, and never above what it would find. */
import { strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../core/clock.ts'
import { silentLogger } from '../core/logger.ts'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { MemoryFileSystem } from './fakes/memory-file-system.ts'
import { saveFile } from './file-system.ts'
import { defaultLogConfig as config } from './log-config.ts'
import { LogStore } from './log-store.ts'
import type { PartitionLog } from './partition-log.ts'

const CLEANED = '/data/cleaner-offset-checkpoint'
const identity = { clusterId: 'c', nodeId: 1 }

const storeOn = (fs: MemoryFileSystem) =>
  LogStore.open({ directory: '/data', identity, clock: new ManualClock(), logger: silentLogger, fs })
const open = (store: LogStore, partition = 0) => store.openLog({ topic: 'orders', partition, config })
const text = async (fs: MemoryFileSystem, path = CLEANED) => (await fs.readFile(path)).toString()

async function append(log: PartitionLog, records: number): Promise<void> {
  for (let i = 0; i < records; i++) {
    const batch = buildBatch({ records: [{ timestamp: 1n, key: Buffer.from('k'), value: Buffer.alloc(10) }] })
    await log.appendAsLeader(batch, { leaderEpoch: 0 })
  }
  await log.flush()
}

/** A directory with `orders-0` and `orders-1` of ten records each, stopped cleanly, with the cleaner's file as Kafka writes it. */
async function fromKafka(cleaned: string): Promise<MemoryFileSystem> {
  const fs = new MemoryFileSystem()
  const store = await storeOn(fs)
  for (const partition of [0, 1]) await append(await open(store, partition), 10)
  await store.close()
  await saveFile(fs, CLEANED, cleaned)
  return fs
}

test("the cleaner's offsets stay as Kafka wrote them while the logs only grow", async () => {
  const written = '0\n2\norders 1 10\norders 0 7\n'
  const fs = await fromKafka(written)
  const store = await storeOn(fs)
  await append(await open(store), 5)
  await (await open(store)).raiseLogStartOffset(3)
  await (await open(store)).extendTo(40)
  await open(store, 1)
  await store.close()
  strictEqual(await text(fs), written)
})

test('no file of the cleaner appears where Kafka left none', async () => {
  const fs = new MemoryFileSystem()
  const store = await storeOn(fs)
  const log = await open(store)
  await append(log, 5)
  await log.truncateTo(2)
  await store.deleteLog('orders', 0)
  await store.close()
  strictEqual(await fs.sizeOf(CLEANED), undefined)
})

test('what the directory does not hold is forgotten at the start', async () => {
  const fs = await fromKafka('0\n3\ngone 4 12\norders 0 7\n__consumer_offsets 49 1203\n')
  await saveFile(fs, '/data/log-start-offset-checkpoint', '0\n2\ngone 4 5000\norders 0 3\n')
  const store = await storeOn(fs)
  strictEqual(await text(fs), '0\n1\norders 0 7\n')
  strictEqual((await open(store)).logStartOffset, 3)
  strictEqual((await store.openLog({ topic: 'gone', partition: 4, config })).logStartOffset, 0)
})

test('a deleted log and one that was set aside leave no offsets behind', async () => {
  const fs = await fromKafka('0\n2\norders 0 7\norders 1 8\n')
  await saveFile(fs, '/data/log-start-offset-checkpoint', '0\n1\norders 1 6\n')
  const store = await storeOn(fs)
  await store.setAside('orders', 1)
  strictEqual(await text(fs), '0\n1\norders 0 7\n')
  strictEqual((await open(store, 1)).logStartOffset, 0)
  await store.deleteLog('orders', 0)
  strictEqual(await text(fs), '0\n0\n')
})

test('a truncation below a cleaned offset lowers it, durably before anything is appended again', async () => {
  const fs = await fromKafka('0\n2\norders 0 7\norders 1 7\n')
  const store = await storeOn(fs)
  const [cut, above] = [await open(store), await open(store, 1)]
  await above.truncateTo(8)
  await cut.truncateTo(4)
  strictEqual(await text(fs), '0\n2\norders 0 4\norders 1 7\n')
  await append(cut, 20)
  await store.close()
  strictEqual(await text(fs), '0\n2\norders 0 4\norders 1 7\n')
})

test('nothing counts as cleaned in a log that begins anew, before, inside or behind what it was', async () => {
  for (const offset of [0, 5, 100]) {
    const fs = await fromKafka('0\n1\norders 0 7\n')
    const store = await storeOn(fs)
    const log = await open(store)
    await log.truncateFullyAndStartAt(offset)
    strictEqual(await text(fs), '0\n0\n')
    await append(log, 20)
    await store.close()
    strictEqual(await text(fs), '0\n0\n')
  }
})

test('an empty log that is extended has nothing cleaned', async () => {
  const fs = await fromKafka('0\n0\n')
  const first = await storeOn(fs)
  await (await open(first)).truncateFullyAndStartAt(20)
  await first.close()
  await saveFile(fs, CLEANED, '0\n1\norders 0 20\n')
  const log = await open(await storeOn(fs))
  await log.extendTo(30)
  strictEqual(await text(fs), '0\n0\n')
})

test('what recovery cuts counts as cleaned no more once the log is open', async () => {
  const fs = await fromKafka('0\n1\norders 0 7\n')
  await fs.remove('/data/.kafka_cleanshutdown')
  await fs.remove('/data/recovery-point-offset-checkpoint')
  const path = '/data/orders-0/00000000000000000000.log'
  const sizeBytes = (await fs.sizeOf(path)) ?? 0
  await fs.file(path).truncate((sizeBytes / 10) * 4 + 5)
  const log = await open(await storeOn(fs))
  strictEqual(log.logEndOffset, 4)
  strictEqual(await text(fs), '0\n1\norders 0 4\n')
})

test("a damaged file of the cleaner counts as empty, and stays for Kafka's own check until something changes", async () => {
  const fs = await fromKafka('0\n3\norders 0 7\n')
  const store = await storeOn(fs)
  await (await open(store)).truncateTo(2)
  await store.close()
  strictEqual(await text(fs), '0\n3\norders 0 7\n')
})
