/** The joined demo as a proof: records through the mirror, the source killed, failover to Kafka's brokers, every replica compared on disk. Called by scripts/joined-demo for --once. */
import { join } from 'node:path'
import { type BatchFacts, factsOnDisk, firstDifference } from '../../src/node/demo/compare-logs.ts'
import { DemoError } from '../../src/node/demo/demo-error.ts'
import { type DemoStage, unexpectedEnd } from '../../src/node/demo/demo-stage.ts'
import { countText, megabytesText, secondsText } from '../../src/node/demo/figures-text.ts'
import { appendOne, caughtUp, failOver, interrupted } from '../../src/node/demo/mirror-steps.ts'
import { OrderProducer } from '../../src/node/demo/order-producer.ts'
import { TopicClient } from '../../src/node/demo/topic-client.ts'
import { eventually } from '../../test/eventually.ts'
import { type JoinedSet, setUp, VERSION } from './joined-set.ts'
import { placesOf } from './topic-places.ts'

const RECORDS_PER_REQUEST = 1000
/** The mirror is created when so much has been written: it catches up first and follows the rest. */
const WRITTEN_BEFORE = 0.75
const PATIENCE = { timeoutMs: 30_000 }

/** Resolves to the line with the figures. Rejects with DemoError at any difference or failure, or the signal's reason. */
export async function playJoinedOnce(stage: DemoStage, records: number): Promise<string> {
  const { clock } = stage
  const say = (text: string) => stage.io.err(`${text}\n`)
  const startedMs = clock.monotonicMs()
  const set = await setUp(stage)
  try {
    say(`a Lockstep node has joined a cluster of Apache Kafka ${VERSION}, data in ${stage.folder}`)
    const play = async () => {
      const { endOffsets, mirroringMs } = await mirrorOrders(stage, set, records)
      say(`${countText(records)} records written to an Apache Kafka and mirrored to the cluster; killing the source`)
      await set.source.node(1).kill()
      await failOver(stage, set.mirror)
      say('the source is dead, the mirror has failed over to the brokers; comparing')
      const { batches, bytes } = await compare(set, { endOffsets, records })
      for (const [partition, expectedOffset] of endOffsets.entries())
        await eventually(() => appendToLeader(stage, set, { partition, expectedOffset }), PATIENCE)
      return (
        `${countText(records)} records, ${countText(batches)} batches, ${countText(bytes)} bytes ` +
        `mirrored at ${megabytesText((bytes * 1000) / mirroringMs)} MB/s, ` +
        `${secondsText(clock.monotonicMs() - startedMs)} s in all: source and both Kafka brokers are equal`
      )
    }
    return await Promise.race([play(), unexpectedEnd(set.node), interrupted(stage.signal)])
  } finally {
    await set.close()
  }
}

/** Returns when the mirror has everything. */
async function mirrorOrders(
  stage: DemoStage,
  { node, client, mirror }: JoinedSet,
  records: number,
): Promise<{ endOffsets: readonly number[]; mirroringMs: number }> {
  const { clock, signal } = stage
  const producer = new OrderProducer(client, stage)
  const options = { perRequest: RECORDS_PER_REQUEST, signal }
  const before = Math.floor(records * WRITTEN_BEFORE)
  await producer.write(before, options)
  const beganMs = clock.monotonicMs()
  await node.rest.createMirror(mirror.link, mirror.topic)
  await producer.write(records - before, options)
  await caughtUp(stage, mirror, producer.endOffsets)
  return { endOffsets: producer.endOffsets, mirroringMs: clock.monotonicMs() - beganMs }
}

/** The source as its files lie after the kill, and the files of each broker. */
async function compare(
  { source, cluster, mirror }: JoinedSet,
  of: { readonly endOffsets: readonly number[]; readonly records: number },
): Promise<{ batches: number; bytes: number }> {
  const all: BatchFacts[] = []
  for (const [partition, end] of of.endOffsets.entries()) {
    const folder = `${mirror.topic}-${partition}`
    const there = await factsOnDisk(join(source.node(1).dataDirectory, folder))
    const last = there.at(-1)?.lastOffset ?? -1
    if (last + 1 !== end) throw new DemoError(`${folder} of the source ends at ${last + 1}, not at ${end}`)
    // A follower may be one fetch behind its leader.
    for (const { id, dataDirectory } of cluster.brokers)
      await eventually(async () => {
        const difference = firstDifference(there, await factsOnDisk(join(dataDirectory, folder)))
        if (difference !== undefined) throw new DemoError(`${folder} on broker ${id}: ${difference}`)
      }, PATIENCE)
    all.push(...there)
  }
  const records = all.reduce((sum, batch) => sum + batch.records, 0)
  if (records !== of.records) throw new DemoError(`${of.records} records were written, all sides have ${records}`)
  return { batches: all.length, bytes: all.reduce((sum, batch) => sum + batch.sizeBytes, 0) }
}

/** Brokers hear of their leadership, and of the fence that is gone, a moment after the failover. */
async function appendToLeader(
  stage: DemoStage,
  { cluster, mirror }: JoinedSet,
  at: { readonly partition: number; readonly expectedOffset: number },
): Promise<void> {
  const places = await placesOf(cluster.brokers[0]?.address ?? '', mirror.topic, stage.clock)
  const { leaderId } = places.find(({ partition }) => partition === at.partition) ?? {}
  const leader = cluster.brokers.find(({ id }) => id === leaderId)
  if (!leader) throw new DemoError(`${mirror.topic}-${at.partition} is led by ${leaderId}, not by a Kafka broker`)
  const client = await TopicClient.connect(leader.address, mirror.topic, stage.clock)
  try {
    await appendOne(stage, client, at)
  } finally {
    client.close()
  }
}
