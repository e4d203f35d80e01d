/** Truncate-and-restore in a joined cluster of complete Apache Kafka 4.3.1: a topic of its Java brokers becomes the mirror of the cluster that took over from it, cut on all replicas, also where its node is killed. */
import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { after, before, test } from 'node:test'
import { eventually } from '../eventually.ts'
import { skipWithout } from '../requirements.ts'
import { assertSameCopies, endsOf, fill, javaOf, leadersIn, partitions } from '../scenarios/joined-copies.ts'
import { type JoinedPeersWorld, startJoinedPeers } from '../scenarios/joined-peers-world.ts'
import { dumpLog } from '../scenarios/logs.ts'
import type { AlterMirrorRow } from '../scenarios/mirror-link.ts'
import { batchesOf } from '../scenarios/peers-world.ts'
import type { TopicSide } from '../scenarios/topic-side.ts'

const skip = skipWithout('java')
let world: JoinedPeersWorld

before(async () => {
  if (skip) return
  world = await startJoinedPeers()
})
after(() => world?.close())

const java = (): TopicSide => javaOf(world)
const assertSame = (topic: string) => assertSameCopies(world, topic)
const leadersOf = (topic: string) => leadersIn(java(), topic)

/** The survivor mirrors a topic of the Java brokers, misses a tail, takes over and goes on. Resolves to where both part. */
async function fork(topic: string, configs: Readonly<Record<string, string>> = {}): Promise<number[]> {
  const { survivor, there } = world
  const assignments = [
    [1, 2],
    [2, 1],
  ]
  await java().createTopic(topic, { assignments, configs })
  await fill(java(), topic, 'common')
  await eventually(() => survivor.link.mirror(topic))
  await eventually(async () => deepStrictEqual(await endsOf(there, topic), await endsOf(java(), topic)))
  await survivor.link.must('pause', [topic])
  await survivor.link.waitForStatus(topic, 'PAUSED')
  const common = await endsOf(there, topic)
  await fill(java(), topic, 'lost')
  await survivor.link.failOver([topic])
  await fill(there, topic, 'successor')
  return common
}

function mustHave(row: AlterMirrorRow | undefined): AlterMirrorRow {
  ok(row)
  strictEqual(row.error_code, null, row.error_message ?? '')
  return row
}

const cutsOf = ({ partition_level_truncation_data: parts = [] }: AlterMirrorRow) =>
  parts.map(part => [part.offset_truncated_to, part.messages_truncated])

async function offsetsOf(side: TopicSide, group: string): Promise<Record<string, number>> {
  const { bootstrap, driver } = side
  const found = await driver.call<Record<string, [number, ...unknown[]]>>('admin-groups', {
    ...{ bootstrap, op: 'offsets', group },
  })
  return Object.fromEntries(Object.entries(found).map(([partition, [offset]]) => [partition, offset]))
}

test('a topic of Java brokers is cut on all replicas to what its successor has, below the high watermark, and follows', {
  skip,
}, async () => {
  const { original, there } = world
  const common = await fork('orders', { 'retention.ms': '86400000' })
  const ends = await endsOf(java(), 'orders')
  const admin = (args: object) => world.driver.call('admin-groups', { bootstrap: java().bootstrap, ...args })
  await admin({ op: 'alter-offsets', group: 'behind', offsets: { 'orders-0': 3 } })
  await admin({ op: 'alter-offsets', group: 'beyond', offsets: { 'orders-0': ends[0], 'orders-1': ends[1] } })
  const tails = await Promise.all(
    partitions.map(async partition => {
      const dumped = await dumpLog(java(), 'orders', { partition, fromOffset: common[partition] ?? 0 })
      return dumped.map(({ baseOffset, lastOffset }) => [baseOffset, lastOffset])
    }),
  )

  const dry = await eventually(async () => mustHave(await original.link.restore('orders', { validateOnly: true })))
  // Nothing was changed by asking.
  deepStrictEqual((await leadersOf('orders')).toSorted(), [1, 2])
  const row = mustHave(await original.link.restore('orders', { export_divergent: true }))
  // Six plain ones, and six of each transaction; markers are no records.
  deepStrictEqual(
    cutsOf(row),
    common.map(offset => [offset, 18]),
  )
  deepStrictEqual([cutsOf(dry), dry.messages_truncated], [cutsOf(row), row.messages_truncated])
  await original.link.waitForStatus('orders', 'ACTIVE')
  await assertSame('orders')
  await eventually(async () => deepStrictEqual(await leadersOf('orders'), [1001, 1001]))

  const [entry] = await original.link.history('orders')
  const [, listed = ''] = /exported to (.*)$/.exec(entry?.reason ?? '') ?? []
  const files = await Promise.all(listed.split(', ').map(path => readFile(path)))
  deepStrictEqual(
    files.map(file => batchesOf(file).map(({ baseOffset, lastOffset }) => [baseOffset, lastOffset])),
    tails,
  )
  deepStrictEqual(await offsetsOf(java(), 'beyond'), { 'orders-0': common[0], 'orders-1': common[1] })
  deepStrictEqual(await offsetsOf(java(), 'behind'), { 'orders-0': 3 })

  // Mirroring goes on, and nobody else writes.
  await fill(there, 'orders', 'more')
  await assertSame('orders')
  await rejects(java().produce('orders', { partition: 0, records: [{ value: 'more than ten bytes' }] }))
})

test('a node that is killed at any moment of a restore finishes it, whoever led meanwhile', { skip }, async () => {
  const { original } = world
  /** What is seen first, and then the node is killed. */
  const moments: readonly ((topic: string) => Promise<void>)[] = [
    async topic => void (await original.link.describe(topic)),
    async topic => ok((await leadersOf(topic)).includes(1001)),
    async topic => {
      const { mirror_status: status } = await original.link.describe(topic)
      ok(status === 'PENDING_RESTORE' || status === 'ACTIVE')
    },
  ]
  for (const [index, seen] of moments.entries()) {
    const topic = `killed-${index}`
    const common = await fork(topic)
    await eventually(async () => mustHave(await original.link.restore(topic, { validateOnly: true })))
    const answer = original.link.restore(topic, { export_divergent: true }).catch(() => undefined)
    await eventually(() => seen(topic), { intervalMs: 5 })
    await original.node.kill()
    await answer
    // Java brokers lead what it led, behind the fence.
    await eventually(async () => ok(!(await leadersOf(topic)).includes(1001)))
    await original.node.start()
    await original.link.waitForStatus(topic, 'ACTIVE')
    await assertSame(topic)
    await eventually(async () => deepStrictEqual(await leadersOf(topic), [1001, 1001]))
    const [entry] = await original.link.history(topic)
    for (const [partition, offset] of common.entries())
      match(entry?.reason ?? '', new RegExp(`\\b${partition} to ${offset} \\(18\\)`))
  }
})

test('the roles change back by a reverse: the Java brokers lead again, writable, and the standalone node follows', {
  skip,
}, async () => {
  const { original, survivor } = world
  await eventually(() => original.link.must('reverse-and-start-mirror', ['orders']))
  await original.link.waitForStatus('orders', 'STOPPED')
  await eventually(async () => deepStrictEqual((await leadersOf('orders')).toSorted(), [1, 2]))
  await eventually(async () => ok((await java().describe('orders')).configs['max.message.bytes'] !== '78'))
  await survivor.link.waitForStatus('orders', 'ACTIVE')
  await eventually(() => fill(java(), 'orders', 'back'))
  await eventually(async () => deepStrictEqual(await endsOf(world.there, 'orders'), await endsOf(java(), 'orders')))
})
