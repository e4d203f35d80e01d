/** The demo as a proof: records through a mirror, the source killed, failover, both logs compared. Called by run-demo for --once. */
import { join } from 'node:path'
import { sleep } from '../../core/clock.ts'
import { buildBatch } from '../../protocol/batches/build-batch.ts'
import type { MirrorData } from '../../rest/schemas/mirrors.ts'
import { type BatchFacts, factsByFetch, factsOnDisk, firstDifference } from './compare-logs.ts'
import { DemoError } from './demo-error.ts'
import { type DemoStage, unexpectedEnd } from './demo-stage.ts'
import { countText, megabytesText, secondsText } from './figures-text.ts'
import type { NodeProcess } from './node-process.ts'
import { OrderProducer } from './order-producer.ts'
import { TopicClient } from './topic-client.ts'

const TOPIC = 'orders'
const LINK = 'west'
const PARTITIONS = 4
const RECORDS_PER_REQUEST = 1000
/** The mirror is created when so much has been written: it catches up first and follows the rest. */
const WRITTEN_BEFORE = 0.75
const POLL_MS = 50
const STALL_MAX_MS = 30_000
const FAILOVER_MAX_MS = 60_000

/** Resolves to the line with the figures. Rejects with DemoError at any difference or failure, or the signal's reason. */
export async function playOnce(stage: DemoStage, records: number): Promise<string> {
  const { clock } = stage
  const say = (text: string) => stage.io.err(`${text}\n`)
  const startedMs = clock.monotonicMs()
  const [west, east] = await Promise.all([stage.startNode('west', 1), stage.startNode('east', 2)])
  say(`west (${west.kafka}) and east (${east.kafka}) are ready, data in ${stage.folder}`)
  const play = async () => {
    const { endOffsets, mirroringMs } = await mirrorOrders(stage, { west, east, records })
    say(`${countText(records)} records written to west and mirrored to east; killing west`)
    await west.kill()
    await failOver(stage, east)
    say('west is dead, east has failed over; comparing')
    const figures = await compare(stage, { west, east, endOffsets, records })
    return (
      `${countText(records)} records, ${countText(figures.batches)} batches, ${countText(figures.bytes)} bytes ` +
      `mirrored at ${megabytesText((figures.bytes * 1000) / mirroringMs)} MB/s, ` +
      `${secondsText(clock.monotonicMs() - startedMs)} s in all: source and mirror are equal`
    )
  }
  return Promise.race([play(), unexpectedEnd(west), unexpectedEnd(east), interruption(stage.signal)])
}

/** Returns when the mirror has everything. */
async function mirrorOrders(
  stage: DemoStage,
  { west, east, records }: { west: NodeProcess; east: NodeProcess; records: number },
): Promise<{ endOffsets: readonly number[]; mirroringMs: number }> {
  const { clock, signal } = stage
  await west.rest.createTopic(TOPIC, PARTITIONS)
  const client = await TopicClient.connect(west.kafka, TOPIC, clock)
  try {
    const producer = new OrderProducer(client, stage)
    const options = { perRequest: RECORDS_PER_REQUEST, signal }
    const before = Math.floor(records * WRITTEN_BEFORE)
    await producer.write(before, options)
    await east.rest.createLink(LINK, west.kafka, west.clusterId)
    const beganMs = clock.monotonicMs()
    await east.rest.createMirror(LINK, TOPIC)
    await producer.write(records - before, options)
    await caughtUp(stage, east, producer.endOffsets)
    return { endOffsets: producer.endOffsets, mirroringMs: clock.monotonicMs() - beganMs }
  } finally {
    client.close()
  }
}

