/** Producers that a log forgot stay forgotten, whatever happens to it. */
import { strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../core/clock.ts'
import { silentLogger } from '../core/logger.ts'
import { buildBatch } from '../protocol/batches/build-batch.ts'
import { MemoryFileSystem } from './fakes/memory-file-system.ts'
import { defaultLogConfig } from './log-config.ts'
import { PartitionLog } from './partition-log.ts'

const openLog = (fs: MemoryFileSystem, recover = true): Promise<PartitionLog> =>
  PartitionLog.open({
    directory: '/data/t-0',
    topic: 't',
    partition: 0,
    config: defaultLogConfig,
    clock: new ManualClock(),
    logger: silentLogger,
    fs,
    recover,
  })

const firstOf = (producerId: bigint) =>
  buildBatch({
    producerId,
    producerEpoch: 0,
    baseSequence: 0,
    records: [{ timestamp: 1000n, key: null, value: Buffer.from('v') }],
  })

/** Whether the first batch of this producer counts as a new one. */
const outcomeOf = async (log: PartitionLog, producerId: bigint) =>
  (await log.appendAsLeader(firstOf(producerId), { leaderEpoch: 0 })).kind

/** A log in which producer 7 has written one batch. */
async function mirrored(fs: MemoryFileSystem): Promise<PartitionLog> {
  const log = await openLog(fs)
  await log.appendMirror(firstOf(7n), { leaderEpoch: 0, expectedEndOffset: 0 })
  return log
}

test('forgotten producers stay forgotten after a clean stop and after a crash, also one after further appends', async () => {
  for (const end of ['closed', 'killed', 'killed after more'] as const) {
    const fs = new MemoryFileSystem()
    const log = await mirrored(fs)
    await log.forgetProducers()
    await log.forgetProducers()
    await log.flush()
    if (end === 'killed after more') for (const producerId of [8n, 9n]) await outcomeOf(log, producerId)
    if (end === 'closed') await log.close()
    else fs.kill()
    const again = await openLog(fs, end !== 'closed')
    strictEqual(again.maxProducerId, end === 'killed after more' ? 9n : 7n)
    strictEqual(await outcomeOf(again, 7n), 'appended', end)
    if (end === 'killed after more') strictEqual(await outcomeOf(again, 9n), 'duplicate')
    await again.close()
  }
})

test('before a flush a crash brings them back, and forgetting them again lasts', async () => {
  const fs = new MemoryFileSystem()
  const log = await mirrored(fs)
  await log.forgetProducers()
  fs.kill()
  const again = await openLog(fs)
  strictEqual(await outcomeOf(again, 7n), 'duplicate')
  await again.forgetProducers()
  await again.flush()
  fs.kill()
  const last = await openLog(fs)
  strictEqual(await outcomeOf(last, 7n), 'appended')
  await last.close()
})

test('a log without producers needs no space to forget them', async () => {
  const fs = new MemoryFileSystem()
  const log = await openLog(fs)
  const bytes = buildBatch({ records: [{ timestamp: 1n, key: null, value: null }] })
  await log.appendMirror(bytes, { leaderEpoch: 0, expectedEndOffset: 0 })
  await log.flush()
  fs.failWhen = ({ name }) => (name === 'create' || name === 'write' ? new Error('ENOSPC') : undefined)
  await log.forgetProducers()
  await log.flush()
  fs.failWhen = () => undefined
  await log.close()
})
