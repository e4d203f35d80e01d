/** How fast and how cheaply a Lockstep node mirrors, beside MirrorMaker 2 doing the same work: `npm run bench:mirror -- --quick`. */
import { loadavg } from 'node:os'
import { parseArgs } from 'node:util'
import { KafkaCluster } from '../test/kafka/cluster.ts'
import { LockstepNode } from '../test/lockstep-process.ts'
import { Opened } from '../test/opened.ts'
import { type Backlog, fillTopic } from './mirror/backlog.ts'
import { ClusterClient } from './mirror/cluster-client.ts'
import { copyOptions, numbers } from './mirror/copy-options.ts'
import { type CopyRate, copyRate } from './mirror/copy-rate.ts'
import { type Delays, measureDelays } from './mirror/delay.ts'
import { type DelayTopic, mirrorWithLockstep, type Source } from './mirror/lockstep-side.ts'
import { MIRROR_MAKER_VERSION, MirrorMaker } from './mirror/mirror-maker.ts'
import { type CaseFigures, printReport } from './mirror/report.ts'

const { values: given } = parseArgs({
  options: {
    ...copyOptions,
    /** Which cluster is copied from: kafka or lockstep. MirrorMaker 2 runs with kafka only. */
    source: { type: 'string', default: 'kafka' },
  },
})
const plan = {
  partitions: numbers(given.partitions ?? (given.quick ? '8' : '1,8,64')),
  recordsPerBatch: numbers(given.batches ?? '1,64'),
  bytes: Number(given.megabytes ?? (given.quick ? 90 : 450)) * 1e6,
  runs: Number(given.runs ?? (given.quick ? 1 : 3)),
  mirrorMaker: !given['without-mirror-maker'] && given.source === 'kafka',
  delay: given['without-delay'] ? undefined : { recordsPerSecond: 1000, seconds: given.quick ? 3 : 10 },
  profile: given.profile,
}

/** The copying process of comparison and where it copies to. */
interface Comparison {
  readonly source: Source
  readonly target: Source
}

const opened = new Opened()
try {
  const source: Source = await opened.add<KafkaCluster | LockstepNode>(
    given.source === 'kafka' ? KafkaCluster.start({ version: MIRROR_MAKER_VERSION }) : LockstepNode.start(),
  )
  const target = plan.mirrorMaker ? await opened.add(KafkaCluster.start({ version: MIRROR_MAKER_VERSION })) : undefined
  const client = await opened.add(ClusterClient.connect(source.bootstrap))
  const cases: CaseFigures[] = []
  for (const partitions of plan.partitions)
    for (const recordsPerBatch of plan.recordsPerBatch)
      cases.push(await measureCase({ client, source, target }, { partitions, recordsPerBatch }))
  printReport(cases)
} finally {
  await opened.close()
}

async function measureCase(
  clusters: { client: ClusterClient; source: Source; target: Source | undefined },
  shape: { partitions: number; recordsPerBatch: number },
): Promise<CaseFigures> {
  const { client, source, target } = clusters
  const { partitions, recordsPerBatch } = shape
  const name = `${recordsPerBatch} KB batches, ${partitions} partition${partitions === 1 ? '' : 's'}`
  const topic = `copy-${partitions}-${recordsPerBatch}`
  const backlog = await fillTopic(client, topic, { partitions, recordsPerBatch, bytes: plan.bytes })
  // The delay does not depend on the batches of the backlog.
  const delay = recordsPerBatch === plan.recordsPerBatch[0] && plan.delay && { ...plan.delay, partitions }
  const lockstepDelay = delay && (await delayTopic(client, { ...delay, topic: `delay-${partitions}` }))
  console.log(`\n${name}; load of the machine ${loadavg()[0]?.toFixed(1)}`)
  const lockstep = await mirrorWithLockstep(source, { ...plan, backlog, delay: lockstepDelay || undefined })
  for (const rate of lockstep.rates) console.log(`  Lockstep  ${textOf(rate)}`)
  for (const { where, share } of lockstep.profile ?? []) console.log(`    ${(share * 100).toFixed(1)} %  ${where}`)
  const otherDelay = delay && target && (await delayTopic(client, { ...delay, topic: `delay-mm2-${partitions}` }))
  const other = target && (await mirrorWithMirrorMaker({ source, target }, backlog, otherDelay || undefined))
  if (other) console.log(`  MM2       ${textOf(other.rate)}`)
  return {
    name,
    rates: lockstep.rates,
    mirrorMakerRate: other?.rate,
    delays: lockstep.delays,
    mirrorMakerDelays: other?.delays ?? [],
  }
}

function textOf(rate: CopyRate): string {
  const { megabytesPerSecond, cpuSecondsPerGigabyte, bytes, cpuSeconds } = rate
  const counted = `${(bytes / 1e6).toFixed(0)} MB in ${cpuSeconds.toFixed(2)} CPU s`
  return `${megabytesPerSecond.toFixed(0)} MB/s, ${cpuSecondsPerGigabyte.toFixed(2)} CPU s/GB (${counted})`
}

async function delayTopic(client: ClusterClient, delay: DelayTopic): Promise<DelayTopic> {
  await client.createTopic(delay.topic, delay.partitions)
  return delay
}

async function mirrorWithMirrorMaker(
  { source, target }: Comparison,
  backlog: Backlog,
  delay: DelayTopic | undefined,
): Promise<{ rate: CopyRate; delays: Delays[] }> {
  const topics = [backlog.topic, ...(delay ? [delay.topic] : [])]
  const process = await MirrorMaker.start({ source: source.bootstrap, target: target.bootstrap, topics })
  const client = await ClusterClient.connect(target.bootstrap)
  try {
    const ends = () => client.endOffsets(backlog.topic, backlog.partitions)
    const rate = await copyRate({ backlog, ends, pids: [process.pid], failure: () => process.output })
    if (!delay) return { rate, delays: [] }
    const readers = [source, target].map(({ bootstrap }) => ({ bootstrap, topic: delay.topic }))
    return { rate, delays: await measureDelays(source.bootstrap, { ...delay, readers }) }
  } finally {
    await client.close()
    await process.close()
  }
}
