/** How fast a node with many partitions starts again, and what they cost in memory and open files: `npm run bench:restart`. */
import { readdir, readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { LockstepNode } from '../test/lockstep-process.ts'
import { ManyPartitions } from '../test/scenarios/many-partitions.ts'

const READY_MS_MAX = 10_000
/** Unit of the times in /proc. */
const TICK_MS = 10

const { values } = parseArgs({
  options: {
    topics: { type: 'string', default: '1000' },
    partitions: { type: 'string', default: '10' },
    /** Records of 100 bytes produced to every partition, and again after the clean restart. */
    records: { type: 'string', default: '3' },
  },
})
const plan = { prefix: 'many', topics: Number(values.topics), partitions: Number(values.partitions) }
const count = plan.topics * plan.partitions

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`
const report = (what: string, figure: string): void => console.log(`${what.padEnd(52)} ${figure}`)

async function timed(what: string, job: () => Promise<unknown>): Promise<number> {
  const start = performance.now()
  await job()
  const ms = performance.now() - start
  report(what, seconds(ms))
  return ms
}

async function footprint(node: LockstepNode): Promise<void> {
  const status = await readFile(`/proc/${node.pid}/status`, 'utf8')
  const mib = (name: string) => Math.round(Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024)
  const files = (await readdir(`/proc/${node.pid}/fd`)).length
  const stat = await readFile(`/proc/${node.pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const cpu = (Number(fields[11]) + Number(fields[12])) * TICK_MS
  report('  processor time since its start', seconds(cpu))
  report('  resident memory now / at most, open descriptors', `${mib('VmRSS')} / ${mib('VmHWM')} MiB, ${files}`)
}

async function withClient<T>(node: LockstepNode, work: (client: ManyPartitions) => Promise<T>): Promise<T> {
  const client = await ManyPartitions.connect(node.bootstrap, plan)
  try {
    return await work(client)
  } finally {
    await client.close()
  }
}

console.log(`${count} partitions (${plan.topics} topics), ${availableParallelism()} cores, Node ${process.version}`)
const node = await LockstepNode.start()
try {
  const produce = () => withClient(node, client => client.produce(Number(values.records)))
  await footprint(node)
  await timed('creating them', () => withClient(node, client => client.create()))
  await timed('producing to each', produce)
  await footprint(node)
  await timed('clean stop', () => node.stop())
  const clean = await timed('start after it, from process start to /readyz', () => node.start())
  await footprint(node)
  await timed('producing to each', produce)
  await node.kill()
  const killed = await timed('start after kill -9, from process start to /readyz', () => node.start())
  await footprint(node)
  const ends = await withClient(node, client => client.ends())
  const wanted = BigInt(2 * Number(values.records))
  const wrong = [...ends.values()].filter(end => end !== wanted).length
  report('partitions whose end is not where it was', String(wrong))
  await node.kill()
  const again = await timed('start after another kill -9', () => node.start())
  await footprint(node)
  const worst = Math.max(clean, killed, again)
  console.log(`bar: ready within ${seconds(READY_MS_MAX)}; ${worst > READY_MS_MAX ? 'MISSED' : 'met'}`)
} finally {
  await node.close()
}
