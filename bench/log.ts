/** How fast one partition's log takes and gives batches, on the disk of the temporary directory: `npm run bench:log`. */
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { systemClock } from '../src/core/clock.ts'
import { silentLogger } from '../src/core/logger.ts'
import { defaultLogConfig } from '../src/log/log-config.ts'
import { PartitionLog } from '../src/log/partition-log.ts'
import { nextBatchPosition } from '../src/protocol/batches/batch-iteration.ts'
import { recordCountAt, stampBaseOffset } from '../src/protocol/batches/batch-layout.ts'
import { buildBatch } from '../src/protocol/batches/build-batch.ts'

const { values: given } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    /** Of each measurement. */
    megabytes: { type: 'string' },
    /** Median of so many. */
    rounds: { type: 'string' },
  },
})
const bytesWanted = Number(given.megabytes ?? (given.quick ? 64 : 512)) * 1e6
const rounds = Number(given.rounds ?? (given.quick ? 1 : 5))

const RECORD_BYTES = 1000
/** What a fetch brings of one partition, and what a reader asks for. */
const SLICE_BYTES = 1024 * 1024
/** Appends under way at a time, as of as many clients. */
const CLIENTS = 16
const LEADER_EPOCH = 0

interface Measured {
  readonly megabytesPerSecond: number
  readonly cpuSecondsPerGigabyte: number
}

console.log('median of', rounds, 'rounds of', bytesWanted / 1e6, 'MB; files in', tmpdir())
for (const recordsPerBatch of [1, 64]) {
  const batch = batchOf(recordsPerBatch)
  const measured = new Map<string, Measured[]>()
  for (let round = 0; round < rounds; round++)
    for (const [what, figures] of await measureLog(batch)) measured.set(what, [...(measured.get(what) ?? []), figures])
  for (const [what, figures] of measured) {
    const speed = median(figures.map(figure => figure.megabytesPerSecond))
    const cost = median(figures.map(figure => figure.cpuSecondsPerGigabyte))
    console.log(`${recordsPerBatch} KB batches, ${what}: ${speed.toFixed(0)} MB/s, ${cost.toFixed(2)} CPU s/GB`)
  }
}

/** Everything appended is flushed before the time ends; what is read comes from the system's cache. */
async function measureLog(batch: Buffer): Promise<Map<string, Measured>> {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-bench-log-'))
  const led = await openLog(join(folder, 'led-0'))
  const mirrored = await openLog(join(folder, 'mirrored-0'))
  try {
    return new Map([
      ['append as leader', await measure(() => appendAsLeader(led, batch))],
      ['append as mirror', await measure(() => appendAsMirror(mirrored, batch))],
      ['read', await measure(() => readAll(mirrored))],
    ])
  } finally {
    await led.close()
    await mirrored.close()
    await rm(folder, { recursive: true })
  }
}

/** A batch per append. */
async function appendAsLeader(log: PartitionLog, batch: Buffer): Promise<number> {
  const bytes = Math.ceil(bytesWanted / batch.length) * batch.length
  let left = bytes
  const client = async () => {
    const own = Buffer.from(batch)
    while (left > 0) {
      left -= own.length
      await log.appendAsLeader(own, { leaderEpoch: LEADER_EPOCH })
    }
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  await log.flush()
  return bytes
}

/** A slice per append. */
async function appendAsMirror(log: PartitionLog, batch: Buffer): Promise<number> {
  const slice = Buffer.concat(Array.from({ length: Math.ceil(SLICE_BYTES / batch.length) }, () => batch))
  const records = recordCountAt(batch, 0)
  let bytes = 0
  while (bytes < bytesWanted) {
    const expectedEndOffset = log.logEndOffset
    let offset = expectedEndOffset
    for (let at = 0; at < slice.length; at = nextBatchPosition(slice, at), offset += records)
      stampBaseOffset(slice, at, offset)
    await log.appendMirror(slice, { leaderEpoch: LEADER_EPOCH, expectedEndOffset })
    bytes += slice.length
  }
  await log.flush()
  return bytes
}

async function readAll(log: PartitionLog): Promise<number> {
  let bytes = 0
  for (let offset = log.logStartOffset; offset < log.logEndOffset; ) {
    const maxOffset = log.logEndOffset
    const result = await log.read({ offset, maxBytes: SLICE_BYTES, maxOffset, minOneBatch: true })
    if (result.kind !== 'batches') throw new Error(`offset ${offset} cannot be read`)
    bytes += result.records.length
    offset = result.nextOffset
  }
  return bytes
}

async function measure(work: () => Promise<number>): Promise<Measured> {
  const beganMs = performance.now()
  const before = process.cpuUsage()
  const bytes = await work()
  const { user, system } = process.cpuUsage(before)
  return {
    megabytesPerSecond: bytes / 1000 / (performance.now() - beganMs),
    cpuSecondsPerGigabyte: ((user + system) * 1000) / bytes,
  }
}

function openLog(directory: string): Promise<PartitionLog> {
  return PartitionLog.open({
    directory,
    topic: 'bench',
    partition: 0,
    config: defaultLogConfig,
    clock: systemClock,
    logger: silentLogger,
    recover: false,
  })
}

/** Uncompressed, of random bytes. */
function batchOf(recordsPerBatch: number): Buffer {
  const timestamp = BigInt(Date.now())
  const record = { timestamp, key: null, value: randomBytes(RECORD_BYTES) }
  return buildBatch({
    records: Array.from({ length: recordsPerBatch }, (_, offsetDelta) => ({ ...record, offsetDelta })),
  })
}

function median(figures: readonly number[]): number {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN
}
