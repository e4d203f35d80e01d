/** The two brokers that are compared, each a process of its own, and what a measurement needs of them; bench/broker.ts starts them. */
import { KafkaCluster } from '../../test/kafka/cluster.ts'
import { LockstepNode } from '../../test/lockstep-process.ts'
import type { Opened } from '../../test/opened.ts'
import { ClusterClient } from '../mirror/cluster-client.ts'
import { cpuSecondsOf } from '../mirror/copy-rate.ts'
import { jvmArguments, KAFKA_VERSION } from './kafka-tools.ts'

export type SideName = 'Kafka' | 'Lockstep'

/** One broker under test. */
export interface Side {
  readonly name: SideName
  readonly bootstrap: string
  readonly client: ClusterClient
  /** CPU time of the broker's process so far, all threads. */
  cpuSeconds(): number
}

/** As Kafka's start script sets a broker up. */
const KAFKA_HEAP = ['-Xms1G', '-Xmx1G']

/** `profileFolder`: where the Lockstep node leaves a CPU profile when it stops. */
export async function startSides(
  opened: Opened,
  profileFolder: string | undefined,
): Promise<{ sides: readonly Side[]; lockstep: LockstepNode }> {
  const options = profileFolder === undefined ? '' : `--cpu-prof --cpu-prof-dir=${profileFolder}`
  const [kafka, lockstep] = await opened.all<[KafkaCluster, LockstepNode]>([
    KafkaCluster.start({ version: KAFKA_VERSION, jvmArguments: [...KAFKA_HEAP, ...jvmArguments] }),
    LockstepNode.start({ env: { NODE_OPTIONS: options } }),
  ])
  const sideOf = async (name: SideName, bootstrap: string, pid: () => number | undefined): Promise<Side> => ({
    name,
    bootstrap,
    client: await opened.add(ClusterClient.connect(bootstrap)),
    cpuSeconds: () => cpuSecondsOf(pid() ?? 0),
  })
  const sides = await Promise.all([
    sideOf('Kafka', kafka.bootstrap, () => kafka.brokers[0]?.pid),
    sideOf('Lockstep', lockstep.bootstrap, () => lockstep.pid),
  ])
  return { sides, lockstep }
}
