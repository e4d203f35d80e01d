/** What thousands of mirror partitions cost a node that has joined an Apache Kafka cluster, and that cluster's brokers: `npm run bench:joined-partitions`. */
import { loadavg } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { residentMib } from '../test/hostile/node-memory.ts'
import { ManyMirrors } from '../test/scenarios/many-mirrors.ts'
import { cpuSecondsOf } from './mirror/copy-rate.ts'

const { values } = parseArgs({
  options: {
    topics: { type: 'string', default: '20' },
    partitions: { type: 'string', default: '100' },
    /** Records per second in the steady states that are measured. */
    rates: { type: 'string', default: '0,100,1000' },
    seconds: { type: 'string', default: '15' },
    /** Writes CPU profiles of the node's lives into this folder. */
    profile: { type: 'string' },
  },
})
const plan = { topics: Number(values.topics), partitions: Number(values.partitions) }
const seconds = Number(values.seconds)

const report = (what: string, figure: string): void => console.log(`${what.padEnd(52)} ${figure}`)

async function timed(what: string, job: () => Promise<unknown>): Promise<void> {
  const start = performance.now()
  await job()
  report(what, `${((performance.now() - start) / 1000).toFixed(2)} s`)
}

console.log(`${plan.topics * plan.partitions} partitions; load of the machine ${loadavg()[0]?.toFixed(1)}`)
const profiling = `--cpu-prof --cpu-prof-dir=${values.profile}`
const world = await ManyMirrors.start(plan, values.profile === undefined ? {} : { NODE_OPTIONS: profiling })
try {
  await timed('mirrors created, copied, every Java replica in sync', () => world.mirrorAll())
  await footprint()
  for (const rate of values.rates.split(',').map(Number)) await steady(rate)
  await timed('kill -9 to ready again', () => world.node.crash())
  report('  processor time of the node until then', `${cpuSecondsOf(world.node.pid ?? 0).toFixed(2)} s`)
  await timed('  and in step', () => world.inStep())
  report('  partitions whose leader epoch changed', String(await world.epochChanges()))
  await footprint()
  await timed('stop', () => world.node.stop())
  await timed('start after it, ready', () => world.node.start())
  await timed('  and leading everything, in step', () => world.inStep())
  await footprint()
} finally {
  await world.close()
}

async function footprint(): Promise<void> {
  report('  resident memory of the node', `${await residentMib(world.node.pid)} MiB`)
}

/** Processor time of the processes while so many records come per second, each to another partition. */
async function steady(rate: number): Promise<void> {
  const pids = world.processes()
  const before = new Map(pids.map(([name, pid]) => [name, cpuSecondsOf(pid)]))
  const beganMs = performance.now()
  const produced = await Promise.all([world.produceFor(rate, seconds), pause(seconds * 1000)])
  const lasted = (performance.now() - beganMs) / 1000
  report(
    `${rate} records/s for ${lasted.toFixed(0)} s`,
    `${produced[0]} records; oldest heartbeat ${await world.oldestHeartbeatSeconds()} s`,
  )
  for (const [name, pid] of pids)
    report(
      `  processor time of ${name}`,
      `${(((cpuSecondsOf(pid) - (before.get(name) ?? 0)) / lasted) * 100).toFixed(1)} %`,
    )
  await timed('  and in step', () => world.inStep())
}
