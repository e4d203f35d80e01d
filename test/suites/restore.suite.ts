/** Truncate-and-restore between two real nodes: a former source is cut to what its successor has, follows it, and takes over again. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { eventually } from '../eventually.ts'
import { lockstep } from '../scenarios/command-line.ts'
import type { AlterMirrorRow } from '../scenarios/mirror-link.ts'
import {
  batchesOf,
  batchesOnDisk,
  createTopic,
  fill,
  type Peer,
  type PeersWorld,
  startPeersWorld,
} from '../scenarios/peers-world.ts'

const topic = 'orders'
const partitions = [0, 1]
let world: PeersWorld

before(async () => {
  world = await startPeersWorld({ 'metadata.max.age.ms': '1000' })
})
after(() => world?.close())

/** Waits until both logs hold the same bytes, and more than nothing. */
async function inStep(): Promise<void> {
  const { east, west } = world
  await eventually(async () => {
    for (const partition of partitions) {
      const [here, there] = [await batchesOnDisk(east, topic, partition), await batchesOnDisk(west, topic, partition)]
      ok(here.length > 0)
      deepStrictEqual(here, there)
    }
  })
}

/** What a peer has of each partition. */
const logsOf = (peer: Peer) => Promise.all(partitions.map(partition => batchesOnDisk(peer, topic, partition)))

function mustHave(row: AlterMirrorRow | undefined): AlterMirrorRow {
  ok(row)
  strictEqual(row.error_code, null, row.error_message ?? '')
  return row
}

/** The other node may have just started: its half of the link is not looked at before. */
const restored = (peer: Peer, options: Parameters<Peer['link']['restore']>[1] = {}) =>
  eventually(async () => mustHave(await peer.link.restore(topic, options)))

const cutsOf = ({ partition_level_truncation_data: parts = [] }: AlterMirrorRow) =>
  parts.map(part => [part.offset_truncated_to, part.messages_truncated])

test('both halves of a link have one id, and each sees the other', async () => {
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

test('a source that was lost and comes back is cut to what its successor has, to the record, and follows it', async () => {
  const { east, west } = world
  await createTopic(east, topic, partitions.length)
  await fill(east, topic, 'a')
  await west.link.mirror(topic)
  await inStep()
  // What the mirror never gets.
  await west.link.must('pause', [topic])
  await west.link.waitForStatus(topic, 'PAUSED')
  await eventually(() => fill(east, topic, 'lost'))
  const common = (await logsOf(west)).map(batches => (batches.at(-1)?.lastOffset ?? -1) + 1)
  await east.node.kill()
  await west.link.failOver([topic])
  await fill(west, topic, 'successor')
  await east.node.start()
  const before = await logsOf(east)
  const tails = before.map((batches, partition) =>
    batches.filter(({ baseOffset }) => baseOffset >= (common[partition] ?? 0)),
  )
  const lost = tails.map(tail => tail.reduce((sum, { records }) => sum + records, 0))
  ok(lost.every(count => count > 0))

  const dry = await restored(east, { validateOnly: true })
  const row = mustHave(await east.link.restore(topic, { export_divergent: true }))
  deepStrictEqual(
    cutsOf(row),
    partitions.map(partition => [common[partition], lost[partition]]),
  )
  strictEqual(row.messages_truncated, (lost[0] ?? 0) + (lost[1] ?? 0))
  deepStrictEqual(cutsOf(dry), cutsOf(row))
  await east.link.waitForStatus(topic, 'ACTIVE')
  await inStep()
  const [entry] = await east.link.history(topic)
  const [, listed = ''] = /exported to (.*)$/.exec(entry?.reason ?? '') ?? []
  const files = await Promise.all(listed.split(', ').map(path => readFile(path)))
  deepStrictEqual(files.map(batchesOf), tails)
  const read = await lockstep(east.node, ['tail', 'read', '--max', '100000', '-o', 'json', ...listed.split(', ')])
  const records = JSON.parse(read.stdout) as { file: string; value: string; transaction: string | null }[]
  deepStrictEqual(
    listed.split(', ').map(path => records.filter(({ file }) => file === path).length),
    lost,
  )
  // Three records of each, in each partition.
  const ends = Map.groupBy(records, ({ transaction }) => transaction)
  deepStrictEqual([ends.get('committed')?.length, ends.get('aborted')?.length], [6, 6])
  ok(ends.get('aborted')?.every(({ value }) => value.includes('abort')))
})

test('the roles change once more, and a node that is killed in between goes on where it was', async () => {
  const { east, west } = world
  await fill(west, topic, 'more')
  await inStep()
  await east.link.must('promote', [topic])
  await east.link.waitForStatus(topic, 'STOPPED')
  await fill(east, topic, 'back')
  const row = await restored(west)
  strictEqual(row.messages_truncated, 0)
  await west.node.crash()
  await west.link.waitForStatus(topic, 'ACTIVE')
  await inStep()
  await fill(east, topic, 'again')
  await inStep()
})

test('what cannot be proven is not cut', async () => {
  const { east, west } = world
  for (const peer of [east, west]) await createTopic(peer, 'strangers', 1)
  await eventually(async () => {
    const row = await east.link.restore('strangers')
    match(row?.error_message ?? '', /nothing tells what partition 0 has in common/)
  })
  const mirrored = await west.link.restore(topic)
  match(mirrored?.error_message ?? '', /is ACTIVE, where restore is not possible/)
})
