/** How fast clients write to and read from a Lockstep node, beside a real Kafka in the same run: `npm run bench:broker -- --quick`. */
import { mkdtemp } from 'node:fs/promises'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { runTool } from '../test/child-process.ts'
import { Opened } from '../test/opened.ts'
import type { Transport } from './broker/access.ts'
import { consumerPerf, producerPerf, RECORD_BYTES } from './broker/kafka-tools.ts'
import { type CaseRates, printReport, type Rate, ratioOf } from './broker/report.ts'
import { type Side, type SideName, startSides } from './broker/sides.ts'
import { topSelfTimes } from './mirror/profile.ts'

const { values: given } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    /** Records of 1 000 bytes that each run of producer-perf counts. */
    records: { type: 'string' },
    /** Records that each run of consumer-perf reads. */
    backlog: { type: 'string' },
    /** Pairs of runs for each case. */
    pairs: { type: 'string' },
    acks: { type: 'string', default: '1,all' },
    partitions: { type: 'string', default: '1,12' },
    transports: { type: 'string', default: 'plaintext,tls' },
    'without-produce': { type: 'boolean', default: false },
    'without-consume': { type: 'boolean', default: false },
    /** Prints where the Lockstep process spent its time; the figures are then those of a profiled process. */
    profile: { type: 'boolean', default: false },
  },
})
const plan = {
  records: Number(given.records ?? (given.quick ? 20_000 : 100_000)),
  backlog: Number(given.backlog ?? (given.quick ? 50_000 : 500_000)),
  pairs: Number(given.pairs ?? (given.quick ? 1 : 5)),
  acks: given.acks.split(','),
  partitions: given.partitions.split(',').map(Number),
  transports: given.transports.split(',').map(name => (name === 'tls' ? 'tls' : 'plaintext')),
}
/** Records of a run that producer-perf does not count. */
const WARMUP_SHARE = 0.5

const opened = new Opened()
try {
  const profileFolder = given.profile ? await mkdtemp(join(tmpdir(), 'lockstep-bench-profile-')) : undefined
  const beganUs = Number(process.hrtime.bigint() / 1000n)
  const { sides, lockstep } = await startSides(opened, profileFolder)
  const cases: CaseRates[] = []
  for (const partitions of plan.partitions) {
    if (!given['without-produce'])
      for (const transport of plan.transports)
        for (const acks of plan.acks) cases.push(await measureProduce(sides, { partitions, acks, transport }))
    if (given['without-consume']) continue
    const topic = await fillForConsumers(sides, partitions)
    for (const transport of plan.transports) cases.push(await measureConsume(sides, { topic, partitions, transport }))
  }
  printReport(cases)
  if (profileFolder) {
    await lockstep.stop()
    const stretch = { beganUs, endedUs: Number.MAX_SAFE_INTEGER }
    for (const { where, share } of await topSelfTimes(profileFolder, [stretch]))
      console.log(`  ${(share * 100).toFixed(1)} %  ${where}`)
  }
} finally {
  await opened.close()
}

/** Each run has a topic of its own. The first pair only warms the brokers up. */
async function measureProduce(
  sides: readonly Side[],
  of: { readonly partitions: number; readonly acks: string; readonly transport: Transport },
): Promise<CaseRates> {
  const { partitions, acks, transport } = of
  const warmup = plan.records * WARMUP_SHARE
  return await measurePairs(`produce, acks=${acks}, ${textOf(of)}`, sides, async (side, run) => {
    const topic = `produce-${acks}-${partitions}-${transport}-${run}`
    await side.client.createTopic(topic, partitions)
    const work = { access: side.access[transport], topic, records: plan.records, warmup, acks }
    return await measured(side, (plan.records + warmup) * RECORD_BYTES, () => producerPerf(work))
  })
}

/** The same producer writes the same backlog to both. */
async function fillForConsumers(sides: readonly Side[], partitions: number): Promise<string> {
  const topic = `consume-${partitions}`
  for (const { client, access } of sides) {
    await client.createTopic(topic, partitions)
    const warmup = plan.backlog * WARMUP_SHARE
    await producerPerf({ access: access.plaintext, topic, records: plan.backlog - warmup, warmup, acks: '1' })
  }
  return topic
}

/** The backlog is read several times, from the systems' caches. */
async function measureConsume(
  sides: readonly Side[],
  of: { readonly topic: string; readonly partitions: number; readonly transport: Transport },
): Promise<CaseRates> {
  const { topic, transport } = of
  const records = plan.backlog
  return await measurePairs(`consume, ${textOf(of)}`, sides, side =>
    measured(side, records * RECORD_BYTES, () => consumerPerf({ access: side.access[transport], topic, records })),
  )
}

/** The brokers take turns, and so does who begins. */
async function measurePairs(
  name: string,
  sides: readonly Side[],
  run: (side: Side, number: number) => Promise<Rate>,
): Promise<CaseRates> {
  console.log(`\n${name}; load of the machine ${loadavg()[0]?.toFixed(1)}`)
  const pairs: Record<SideName, Rate>[] = []
  for (let number = 0; number <= plan.pairs; number++) {
    const rates = new Map<SideName, Rate>()
    for (const side of number % 2 === 0 ? sides : sides.toReversed()) {
      // What the run before left to be written is not charged to this one.
      await runTool('sync', [])
      rates.set(side.name, await run(side, number))
    }
    const [Kafka, Lockstep] = [rates.get('Kafka'), rates.get('Lockstep')]
    if (!Kafka || !Lockstep) throw new Error('a side is missing')
    const pair = { Kafka, Lockstep }
    const speeds = `Kafka ${textOfRate(Kafka)}, Lockstep ${textOfRate(Lockstep)}, ratio ${ratioOf(pair).toFixed(2)}`
    console.log(`  ${speeds}${number === 0 ? ' (not counted)' : ''}`)
    if (number > 0) pairs.push(pair)
  }
  return { name, pairs }
}

async function measured(side: Side, bytes: number, run: () => Promise<number>): Promise<Rate> {
  const before = side.cpuSeconds()
  const megabytesPerSecond = await run()
  return { megabytesPerSecond, cpuSecondsPerGigabyte: ((side.cpuSeconds() - before) * 1e9) / bytes }
}

function textOf({ partitions, transport }: { partitions: number; transport: Transport }): string {
  return `${partitions} partition${partitions === 1 ? '' : 's'}${transport === 'tls' ? ', TLS' : ''}`
}

function textOfRate({ megabytesPerSecond, cpuSecondsPerGigabyte }: Rate): string {
  return `${megabytesPerSecond.toFixed(1)} MB/s (${cpuSecondsPerGigabyte.toFixed(1)} CPU s/GB)`
}
