/** The demo as a proof: records through a mirror, the source killed, failover, both logs compared. Called by run-demo for --once. */
import { join } from 'node:path'
import { type BatchFacts, factsByFetch, factsOnDisk, firstDifference } from './compare-logs.ts'
import { DemoError } from './demo-error.ts'
import { type DemoStage, unexpectedEnd } from './demo-stage.ts'
import { countText, megabytesText, secondsText } from './figures-text.ts'
import { appendOne, caughtUp, failOver, interrupted } from './mirror-steps.ts'
import type { NodeProcess } from './node-process.ts'
import { OrderProducer } from './order-producer.ts'
import { TopicClient } from './topic-client.ts'

const TOPIC = 'orders'
const LINK = 'west'
const PARTITIONS = 4
const RECORDS_PER_REQUEST = 1000
/** The mirror is created when so much has been written: it catches up first and follows the rest. */
const WRITTEN_BEFORE = 0.75

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
    await failOver(stage, { node: east, link: LINK, topic: TOPIC })
    say('west is dead, east has failed over; comparing')
    const figures = await compare(stage, { west, east, endOffsets, records })
    return (
      `${countText(records)} records, ${countText(figures.batches)} batches, ${countText(figures.bytes)} bytes ` +
      `mirrored at ${megabytesText((figures.bytes * 1000) / mirroringMs)} MB/s, ` +
      `${secondsText(clock.monotonicMs() - startedMs)} s in all: source and mirror are equal`
    )
  }
  return Promise.race([play(), unexpectedEnd(west), unexpectedEnd(east), interrupted(stage.signal)])
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
    await caughtUp(stage, { node: east, link: LINK, topic: TOPIC }, producer.endOffsets)
    return { endOffsets: producer.endOffsets, mirroringMs: clock.monotonicMs() - beganMs }
  } finally {
    client.close()
  }
}

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
