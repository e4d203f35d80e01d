/** Our log directories in front of Kafka's own tools: DumpLogSegments, with all its index checks, accepts what PartitionLog wrote. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { randomUuid } from '../../src/core/uuid.ts'
import { defaultLogConfig } from '../../src/log/log-config.ts'
import { LogStore } from '../../src/log/log-store.ts'
import type { PartitionLog } from '../../src/log/partition-log.ts'
import { tailExports } from '../../src/node/tail-exports.ts'
import { compressionNames } from '../../src/protocol/batches/batch-header.ts'
import { batchesIn } from '../../src/protocol/batches/batch-iteration.ts'
import { type BatchInput, buildBatch } from '../../src/protocol/batches/build-batch.ts'
import { buildEndMarker } from '../../src/protocol/batches/control-batch.ts'
import { JavaDriver } from '../java/driver.ts'
import { skipWithoutJava } from '../kafka/jars.ts'

const skip = skipWithoutJava()
const config = { ...defaultLogConfig, segmentBytes: 40_000, indexIntervalBytes: 512 }
let java: JavaDriver
let directory: string

before(async () => {
  if (skip) return
  java = await JavaDriver.start({ version: '4.3.1' })
  directory = await mkdtemp(join(tmpdir(), 'lockstep-log-'))
})
after(async () => {
  if (skip) return
  await java.close()
  await rm(directory, { recursive: true })
})

interface Dump {
  readonly output: string[]
  readonly problems: string
}

/** Writes a log with `fill`, closes it cleanly and lets Kafka judge every file. Answers what the log held. */
async function judged(topic: string, fill: (log: PartitionLog, store: LogStore) => Promise<void>): Promise<Dump> {
  const store = await LogStore.open({
    directory: join(directory, topic),
    identity: { clusterId: 'MkU3OEVBNTcwNTJENDM2Qk', nodeId: 1 },
    clock: systemClock,
    logger: silentLogger,
  })
  const log = await store.openLog({ topic, partition: 0, topicId: randomUuid(), config })
  await fill(log, store)
  const expected = await batchLines(store.log(topic, 0) ?? log)
  const { logStartOffset } = log
  await store.close()
  const files = await filesOf(log.directory)
  for (const option of ['--index-sanity-check', '--verify-index-only']) {
    const { problems } = await dump(files(/\.(index|timeindex)$/), [option])
    equal(problems, '', option)
  }
  const logs = files(/\.log$/)
  const printed = await dump(logs, ['--deep-iteration', '--print-data-log'])
  equal(printed.problems, '')
  const batches = await dump(logs, [])
  equal(batches.problems, '')
  // The first segment may begin below the log start.
  const readable = batchesPrinted(batches).filter(line => Number(line.split(' ')[1]) >= logStartOffset)
  deepEqual(readable, expected)
  const others = await dump(files(/\.(snapshot|txnindex)$/), [])
  equal(others.problems, '')
  const skipping = await dump(logs, ['--deep-iteration', '--skip-record-metadata', '--print-data-log'])
  equal(skipping.problems, '')
  return { output: [...printed.output, ...others.output], problems: '' }
}

async function filesOf(path: string): Promise<(pattern: RegExp) => string[]> {
  const names = (await readdir(path)).sort()
  return pattern => names.filter(name => pattern.test(name)).map(name => join(path, name))
}

/** A hole is no problem; the tool also reports one in front of every segment that does not begin at 0. */
async function dump(files: readonly string[], args: readonly string[]): Promise<Dump> {
  const { output, problems } = await java.call<Dump>('dump-log', { files, args })
  const hole = /^(Non-consecutive offsets in .*| +-?\d+ is followed by \d+)$/
  return {
    output,
    problems: problems
      .split('\n')
      .filter(line => !hole.test(line))
      .join('\n'),
  }
}

