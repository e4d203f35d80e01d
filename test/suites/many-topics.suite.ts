/** 1 000 partitions of a real Kafka mirrored by one link: created together, equal, restarted, failed over in one call. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { batchesIn } from '../../src/protocol/batches/batch-iteration.ts'
import { eventually } from '../eventually.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { sourceVersion } from '../kafka/jars.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { skipWithout } from '../requirements.ts'
import { ManyPartitions } from '../scenarios/many-partitions.ts'
import { MirrorLink } from '../scenarios/mirror-link.ts'

const skip = skipWithout('java')
const plan = { prefix: 'many', topics: 100, partitions: 10 }
const names = Array.from({ length: plan.topics }, (_, index) => `${plan.prefix}-${index}`)
const RECORDS = 3
const opened = new Opened()
let cluster: KafkaCluster
let node: LockstepNode
let link: MirrorLink

before(async () => {
  if (skip !== false) return
  // Kafka makes indexes at their full size; and the records are of 1970.
  const properties = { 'log.index.size.max.bytes': '4096', 'log.retention.ms': '-1' }
  const source = KafkaCluster.start({ version: sourceVersion(), properties })
  ;[cluster, node] = await opened.all<[KafkaCluster, LockstepNode]>([source, LockstepNode.start()])
  link = await MirrorLink.create(node, 'west', cluster)
})
after(() => opened.close())

async function withClient<T>(bootstrap: string, work: (client: ManyPartitions) => Promise<T>): Promise<T> {
  const client = await ManyPartitions.connect(bootstrap, plan)
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

/** What is in every partition, without the leader epochs, which are each side's own. */
async function contents(bootstrap: string): Promise<Map<string, string>> {
  const found = await withClient(bootstrap, client => client.read())
  const rows = [...found].map(([partition, bytes]): [string, string] => {
    for (const { position } of batchesIn(bytes)) bytes.fill(0, position + 12, position + 16)
    return [partition, bytes.toString('base64')]
  })
  return new Map(rows.sort(([left], [right]) => (left < right ? -1 : 1)))
}

/** Every partition of the node ends where the source's does and holds the same bytes. */
async function assertEqual(): Promise<void> {
  const wanted = await withClient(cluster.bootstrap, client => client.ends())
  strictEqual(wanted.size, plan.topics * plan.partitions)
  await eventually(
    async () => {
      const ends = await withClient(node.bootstrap, client => client.ends())
      deepStrictEqual(
        [...wanted].filter(([partition, end]) => ends.get(partition) !== end),
        [],
      )
    },
    { timeoutMs: 180_000, intervalMs: 300 },
  )
  const [here, there] = [await contents(node.bootstrap), await contents(cluster.bootstrap)]
  const different = [...there].filter(([partition, bytes]) => here.get(partition) !== bytes)
  deepStrictEqual(
    different.map(([partition]) => partition),
    [],
  )
}

const produce = () => withClient(cluster.bootstrap, client => client.produce(RECORDS))

test('1 000 partitions are mirrored, through restarts, and failed over by one call', {
  skip,
  timeout: 420_000,
}, async t => {
  await withClient(cluster.bootstrap, client => client.create())
  // The broker opens its new logs one after the other.
  const opening = () => withClient(cluster.bootstrap, client => client.ends())
  await eventually(opening, { timeoutMs: 180_000, intervalMs: 500 })
  await produce()
  const waiting = [...names]
  const createNext = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) await link.mirror(name)
  }
  const startMs = performance.now()
  await Promise.all(Array.from({ length: 8 }, createNext))
  t.diagnostic(`${names.length} mirrors were created in ${Math.round(performance.now() - startMs)} ms`)
  await assertEqual()
  await node.stop()
  await produce()
  await node.start()
  await assertEqual()
  await node.kill()
  await produce()
  await node.start()
  await assertEqual()

  const rows = await link.must('failover', { pattern: 'many-\\d+' })
  deepStrictEqual(rows.map(row => row.mirror_topic_name).sort(), [...names].sort())
  for (const name of names) await link.waitForStatus(name, 'STOPPED')
  const before = await withClient(node.bootstrap, client => client.ends())
  await withClient(node.bootstrap, client => client.produce(RECORDS))
  const after = await withClient(node.bootstrap, client => client.ends())
  deepStrictEqual(
    [...before].filter(([partition, end]) => after.get(partition) !== end + BigInt(RECORDS)),
    [],
  )
})
