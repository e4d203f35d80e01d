// What suites of joined links share: a real source, a real cluster that Lockstep nodes have joined, a link between both, and views of every Java replica.
import { JavaDriver } from '../java/driver.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { type JoinedNodeOptions, startJoinedNode } from '../kafka/joined-node.ts'
import type { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { eagerCleaner } from './compacted-topic.ts'
import { MirrorLink } from './mirror-link.ts'
import { TopicSide } from './topic-side.ts'

/** Nothing waits for a session to end unless a test is about that, and a busy machine must not end one. */
const longSession = { 'broker.session.timeout.ms': '30000' }

export interface JoinedWorld {
  readonly source: KafkaCluster
  readonly cluster: KafkaCluster
  /** The source as Java sees it. */
  readonly there: TopicSide
  /** The mirror's cluster as Java sees it through broker 1, with the logs of that broker. */
  readonly here: TopicSide
  /** With the logs of another of its brokers. */
  readonly replica: (brokerId: number) => TopicSide
  readonly join: (options?: JoinedNodeOptions) => Promise<LockstepNode>
  readonly link: (node: LockstepNode, configs?: Readonly<Record<string, string>>) => Promise<MirrorLink>
  readonly close: () => Promise<void>
}

export interface JoinedWorldOptions {
  /** Properties of the brokers of the cluster that is joined. */
  readonly properties?: Readonly<Record<string, string>>
}

/** What was started is ended again if something cannot start. */
export async function startJoinedWorld(options: JoinedWorldOptions = {}): Promise<JoinedWorld> {
  const opened = new Opened()
  const version = '4.3.1'
  try {
    const [source, cluster, driver] = await opened.all<[KafkaCluster, KafkaCluster, JavaDriver]>([
      KafkaCluster.start({ version, properties: eagerCleaner }),
      KafkaCluster.start({ version, brokers: 2, properties: { ...longSession, ...options.properties } }),
      JavaDriver.start({ version }),
    ])
    const { bootstrap, clusterId } = source
    const replica = (brokerId: number) =>
      new TopicSide(driver, { bootstrap: cluster.bootstrap, dataDirectory: cluster.node(brokerId).dataDirectory })
    return {
      source,
      cluster,
      there: new TopicSide(driver, { bootstrap, dataDirectory: source.node(1).dataDirectory }),
      here: replica(1),
      replica,
      join: more => opened.add(startJoinedNode(cluster, more)),
      link: (node, configs = {}) => MirrorLink.create(node, 'from-kafka', { bootstrap, clusterId, configs }),
      close: () => opened.close(),
    }
  } catch (error) {
    await opened.close()
    throw error
  }
}