/** Every batch that can be read. */
async function batchLines(log: PartitionLog): Promise<string[]> {
  const lines: string[] = []
  let offset = log.logStartOffset
  while (offset < log.logEndOffset) {
    const read = await log.read({ offset, maxBytes: 100_000, maxOffset: log.logEndOffset, minOneBatch: true })
    ok(read.kind === 'batches')
    if (read.records.length === 0) break
    for (const batch of batchesIn(read.records)) {
      const { baseOffset, lastOffset, recordCount, leaderEpoch, producerId, crc } = batch
      lines.push(`${baseOffset} ${lastOffset} ${recordCount} ${leaderEpoch} ${producerId} ${crc}`)
    }
    offset = read.nextOffset
  }
  return lines
}

function batchesPrinted({ output }: Dump): string[] {
  return output.flatMap(line => {
    const word = (key: string) => new RegExp(`\\b${key}: (\\S+)`).exec(line)?.[1]
    if (!line.startsWith('baseOffset:')) return []
    ok(/isvalid: true/.test(line), line)
    const fields = ['baseOffset', 'lastOffset', 'count', 'partitionLeaderEpoch', 'producerId', 'crc']
    return [fields.map(word).join(' ')]
  })
}

const records = (count: number, timestamp: number, size = 100): BatchInput['records'] =>
  Array.from({ length: count }, (_, index) => ({
    timestamp: BigInt(timestamp + index),
    key: Buffer.from(`key-${index}`),
    value: Buffer.alloc(size, index),
    headers: [{ key: 'h', value: Buffer.from('v') }],
  }))

async function appendMirror(log: PartitionLog, ...batches: Buffer[]): Promise<void> {
  const options = { leaderEpoch: log.latestEpoch ?? 0, expectedEndOffset: log.logEndOffset }
  await log.appendMirror(Buffer.concat(batches), options)
}

test('a log of many segments with every codec, across restarts and epochs', { skip }, async () => {
  await judged('codecs', async log => {
    for (let round = 0; round < 300; round++) {
      const compression = compressionNames[round % compressionNames.length]
      const input = { records: records(1 + (round % 9), 1_700_000_000_000 + round * 7 - (round % 3) * 50) }
      const batch = buildBatch(compression ? { ...input, compression } : input)
      await log.appendAsLeader(batch, { leaderEpoch: Math.floor(round / 50) })
    }
  })
})

test('holes, a start inside a batch, timestamps of 1970 and of the far future, empty batches', { skip }, async () => {
  await judged('holes', async log => {
    await log.extendTo(1_000_000_007)
    await appendMirror(log, buildBatch({ baseOffset: 1_000_000_000, records: records(20, 0) }))
    equal(log.logStartOffset, 1_000_000_007)
    let offset = log.logEndOffset
    for (let round = 0; round < 400; round++) {
      const timestamp = round % 50 === 49 ? Number.MAX_SAFE_INTEGER : round
      const sparse = records(3, timestamp).map((record, index) => ({ ...record, offsetDelta: index * 4 }))
      const empty = { records: [], lastOffsetDelta: 6, emptyBatchTimestamp: BigInt(round), producerId: 7n }
      const batch = { baseOffset: offset + (round % 7), records: sparse }
      const next = buildBatch({ ...batch, baseOffset: offset + (round % 7) + 20, ...empty })
      await appendMirror(log, buildBatch(batch), next)
      offset = log.logEndOffset
    }
    await log.extendTo(offset + 5_000_000_000)
    await appendMirror(log, buildBatch({ baseOffset: offset + 5_000_000_000, records: records(3, 5) }))
  })
})

