/** Our log and Kafka's UnifiedLog take turns on the same directories: each opens, reads and continues what the other wrote. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { systemClock } from '../../src/core/clock.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { randomUuid } from '../../src/core/uuid.ts'
import { defaultLogConfig } from '../../src/log/log-config.ts'
import { PartitionLog } from '../../src/log/partition-log.ts'
import { buildBatch } from '../../src/protocol/batches/build-batch.ts'
import { buildEndMarker } from '../../src/protocol/batches/control-batch.ts'
import { untilProducerReturns } from '../../src/replica/leading/follower-answer.ts'
import { JavaDriver } from '../java/driver.ts'
import { skipWithoutJava } from '../kafka/jars.ts'

const skip = skipWithoutJava()
// Kafka's own lower bound for segment.bytes is 1 MiB, ours is for whoever sets it.
const config = { ...defaultLogConfig, segmentBytes: 1_048_576, indexIntervalBytes: 1024 }
const configs = { 'segment.bytes': '1048576', 'index.interval.bytes': '1024', 'retention.ms': '-1' }
const topicId = randomUuid()
const NOW = Date.now()
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

const open = (topic: string, more: { recover?: boolean } = {}): Promise<PartitionLog> =>
  PartitionLog.open({
    directory: join(directory, `${topic}-0`),
    topic,
    partition: 0,
    topicId,
    config,
    clock: systemClock,
    logger: silentLogger,
    recover: more.recover ?? false,
  })

const timestamps = [0, NOW + 100, NOW + 5000, NOW + 1_000_000_000]

/** What the command open-log answers; ours in the same shape. */
async function seenByUs(log: PartitionLog): Promise<object> {
  const aborted = await log.abortedTransactions(log.logStartOffset, log.logEndOffset)
  const times = timestamps.map(async timestamp => (await log.offsetForTimestamp(BigInt(timestamp)))?.offset ?? -1)
  return {
    logStartOffset: log.logStartOffset,
    logEndOffset: log.logEndOffset,
    lastStableOffset: log.lastStableOffset(log.logEndOffset),
    sizeBytes: log.sizeBytes,
    topicId: log.topicId,
    producers: [...log.producers()]
      .sort((a, b) => Number(a.producerId - b.producerId))
      .map(producer => [
        Number(producer.producerId),
        producer.producerEpoch,
        producer.lastBatch?.lastSequence ?? -1,
        Number(producer.lastTimestamp),
        producer.coordinatorEpoch,
        producer.transactionFirstOffset,
      ]),
    aborted: aborted.map(transaction => Object.values(transaction).map(Number)),
    times: await Promise.all(times),
  }
}

async function seenByKafka(topic: string, more: object = {}): Promise<Record<string, unknown>> {
  const args = { directory: join(directory, `${topic}-0`), clean: true, configs, timestamps, ...more }
  return java.call<Record<string, unknown>>('open-log', args)
}

/** What both can be asked. */
function comparable({ segments: _segments, epochs: _epochs, ...seen }: Record<string, unknown>): object {
  return seen
}

/** Plain, idempotent and transactional batches of about 3 KB, markers between them. */
async function fill(log: PartitionLog, from: number, to: number): Promise<void> {
  for (let round = from; round < to; round++) {
    const producer = round % 4
    const timestamp = NOW + round * 10
    const records = [0, 1, 2].map(index => ({
      timestamp: BigInt(timestamp + index),
      key: Buffer.from(`k${index}`),
      value: Buffer.alloc(1000, round),
    }))
    const state = { producerId: BigInt(100 + producer), producerEpoch: 1, baseSequence: Math.floor(round / 4) * 3 }
    const transactional = producer > 1
    const batch = buildBatch(producer === 0 ? { records } : { records, ...state, transactional })
    const leaderEpoch = Math.floor(round / 700)
    const result = await log.appendAsLeader(batch, { leaderEpoch })
    equal(result.kind, 'appended')
    if (!transactional || round % 12 < 8) continue
    const type = round % 24 < 12 ? 'abort' : 'commit'
    const marker = {
      ...state,
      type,
      coordinatorEpoch: 3,
      offset: 0,
      timestamp: BigInt(timestamp),
      leaderEpoch,
    } as const
    await log.appendAsLeader(buildEndMarker(marker), { leaderEpoch, origin: 'coordinator' })
  }
}

test('Kafka opens a log that we closed and sees what we saw', { skip }, async () => {
  const log = await open('ours')
  await fill(log, 0, 2000)
  const ours = await seenByUs(log)
  await log.close()
  const seen = await seenByKafka('ours')
  ok((seen['segments'] as unknown[]).length > 5)
  deepEqual(comparable(seen), ours)
  const starts = [0, log.endOffsetForEpoch(0).endOffset, log.endOffsetForEpoch(1).endOffset]
  deepEqual(
    seen['epochs'],
    starts.map((startOffset, epoch) => [epoch, startOffset]),
  )
})

