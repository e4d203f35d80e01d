// Failover of mirrors of a real Kafka: what the copy is afterwards, and that it can be written; used by mirror-scenarios.
import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict'
import { eventually } from '../eventually.ts'
import { assertEqualBatches, assertEqualReads, type Sides, waitUntilInStep } from './equality.ts'
import { batchField, checkIndexes, type DumpedBatch, dumpLog } from './logs.ts'
import type { MirrorWorld } from './mirror-world.ts'
import { openTransaction } from './transactions.ts'

/** The source lives and has an open transaction. */
export async function failOverWithOpen({ sides, link, node }: MirrorWorld): Promise<void> {
  const topic = 'transactions'
  const { source, mirror } = sides
  // A joined node gives the topic to the brokers that followed it.
  const disk = sides.replicas?.[0] ?? mirror
  await waitUntilInStep(sides, topic)
  const [stop] = (await mirror.describe(topic)).partitions
  ok(stop !== undefined && stop.lastStable < stop.highWatermark, 'a transaction is open')
  const rows = await link.failOver([topic, 'empty', 'codecs'])
  deepStrictEqual(
    rows.map(row => [row.mirror_topic_name, row.open_transactions]),
    [
      [topic, 1],
      ['empty', 0],
      ['codecs', 0],
    ],
  )
  await rejects(link.failOver([topic]), /already stopped/)

  const [stopped] = (await mirror.describe(topic)).partitions
  strictEqual(stopped?.lastStable, stopped?.highWatermark, 'nothing is open any more')
  const copied = await dumpLog(source, topic)
  const kept = await dumpLog(disk, topic)
  assertEqualBatches(kept.slice(0, copied.length), copied, 'what was mirrored')
  assertAbortMarker(kept.slice(copied.length), copied)

  await writeOn(sides, topic)
  assertNewProducerIds(await dumpLog(disk, topic), kept.length)
  await writeOn(sides, 'empty')
  const contents = await mirror.consume(topic, { isolation: 'read_committed' })
  await node.crash()
  deepStrictEqual(await mirror.consume(topic, { isolation: 'read_committed' }), contents)
  await link.waitForStatus(topic, 'STOPPED')
  if (disk === mirror) await checkIndexes(mirror, topic)
  await writeOn(sides, topic)

  // Whatever happens at the source now stays there.
  await source.endTransaction(openTransaction(topic), 'commit')
  await assertEqualReads(sides, 'codecs')
}

/** What failover is for: the source is gone for good. */
export async function failOverWithoutSource({ sides, link, cluster }: MirrorWorld): Promise<void> {
  const topics = ['compacted', 'timestamps', 'deleted-before', 'emptied']
  const before = await Promise.all(topics.map(topic => sides.mirror.consume(topic)))
  await cluster.node(1).kill()
  await link.failOver(topics)
  deepStrictEqual(await Promise.all(topics.map(topic => sides.mirror.consume(topic))), before)
  for (const topic of topics) await writeOn(sides, topic)
}

/** One ABORT marker of the producer whose transaction was open. */
function assertAbortMarker(added: readonly DumpedBatch[], copied: readonly DumpedBatch[]): void {
  strictEqual(added.length, 1, 'one batch was added')
  const [marker] = added
  strictEqual(marker?.lines.length, 2, 'with one record')
  ok(/endTxnMarker: ABORT coordinatorEpoch: \d+$/.test(marker.lines[1] ?? ''), marker.lines[1])
  const ended = new Set(copied.filter(isMarker).map(batch => batchField(batch, 'producerId')))
  const transactional = copied.filter(batch => batchField(batch, 'isTransactional') === 'true')
  const open = transactional.map(batch => batchField(batch, 'producerId')).filter(id => !ended.has(id))
  strictEqual(batchField(marker, 'producerId'), open[0])
}

const isMarker = (batch: DumpedBatch) => batchField(batch, 'isControl') === 'true'

/** The producer-id barrier: an id that is handed out here was never seen in what was mirrored. */
function assertNewProducerIds(batches: readonly DumpedBatch[], mirrored: number): void {
  const ids = batches.map(batch => Number(batchField(batch, 'producerId')))
  const highest = Math.max(...ids.slice(0, mirrored))
  const handedOut = ids.slice(mirrored).filter(id => id >= 0)
  ok(handedOut.length > 0 && handedOut.every(id => id > highest), `${handedOut} after ${highest}`)
}

/** Produces in several ways and checks that offsets go on where the partition ends. */
async function writeOn({ mirror }: Sides, topic: string): Promise<void> {
  const [before] = (await mirror.describe(topic)).partitions
  const from = before?.highWatermark ?? -1
  // A compacted topic wants keys.
  const generate = { count: 10, keys: 2, timestamp: Date.now() }
  // A broker of a joined cluster may hear a moment later that the fence is gone.
  const plain = await eventually(() => mirror.produce(topic, { partition: 0, codec: 'lz4', generate }))
  strictEqual(plain.first['0'], from, `${topic} goes on`)
  await mirror.produce(topic, { partition: 0, acks: '1', idempotent: false, generate })
  // With acks=1 nobody has waited for the other replicas.
  await eventually(async () => {
    const [partition] = (await mirror.describe(topic)).partitions
    deepStrictEqual([partition?.highWatermark, partition?.lastStable], [from + 20, from + 20])
  })
}
