/** The processes of the join benchmark: an Apache Kafka to copy from, a cluster of three brokers, and a Lockstep node in it. */

import { eventually } from '../../test/eventually.ts'
import { KafkaCluster } from '../../test/kafka/cluster.ts'
import { startJoinedNode } from '../../test/kafka/joined-node.ts'
import type { LockstepNode } from '../../test/lockstep-process.ts'
import type { Opened } from '../../test/opened.ts'
import { ClusterClient } from '../mirror/cluster-client.ts'
import { MIRROR_MAKER_VERSION } from '../mirror/mirror-maker.ts'

/** Java replicas of each mirror. */
export const REPLICAS = 2
/** Brokers: each mirror is on two of them, and a Java leader has two others to follow it. */
const BROKERS = 3
/** Each look asks every broker for the ends of its replicas, which is charged to the copy. */
export const LOOK_MS = 25
/** MirrorMaker takes minutes. */
export const SELDOM_LOOK_MS = 500

export interface JoinedBenchWorld {
  readonly source: KafkaCluster
  readonly cluster: KafkaCluster
  readonly node: LockstepNode
  readonly sourceClient: ClusterClient
  /** To each broker of the cluster, by its id. */
  readonly brokers: ReadonlyMap<number, ClusterClient>
}

export async function startJoinedBench(
  opened: Opened,
  env: Readonly<Record<string, string>>,
): Promise<JoinedBenchWorld> {
  const version = MIRROR_MAKER_VERSION
  const properties = { 'default.replication.factor': String(REPLICAS), 'broker.session.timeout.ms': '30000' }
  const [source, cluster] = await opened.all<[KafkaCluster, KafkaCluster]>([
    KafkaCluster.start({ version }),
    KafkaCluster.start({ version, brokers: BROKERS, properties }),
  ])
  const node = await opened.add(startJoinedNode(cluster, { env }))
  await eventually(() => node.rest.call('GET', '/links'))
  const sourceClient = await opened.add(ClusterClient.connect(source.bootstrap))
  const brokers = new Map<number, ClusterClient>()
  for (const { id, address } of cluster.brokers) brokers.set(id, await opened.add(ClusterClient.connect(address)))
  return { source, cluster, node, sourceClient, brokers }
}

/** How far the replicas of a topic on these brokers are together, by broker and partition, for each of so many copies. */
export function replicaProgress(
  world: JoinedBenchWorld,
  of: { readonly topic: string; readonly partitions: number; readonly copies: number },
): () => Promise<number[]> {
  return async () => {
    const ends = await Promise.all(
      [...world.brokers.values()].map(broker => broker.replicaEnds(of.topic, of.partitions)),
    )
    return ends.flat().map(end => end / of.copies)
  }
}

/** Process ids of the cluster's controller and brokers. */
export const clusterPids = ({ cluster }: JoinedBenchWorld): number[] => cluster.nodes.map(({ pid = 0 }) => pid)
