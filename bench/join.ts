/** What it takes to have a topic of a source on two Java replicas: through a joined Lockstep node, with MirrorMaker 2, and Kafka's own replication as the ceiling: `npm run bench:join -- --quick`. */
import { mkdtemp } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Opened } from '../test/opened.ts'
import { catchUp } from './join/ceiling.ts'
import {
  clusterPids,
  type JoinedBenchWorld,
  LOOK_MS,
  REPLICAS,
  replicaProgress,
  SELDOM_LOOK_MS,
  startJoinedBench,
} from './join/joined-world.ts'
import { type JoinCase, printJoinReport } from './join/report.ts'
import { type Backlog, fillTopic } from './mirror/backlog.ts'
import { copyOptions, numbers } from './mirror/copy-options.ts'
import { type CopyRate, copyRate } from './mirror/copy-rate.ts'
import { type Delays, measureDelays } from './mirror/delay.ts'
import { mirrorTopic } from './mirror/lockstep-side.ts'
import { MirrorMaker } from './mirror/mirror-maker.ts'
import { topSelfTimes } from './mirror/profile.ts'

const { values: given } = parseArgs({ options: copyOptions })
const plan = {
  partitions: numbers(given.partitions ?? '8'),
  recordsPerBatch: numbers(given.batches ?? (given.quick ? '16' : '1,16,64')),
  bytes: Number(given.megabytes ?? (given.quick ? 150 : 300)) * 1e6,
  runs: Number(given.runs ?? (given.quick ? 1 : 3)),
  mirrorMaker: !given['without-mirror-maker'],
  delay: given['without-delay'] ? undefined : { recordsPerSecond: 1000, seconds: given.quick ? 5 : 10 },
}

const opened = new Opened()
try {
  const folder = given.profile ? await mkdtemp(join(tmpdir(), 'lockstep-bench-profile-')) : undefined
  const profiling = `--cpu-prof --cpu-prof-dir=${folder} --cpu-prof-interval=500`
  const world = await startJoinedBench(opened, folder === undefined ? {} : { NODE_OPTIONS: profiling })
  const cases: Awaited<ReturnType<typeof measureCase>>[] = []
  for (const partitions of plan.partitions)
    for (const recordsPerBatch of plan.recordsPerBatch)
      cases.push(await measureCase(world, { partitions, recordsPerBatch }))
  const delays = plan.delay && (await lockstepDelays(world, { ...plan.delay, partitions: plan.partitions[0] ?? 1 }))
  for (const { p50, p99 } of delays ?? []) console.log(`  delay     ${p50.toFixed(1)} / ${p99.toFixed(1)} ms`)
  const others = new Map<string, CopyRate>()
  for (const { name, backlog } of plan.mirrorMaker ? cases : []) {
    const rate = await throughMirrorMaker(world, backlog)
    console.log(`  ${'MM2'.padEnd(10)}${textOf(rate)}  ${name}`)
    others.set(name, rate)
  }
  printJoinReport(
    cases.map(one => ({ ...one, mirrorMaker: others.get(one.name) })),
    delays ?? [],
  )
  if (folder !== undefined) {
    await world.node.stop()
    const stretches = cases.flatMap(({ rounds }) => rounds.map(({ lockstep }) => lockstep))
    for (const { where, share } of await topSelfTimes(folder, stretches))
      console.log(`  ${(share * 100).toFixed(1)} %  ${where}`)
  }
} finally {
  await opened.close()
}

async function measureCase(
  world: JoinedBenchWorld,
  shape: { readonly partitions: number; readonly recordsPerBatch: number },
): Promise<JoinCase & { readonly backlog: Backlog }> {
  const { partitions, recordsPerBatch } = shape
  const name = `${recordsPerBatch} KB batches, ${partitions} partition${partitions === 1 ? '' : 's'}`
  const topic = `copy-${partitions}-${recordsPerBatch}`
  const backlog = await fillTopic(world.sourceClient, topic, { ...shape, bytes: plan.bytes })
  console.log(`\n${name}; load of the machine ${loadavg()[0]?.toFixed(1)}`)
  // The first mirror of a process only warms it up.
  await throughLockstep(world, backlog, `${topic}-warm`)
  const rounds: JoinCase['rounds'][number][] = []
  for (let run = 0; run < plan.runs; run++) {
    const lockstep = await throughLockstep(world, backlog, `${topic}-${run}`)
    const one = await catchUp(world, { topic: `one-${topic}-${run}`, backlog, followers: [1] })
    const two = await catchUp(world, { topic: `two-${topic}-${run}`, backlog, followers: [1, 2] })
    const round = { lockstep, one, two }
    for (const [what, rate] of Object.entries(round)) console.log(`  ${what.padEnd(10)}${textOf(rate)}`)
    rounds.push(round)
  }
  return { name, rounds, backlog, mirrorMaker: undefined }
}

/** CPU time of all: source, node, controller, brokers. */
async function throughLockstep(world: JoinedBenchWorld, backlog: Backlog, run: string): Promise<CopyRate> {
  const { source, node } = world
  const topic = await mirrorTopic(node, source, { topic: backlog.topic, run })
  const ends = replicaProgress(world, { topic, partitions: backlog.partitions, copies: REPLICAS })
  const pids = [node.pid ?? 0, source.node(1).pid ?? 0, ...clusterPids(world)]
  return await copyRate({ backlog, ends, pids, failure: () => node.output, pollMs: LOOK_MS })
}

/** CPU time of all: source, MirrorMaker, controller, brokers. */
async function throughMirrorMaker(world: JoinedBenchWorld, backlog: Backlog): Promise<CopyRate> {
  const { source, cluster } = world
  const { topic, partitions } = backlog
  const process = await MirrorMaker.start({
    source: source.bootstrap,
    target: cluster.bootstrap,
    topics: [topic],
    replicas: REPLICAS,
  })
  try {
    const ends = replicaProgress(world, { topic, partitions, copies: REPLICAS })
    const pids = [process.pid, source.node(1).pid ?? 0, ...clusterPids(world)]
    return await copyRate({ backlog, ends, pids, failure: () => process.output, pollMs: SELDOM_LOOK_MS })
  } finally {
    await process.close()
  }
}

/** From sending a record to seeing it at the source, and at each Java replica. */
async function lockstepDelays(
  world: JoinedBenchWorld,
  delay: { readonly partitions: number; readonly recordsPerSecond: number; readonly seconds: number },
): Promise<Delays[]> {
  const { source, cluster, node, sourceClient } = world
  const topic = 'delay'
  await sourceClient.createTopic(topic, delay.partitions)
  const mirror = await mirrorTopic(node, source, { topic, run: 'delay' })
  const replicas = cluster.brokers.map(({ id, address }) => ({ bootstrap: address, topic: mirror, replicasOf: id }))
  const readers = [{ bootstrap: source.bootstrap, topic }, ...replicas]
  return await measureDelays(source.bootstrap, { ...delay, topic, readers })
}

function textOf({ megabytesPerSecond, cpuSecondsPerGigabyte, bytes, cpuSecondsByProcess }: CopyRate): string {
  const each = cpuSecondsByProcess.map(seconds => ((seconds * 1e9) / bytes).toFixed(1)).join(' + ')
  return `${megabytesPerSecond.toFixed(0)} MB/s, ${cpuSecondsPerGigabyte.toFixed(1)} CPU s/GB (${each})`
}