test('Kafka recovers a log that we did not close and sees what we saw', { skip }, async () => {
  const log = await open('killed')
  await fill(log, 0, 1000)
  // A process that was killed writes no more.
  await log.flush()
  deepEqual(comparable(await seenByKafka('killed', { clean: false })), await seenByUs(log))
})

test('we open a log that Kafka continued and closed, and see what it saw', { skip }, async () => {
  const log = await open('continued')
  await fill(log, 0, 800)
  await log.close()
  const end = log.logEndOffset
  const batches = Array.from({ length: 600 }, (_, index) =>
    buildBatch({
      baseOffset: end + 50 + index * 7,
      leaderEpoch: 9,
      producerId: 555n,
      producerEpoch: 0,
      baseSequence: index,
      records: [{ timestamp: BigInt(NOW + 100_000 + index), key: null, value: Buffer.alloc(2000) }],
    }),
  )
  const append = Buffer.concat(batches.slice(0, 400)).toString('base64')
  const seen = await seenByKafka('continued', { append, epoch: 9 })
  const again = await open('continued')
  deepEqual(await seenByUs(again), comparable(seen))
  equal(again.latestEpoch, 9)
  const more = { leaderEpoch: 9, expectedEndOffset: again.logEndOffset }
  await again.appendMirror(Buffer.concat(batches.slice(400)), more)
  const ours = await seenByUs(again)
  await again.close()
  deepEqual(comparable(await seenByKafka('continued')), ours)
})

test('both truncate to the same state', { skip }, async () => {
  const logs = await Promise.all(['cut-by-us', 'cut-by-kafka'].map(topic => open(topic)))
  for (const log of logs) await fill(log, 0, 1200)
  const offset = (logs[0]?.logEndOffset ?? 0) - 1501
  const place = await logs[0]?.read({ offset, maxBytes: 1, maxOffset: offset + 100, minOneBatch: true })
  ok(place?.kind === 'batches')
  // Batch boundaries only: within a batch Kafka's log end and its batches part.
  const boundary = place.nextOffset
  await logs[0]?.truncateTo(boundary)
  for (const log of logs) await log.close()
  const byKafka = await seenByKafka('cut-by-kafka', { truncateTo: boundary })
  const byUs = await seenByKafka('cut-by-us')
  deepEqual(comparable(byUs), comparable(byKafka))
  deepEqual(byUs['epochs'], byKafka['epochs'])
})

// Kafka takes what lies below the first transaction of another producer for decided, also where the same producer began again
// in the answer: readers of offset 2 would be told of no aborted transaction. A Kafka that does not needs shorter answers no more.
test('a follower indexes aborted transactions rightly if its answers end where a producer returns', {
  skip,
}, async () => {
  const data = (producerId: bigint, baseOffset: number, baseSequence: number) =>
    buildBatch({
      ...{ baseOffset, leaderEpoch: 0, producerId, producerEpoch: 0, baseSequence, transactional: true },
      records: [{ timestamp: BigInt(NOW), key: null, value: Buffer.from('v') }],
    })
  const abort = (producerId: bigint, offset: number) =>
    buildEndMarker({
      ...{ type: 'abort', producerId, producerEpoch: 0, coordinatorEpoch: 0, leaderEpoch: 0 },
      ...{ offset, timestamp: BigInt(NOW) },
    })
  const all = [data(1n, 0, 0), abort(1n, 1), data(1n, 2, 1), abort(1n, 3), data(2n, 4, 0), abort(2n, 5)]
  const answer = Buffer.concat(all)
  /** `[producer, first offset, marker, everything below is decided]` of each, after answers of those lengths. */
  const indexed = async (topic: string, ...cuts: readonly number[]) => {
    await mkdir(join(directory, `${topic}-0`))
    let seen: Record<string, unknown> = {}
    for (const [index, from] of [0, ...cuts].entries()) {
      const append = answer.subarray(from, cuts[index] ?? answer.length).toString('base64')
      const recoveryPoint = Number(seen['logEndOffset'] ?? 0)
      seen = await seenByKafka(topic, { logStartOffset: 0, recoveryPoint, append, epoch: 0 })
    }
    return seen['aborted']
  }
  const [, ...others] = [
    [1, 0, 1, 2],
    [1, 2, 3, 4],
    [2, 4, 5, 6],
  ]
  deepEqual(await indexed('at-once'), [[1, 0, 1, 4], ...others])
  deepEqual(await indexed('in-two', untilProducerReturns(answer).length), [[1, 0, 1, 2], ...others])
})
