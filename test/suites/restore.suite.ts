/** Truncate-and-restore between two real nodes: a former source is cut to what its successor has, follows it, and takes over again. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { eventually } from '../eventually.ts'
import { sourceVersion } from '../kafka/jars.ts'
import { skipWithout } from '../requirements.ts'
import { assertEqualTopics } from '../scenarios/equality.ts'
import { type Peer, type PeersWorld, startPeersWorld } from '../scenarios/peers-world.ts'

const skip = skipWithout('java')
const groupFilters = [{ name: '*', patternType: 'LITERAL', filterType: 'INCLUDE' }]
const configs = {
  'consumer.offset.sync.enable': 'true',
  'consumer.offset.sync.ms': '1000',
  'consumer.offset.group.filters': JSON.stringify({ groupFilters }),
  'metadata.max.age.ms': '1000',
}
let world: PeersWorld

before(async () => {
  if (skip === false) world = await startPeersWorld(sourceVersion(), configs)
})
after(() => world?.close())

/** Records of every kind: plain, idempotent, compressed, committed and aborted. */
async function fill({ side }: Peer, topic: string, id: string): Promise<void> {
  await side.produce(topic, { partition: 0, idempotent: false, generate: { count: 30, valueBytes: 100 } })
  await side.produce(topic, { partition: 1, codec: 'gzip', batch: 10, generate: { count: 30, keys: 7 } })
  for (const end of ['commit', 'abort'] as const)
    await side.produce(topic, { transaction: { id: `${topic}-${id}-${end}`, end }, generate: { count: 10 } })
}

/** Records of clients that lie from `offset` on, the aborted ones included. */
async function recordsFrom({ side }: Peer, topic: string, partition: number, offset: number): Promise<number> {
  const { [partition]: read } = await side.consume(topic, { isolation: 'read_uncommitted' })
  return (read?.records ?? []).filter(([at]) => at >= offset).length
}

const endsOf = async ({ side }: Peer, topic: string) => {
  const { partitions } = await side.describe(topic)
  return [...partitions].sort((a, b) => a.partition - b.partition).map(({ highWatermark }) => highWatermark)
}

/** Reads of `taker` are equal to those of `source`, and so are both logs. */
const assertRestored = (source: Peer, mirror: Peer, topic: string) =>
  assertEqualTopics({ source: source.side, mirror: mirror.side }, topic)

test('both halves of a link have one id, and each sees the other', { skip }, async () => {
  const { east, west } = world
  const describe = async ({ node }: Peer) =>
    (await node.rest.call('GET', '/links/twin?include_tasks=true')) as {
      cluster_link_id: string
      remote_cluster_id: string
      tasks: { task_name: string; state: string }[]
    }
  const [here, there] = [await describe(east), await describe(west)]
  strictEqual(here.cluster_link_id, there.cluster_link_id)
  strictEqual(here.remote_cluster_id, west.node.clusterId)
  for (const peer of [east, west])
    await eventually(async () => {
      const { tasks } = await describe(peer)
      strictEqual(tasks.find(({ task_name: name }) => name === 'PeerCheck')?.state, 'ACTIVE')
    })
})

test('a source that was lost and comes back is cut to what its successor has, to the record, and follows it', {
  skip,
}, async () => {
  const { east, west } = world
  const topic = 'orders'
  await east.side.createTopic(topic, { partitions: 2 })
  await fill(east, topic, 'a')
  await west.link.mirror(topic)
  await assertRestored(east, west, topic)
  // What the mirror never gets.
  await west.link.must('pause', [topic])
  await west.link.waitForStatus(topic, 'PAUSED')
  const common = await endsOf(west, topic)
  await fill(east, topic, 'b')
  const lost = [await recordsFrom(east, topic, 0, common[0] ?? 0), await recordsFrom(east, topic, 1, common[1] ?? 0)]
  ok(lost.every(count => count > 0))
  await east.node.kill()
  await west.link.failOver([topic])
  await fill(west, topic, 'c')
  await east.node.start()

  const dry = await eventually(async () => {
    const row = await east.link.restore(topic, { validateOnly: true })
    strictEqual(row?.error_code ?? null, null, row?.error_message ?? '')
    return row
  })
  const row = await east.link.restore(topic, { export_divergent: true })
  strictEqual(row?.error_code ?? null, null, row?.error_message ?? '')
  const cut = (row?.partition_level_truncation_data ?? []).map(part => [
    part.offset_truncated_to,
    part.messages_truncated,
  ])
  deepStrictEqual(
    cut,
    [0, 1].map(partition => [common[partition], lost[partition]]),
  )
  strictEqual(row?.messages_truncated, (lost[0] ?? 0) + (lost[1] ?? 0))
  deepStrictEqual(row?.partition_level_truncation_data, dry?.partition_level_truncation_data)
  await east.link.waitForStatus(topic, 'ACTIVE')
  await assertRestored(west, east, topic)
  const [entry] = await east.link.history(topic)
  match(entry?.reason ?? '', /exported to/)
  await assertExported(entry?.reason ?? '', lost)
})

/** The files are segments that Kafka's own tool reads. */
async function assertExported(reason: string, records: readonly number[]): Promise<void> {
  const files = reason.slice(reason.indexOf('exported to ') + 'exported to '.length).split(', ')
  strictEqual(files.length, records.length)
  for (const [partition, file] of files.entries()) {
    const args = ['--deep-iteration', '--print-data-log']
    const { output } = await world.east.side.driver.call<{ output: string[] }>('dump-log', { files: [file], args })
    const found = output.filter(line => line.startsWith('|') && !line.includes('endTxnMarker'))
    strictEqual(found.length, records[partition], `records in ${file}`)
  }
}

test('the roles change once more, and a node that is killed in between goes on where it was', { skip }, async () => {
  const { east, west } = world
  const topic = 'orders'
  await fill(west, topic, 'd')
  await assertRestored(west, east, topic)
  await east.link.must('promote', [topic])
  await east.link.waitForStatus(topic, 'STOPPED')
  await fill(east, topic, 'e')
  const row = await eventually(async () => {
    const answer = await west.link.restore(topic)
    strictEqual(answer?.error_code ?? null, null, answer?.error_message ?? '')
    return answer
  })
  strictEqual(row?.messages_truncated, 0)
  await west.node.crash()
  await west.link.waitForStatus(topic, 'ACTIVE')
  await assertRestored(east, west, topic)
  await fill(east, topic, 'f')
  await assertRestored(east, west, topic)
})

test('what cannot be proven is not cut', { skip }, async () => {
  const { east, west } = world
  const topic = 'strangers'
  for (const peer of [east, west]) {
    await peer.side.createTopic(topic, { partitions: 1 })
    await peer.side.produce(topic, { generate: { count: 5 } })
  }
  const row = await east.link.restore(topic)
  match(row?.error_message ?? '', /nothing tells what partition 0 has in common/)
  await east.side.produce(topic, { generate: { count: 1 } })
  const mirrored = await west.link.restore('orders')
  match(mirrored?.error_message ?? '', /is ACTIVE, where restore is not possible/)
})