/** Waits until every partition has reached its end; no deadline as long as anything moves. */
async function caughtUp(stage: DemoStage, east: NodeProcess, endOffsets: readonly number[]): Promise<void> {
  const { clock, signal } = stage
  let reached = -1
  let movedMs = clock.monotonicMs()
  for (;;) {
    signal.throwIfAborted()
    const mirror = await east.rest.mirror(LINK, TOPIC)
    if (mirror.mirror_status === 'FAILED') throw new DemoError(`the mirror has failed: ${reasonOf(mirror)}`)
    const behind = mirror.mirror_lags.filter(
      ({ partition, lag, log_end_offset }) => lag !== 0 || log_end_offset !== endOffsets[partition],
    )
    if (behind.length === 0 && mirror.mirror_lags.length === endOffsets.length) return
    const sum = mirror.mirror_lags.reduce((total, { log_end_offset }) => total + (log_end_offset ?? 0), 0)
    if (sum !== reached) movedMs = clock.monotonicMs()
    reached = sum
    if (clock.monotonicMs() - movedMs > STALL_MAX_MS)
      throw new DemoError(
        `the mirror has not moved for ${STALL_MAX_MS / 1000} s (${mirror.mirror_status}, ${reasonOf(mirror)}): ` +
          behind
            .map(lag => `partition ${lag.partition} is at ${lag.log_end_offset} of ${endOffsets[lag.partition]}`)
            .join(', '),
      )
    await sleep(clock, POLL_MS, signal)
  }
}

async function failOver(stage: DemoStage, east: NodeProcess): Promise<void> {
  const { clock, signal } = stage
  const deadlineMs = clock.monotonicMs() + FAILOVER_MAX_MS
  await east.rest.failOver(LINK, TOPIC)
  for (;;) {
    signal.throwIfAborted()
    const mirror = await east.rest.mirror(LINK, TOPIC)
    if (mirror.mirror_status === 'STOPPED') return
    if (clock.monotonicMs() > deadlineMs)
      throw new DemoError(
        `after ${FAILOVER_MAX_MS / 1000} s the mirror is ${mirror.mirror_status} and not STOPPED: ${reasonOf(mirror)}`,
      )
    await sleep(clock, POLL_MS, signal)
  }
}

const reasonOf = (mirror: MirrorData): string =>
  mirror.mirror_lags.find(({ reason }) => reason !== null)?.reason ?? mirror.reason ?? 'no reason given'

/** West as its files lie after the kill, east as a client reads it; then one more record on east at the next offset. */
async function compare(
  stage: DemoStage,
  of: { west: NodeProcess; east: NodeProcess; endOffsets: readonly number[]; records: number },
): Promise<{ batches: number; bytes: number }> {
  const client = await TopicClient.connect(of.east.kafka, TOPIC, stage.clock)
  try {
    const all: BatchFacts[] = []
    for (const [partition, end] of of.endOffsets.entries()) {
      const source = await factsOnDisk(join(of.west.dataDirectory, `${TOPIC}-${partition}`))
      const mirror = await factsByFetch(client, partition)
      const difference = firstDifference(source, mirror)
      if (difference !== undefined) throw new DemoError(`${TOPIC}-${partition}: ${difference}`)
      const last = mirror.at(-1)?.lastOffset ?? -1
      if (last + 1 !== end)
        throw new DemoError(`${TOPIC}-${partition} ends at offset ${last + 1}, but ${end} was acknowledged by west`)
      await appendOne(stage, client, { partition, expectedOffset: end })
      all.push(...mirror)
    }
    const records = all.reduce((sum, batch) => sum + batch.records, 0)
    if (records !== of.records) throw new DemoError(`${of.records} records were written, both sides have ${records}`)
    return { batches: all.length, bytes: all.reduce((sum, batch) => sum + batch.sizeBytes, 0) }
  } finally {
    client.close()
  }
}

async function appendOne(
  stage: DemoStage,
  client: TopicClient,
  { partition, expectedOffset }: { partition: number; expectedOffset: number },
): Promise<void> {
  const value = Buffer.from('{"note":"written after the failover"}')
  const batches = buildBatch({ records: [{ timestamp: BigInt(stage.clock.nowMs()), key: null, value }] })
  const offset = (await client.append([{ partition, batches }])).get(partition)
  if (offset !== expectedOffset)
    throw new DemoError(
      `${TOPIC}-${partition}: the first record after the failover got offset ${offset}, not ${expectedOffset}`,
    )
}

function interruption(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason)
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
  })
}