test('transactions: committed, aborted, open, over segments', { skip }, async () => {
  const { output } = await judged('transactions', async log => {
    const sequences = [0, 0, 0]
    for (let round = 0; round < 600; round++) {
      const producer = round % 3
      const producerId = BigInt(1000 + producer)
      const producerEpoch = 2
      const baseSequence = sequences[producer] ?? 0
      const data = { records: records(3, 1_700_000_000_000 + round), producerId, producerEpoch, baseSequence }
      const compression = producer === 1 ? 'lz4' : 'zstd'
      const batch = buildBatch({ ...data, compression, transactional: true })
      equal((await log.appendAsLeader(batch, { leaderEpoch: 4 })).kind, 'appended')
      sequences[producer] = baseSequence + 3
      if (round % 5 !== 4) continue
      const type = round % 2 === 0 ? 'abort' : 'commit'
      const marker = { type, producerId, producerEpoch, coordinatorEpoch: 9, offset: 0, leaderEpoch: 4 } as const
      await log.appendAsLeader(buildEndMarker({ ...marker, timestamp: BigInt(1_700_000_000_000 + round) }), {
        leaderEpoch: 4,
        origin: 'coordinator',
      })
    }
    equal(log.openTransactions().length > 0, true)
    equal((await log.abortedTransactions(0, log.logEndOffset)).length, 60)
  })
  equal(output.filter(line => line.includes('firstOffset: ') && line.includes('lastStableOffset: ')).length, 60)
  ok(output.some(line => line.includes('producerId: 1002') && line.includes('currentTxnFirstOffset: ')))
})

test('truncated, raised and continued logs', { skip }, async () => {
  await judged('cuts', async log => {
    for (let round = 0; round < 12; round++) {
      for (let batch = 0; batch < 60; batch++) {
        const input = { records: records(1 + (batch % 5), 1_700_000_000_000 + round * 1000 - batch * 3, 200) }
        await log.appendAsLeader(buildBatch(input), { leaderEpoch: round })
      }
      await log.truncateTo(log.logEndOffset - 35 - round)
      await log.assignEpochStart(round + 1, log.logEndOffset)
    }
    await log.raiseLogStartOffset(log.logEndOffset - 700)
  })
})

test('a log after a kill: indexes rebuilt by recovery', { skip }, async () => {
  await judged('recovered', async (log, store) => {
    for (let round = 0; round < 500; round++) {
      const batch = buildBatch({ records: records(1 + (round % 4), 1_700_000_000_000 + (round % 17) * 100) })
      await log.appendAsLeader(batch, { leaderEpoch: 0 })
    }
    await store.reopenLog({ topic: 'recovered', partition: 0, config })
  })
})

test('batches larger than a segment', { skip }, async () => {
  await judged('large', async log => {
    for (const size of [50, 200_000, 50, 3_000_000, 50, 50]) {
      await log.appendAsLeader(buildBatch({ records: records(2, 1_700_000_000_000, size) }), { leaderEpoch: 0 })
    }
  })
})

test('what a restore exports is a segment for Kafka', { skip }, async () => {
  const plain = buildBatch({ baseOffset: 8, leaderEpoch: 2, compression: 'zstd', records: records(3, 1000) })
  const producer = { producerId: 7n, producerEpoch: 0 }
  const paid = { baseOffset: 20, leaderEpoch: 2, ...producer, baseSequence: 0, transactional: true }
  const marker = { ...producer, coordinatorEpoch: 1, offset: 22, timestamp: 3000n, leaderEpoch: 3 }
  const batches = [
    plain,
    buildBatch({ ...paid, records: records(2, 2000) }),
    buildEndMarker({ type: 'abort', ...marker }),
  ]
  const tail = { topic: 'orders', partition: 0, baseOffset: 8, timeMs: Date.UTC(2026, 10, 30) }
  const exports = tailExports(join(directory, 'exports'))
  const file = await exports.create(tail)
  for (const batch of batches) await file.append(batch)
  await file.close()
  const { output, problems } = await dump([exports.pathOf(tail)], ['--deep-iteration', '--print-data-log'])
  equal(problems, '')
  const offsets = output.flatMap(line => /^\| offset: (\d+) /.exec(line)?.[1] ?? [])
  deepEqual(offsets, ['8', '9', '10', '20', '21', '22'])
  equal(output.filter(line => line.includes('endTxnMarker: ABORT')).length, 1)
})
