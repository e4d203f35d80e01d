/** One case with a Lockstep node as the copying process: the same backlog mirrored several times, then the delay. */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LockstepNode } from '../../test/lockstep-process.ts'
import type { Backlog } from './backlog.ts'
import { ClusterClient } from './cluster-client.ts'
import { type CopyRate, copyRate } from './copy-rate.ts'
import { type Delays, measureDelays } from './delay.ts'
import { type SelfTime, topSelfTimes } from './profile.ts'

/** A cluster to copy from. */
export interface Source {
  readonly bootstrap: string
  readonly clusterId: string
}

export interface DelayTopic {
  readonly topic: string
  readonly partitions: number
  readonly recordsPerSecond: number
  readonly seconds: number
}

export interface LockstepFigures {
  readonly rates: readonly CopyRate[]
  /** Seen by a consumer of the source, and by one of the mirror. */
  readonly delays: readonly Delays[]
  readonly profile: readonly SelfTime[] | undefined
}

/** The first mirror of a process only warms it up. */
const UNCOUNTED_RUNS = 1

/** Each run mirrors the topic through a link of its own, with a prefix. */
export async function mirrorWithLockstep(
  source: Source,
  work: {
    readonly backlog: Backlog
    readonly runs: number
    readonly delay: DelayTopic | undefined
    readonly profile: boolean
  },
): Promise<LockstepFigures> {
  const { backlog, runs, delay } = work
  const folder = work.profile ? await mkdtemp(join(tmpdir(), 'lockstep-bench-profile-')) : undefined
  const node = await LockstepNode.start({
    env: folder === undefined ? {} : { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder} --cpu-prof-interval=500` },
  })
  try {
    const client = await ClusterClient.connect(node.bootstrap)
    const rates: CopyRate[] = []
    for (let run = 0; run < runs + UNCOUNTED_RUNS; run++) {
      const mirror = await mirrorTopic(node, source, { topic: backlog.topic, run })
      const pid = node.pid ?? 0
      const ends = () => client.endOffsets(mirror, backlog.partitions)
      const rate = await copyRate({ backlog, ends, pids: [pid], failure: () => node.output })
      if (run >= UNCOUNTED_RUNS) rates.push(rate)
    }
    const delays = delay ? await delaysThrough(node, source, delay) : []
    await client.close()
    if (folder) await node.stop()
    return { rates, delays, profile: folder === undefined ? undefined : await topSelfTimes(folder, rates) }
  } finally {
    await node.close()
  }
}

async function delaysThrough(node: LockstepNode, source: Source, delay: DelayTopic): Promise<Delays[]> {
  const mirror = await mirrorTopic(node, source, { topic: delay.topic, run: 'delay' })
  const readers = [
    { bootstrap: source.bootstrap, topic: delay.topic },
    { bootstrap: node.bootstrap, topic: mirror },
  ]
  return await measureDelays(source.bootstrap, { ...delay, readers })
}

/** Through a link of its own, with a prefix. Answers the mirror's name. */
export async function mirrorTopic(
  node: LockstepNode,
  source: Source,
  { topic, run }: { topic: string; run: number | string },
): Promise<string> {
  const link = `run-${run}`
  const prefix = `${link}-`
  await node.rest.call('POST', `/links?link_name=${link}`, {
    source_cluster_id: source.clusterId,
    configs: [
      { name: 'bootstrap.servers', value: source.bootstrap },
      { name: 'cluster.link.prefix', value: prefix },
    ],
  })
  await node.rest.call('POST', `/links/${link}/mirrors`, { source_topic_name: topic })
  return `${prefix}${topic}`
}
