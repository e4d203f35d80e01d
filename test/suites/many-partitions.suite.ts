/** A node with 1 000 partitions (10 000 in `npm run soak`) after kill -9, a clean stop, and both again: every partition answers and holds what was acknowledged. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { residentMib } from '../hostile/node-memory.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { ManyPartitions } from '../scenarios/many-partitions.ts'

const PARTITIONS = Number(process.env['LOCKSTEP_PARTITIONS'] ?? 1000)
const plan = { prefix: 'many', topics: PARTITIONS / 10, partitions: 10 }
const RECORDS = 3
let node: LockstepNode

before(async () => {
  // Snapshots of the metadata, too, are written and read on the way.
  node = await LockstepNode.start({ properties: { 'metadata.log.max.record.bytes.between.snapshots': '20000' } })
})
after(() => node?.close())

async function withClient<T>(work: (client: ManyPartitions) => Promise<T>): Promise<T> {
  const client = await ManyPartitions.connect(node.bootstrap, plan)
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

/** Every partition ends where it should and holds what it held. */
async function check(wanted: { end: bigint; bytes: ReadonlyMap<string, Buffer> }): Promise<void> {
  await withClient(async client => {
    const ends = await client.ends()
    equal(ends.size, plan.topics * plan.partitions)
    deepEqual(
      [...ends].filter(([, end]) => end !== wanted.end),
      [],
    )
    const read = await client.read()
    const different = [...wanted.bytes].filter(([name, bytes]) => !read.get(name)?.equals(bytes))
    deepEqual(
      different.map(([name]) => name),
      [],
    )
  })
}

test('every partition holds what was acknowledged after kill -9 and after clean stops', {
  timeout: 240_000 + 240 * PARTITIONS,
}, async () => {
  await withClient(client => client.create())
  await node.crash()
  await check({ end: 0n, bytes: new Map() })

  const bytes = await withClient(async client => {
    await client.produce(RECORDS)
    return await client.read()
  })
  const end = BigInt(RECORDS)
  await node.crash()
  await check({ end, bytes })
  const resident = (await residentMib(node.pid)) ?? 0
  ok(resident < 300 + PARTITIONS / 20, `${resident} MiB with ${PARTITIONS} partitions`)
  await node.stop()
  await node.start()
  await check({ end, bytes })
  await node.crash()
  await check({ end, bytes })

  const more = await withClient(async client => {
    await client.produce(RECORDS)
    return await client.read()
  })
  await node.stop()
  await node.start()
  await check({ end: 2n * end, bytes: more })
  const metadata = await readdir(join(node.dataDirectory, '__cluster_metadata-0'))
  ok(metadata.some(name => name.endsWith('.checkpoint')))
})
