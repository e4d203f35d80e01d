// A mirror in an Apache Kafka cluster that a node has joined, with the figures that the node counts of its clients; the suite of joined clients stands on it.
import { strictEqual } from 'node:assert/strict'
import { eventually } from '../eventually.ts'
import { JavaDriver } from '../java/driver.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { startJoinedNode } from '../kafka/joined-node.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { MirrorLink } from './mirror-link.ts'

/** The mirror, of two partitions. */
export const TOPIC = 'orders'
/** In both partitions together. */
export const RECORDS = 40

/** Nothing here waits for a session to end, and a busy machine must not end one. */
const clusterProperties = { 'broker.session.timeout.ms': '30000', 'default.replication.factor': '2' }

export interface ClientsStage {
  readonly java: JavaDriver
  readonly source: LockstepNode
  readonly cluster: KafkaCluster
  /** Broker 1001 of the cluster. */
  readonly node: LockstepNode
  readonly link: MirrorLink
  /** A figure of the node's metrics by its name without `lockstep_`. */
  readonly figure: (name: string) => Promise<number>
  /** Of consumers that the node sent away, and of those that it served. */
  readonly reads: () => Promise<{ readonly redirected: number; readonly served: number }>
  /** What one of Kafka's tools prints that knows only the node; it must succeed. */
  readonly tool: (name: string, args: readonly string[]) => Promise<string>
  readonly close: () => Promise<void>
}

/** A standalone node as the source, a cluster of two Kafka brokers, a node that joined it, and a mirror there. */
export async function startClientsStage(): Promise<ClientsStage> {
  const opened = new Opened()
  try {
    return { ...(await start(opened)), close: () => opened.close() }
  } catch (error) {
    await opened.close()
    throw error
  }
}

async function start(opened: Opened): Promise<Omit<ClientsStage, 'close'>> {
  const [java, source, cluster] = await opened.all<[JavaDriver, LockstepNode, KafkaCluster]>([
    JavaDriver.start({ version: '4.3.1' }),
    LockstepNode.start(),
    KafkaCluster.start({ version: '4.3.1', brokers: 2, properties: clusterProperties }),
  ])
  const node = await opened.add(startJoinedNode(cluster))
  await fill(java, source.bootstrap)
  const link = await eventually(() => MirrorLink.create(node, 'from-source', source))
  await link.mirror(TOPIC)
  await eventually(async () => {
    const { mirror_status, mirror_lags } = await link.describe(TOPIC)
    strictEqual(mirror_status, 'ACTIVE')
    for (const { lag } of mirror_lags) strictEqual(lag, 0)
  })
  const figure = (name: string) => figureOf(node, name)
  return {
    ...{ java, source, cluster, node, link, figure },
    reads: async () => ({ redirected: await figure('reads_redirected'), served: await figure('reads_served') }),
    tool: (name, args) => runTool({ java, node }, name, args),
  }
}

/** Both partitions get half of the records, a second apart, years ago. */
async function fill(java: JavaDriver, bootstrap: string): Promise<void> {
  const configs = { 'retention.ms': '-1' }
  await java.call('create-topics', { bootstrap, topics: [{ name: TOPIC, partitions: 2, configs }] })
  for (const partition of [0, 1]) {
    const records = Array.from({ length: RECORDS / 2 }, (_, index) => ({
      key: `k${index}`,
      value: `v${partition}-${index}`,
      timestamp: 1_700_000_000_000 + index * 1000,
    }))
    await java.call('produce', { bootstrap, topic: TOPIC, partition, records })
  }
}

async function figureOf(node: LockstepNode, name: string): Promise<number> {
  const { body } = await node.rest.request('GET', '/metrics')
  const line = String(body)
    .split('\n')
    .find(text => text.startsWith(`lockstep_${name} `))
  if (line === undefined) throw new Error(`no lockstep_${name} among the metrics`)
  return Number(line.split(' ')[1])
}

async function runTool(
  { java, node }: Pick<ClientsStage, 'java' | 'node'>,
  name: string,
  args: readonly string[],
): Promise<string> {
  const answer = await java.call<{ status: number; out: string; err: string }>('run-tool', {
    tool: name,
    args: ['--bootstrap-server', node.bootstrap, ...args],
  })
  strictEqual(answer.status, 0, answer.out + answer.err)
  return answer.out
}
