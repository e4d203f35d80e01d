/** The ceiling of the join benchmark: brokers that catch up with a Java leader, as Kafka's own replication does it. */
import { type Backlog, fillTopic } from '../mirror/backlog.ts'
import type { ClusterClient } from '../mirror/cluster-client.ts'
import { type CopyRate, copyRate } from '../mirror/copy-rate.ts'
import { clusterPids, type JoinedBenchWorld, LOOK_MS, replicaProgress } from './joined-world.ts'

const LEADER = 3

/** Fills a topic that one broker has alone, adds these followers, and watches them catch up. CPU time is that of the cluster. */
export async function catchUp(
  world: JoinedBenchWorld,
  of: { readonly topic: string; readonly backlog: Backlog; readonly followers: readonly number[] },
): Promise<CopyRate> {
  const { topic, followers } = of
  const { partitions, recordsPerBatch, batchBytes, batches } = of.backlog
  const leader = clientOf(world, LEADER)
  const assigned = (replicas: readonly number[]) => Array.from({ length: partitions }, () => replicas)
  const size = { partitions, recordsPerBatch, bytes: batches * batchBytes, assignment: assigned([LEADER]) }
  const backlog = await fillTopic(leader, topic, size)
  const watched = followers.map(id => clientOf(world, id))
  await leader.reassign(topic, assigned([LEADER, ...followers]))
  const ends = replicaProgress(
    { ...world, brokers: new Map(watched.map((client, index) => [index, client])) },
    { topic, partitions, copies: followers.length },
  )
  return await copyRate({
    backlog,
    ends,
    pids: clusterPids(world),
    failure: () => world.cluster.node(LEADER).output,
    pollMs: LOOK_MS,
  })
}

function clientOf({ brokers }: JoinedBenchWorld, id: number): ClusterClient {
  const client = brokers.get(id)
  if (!client) throw new Error(`no broker ${id}`)
  return client
}
