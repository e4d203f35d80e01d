// A Kafka cluster that a Lockstep node has joined, a standalone node that takes over from it, and a bidirectional link between both; used by suites of restores.
import { eventually } from '../eventually.ts'
import { JavaDriver } from '../java/driver.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { startJoinedNode } from '../kafka/joined-node.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { MirrorLink } from './mirror-link.ts'
import { TopicSide } from './topic-side.ts'

/** A node and its half of the link. */
interface Half {
  readonly node: LockstepNode
  readonly link: MirrorLink
}

export interface JoinedPeersWorld {
  readonly cluster: KafkaCluster
  readonly driver: JavaDriver
  /** The node that has joined the cluster. */
  readonly original: Half
  readonly survivor: Half
  /** The cluster as Java clients see it, with the logs of each of its Kafka brokers, and then of the node. */
  readonly copies: readonly TopicSide[]
  readonly there: TopicSide
  readonly close: () => Promise<void>
}

/** Follows its source soon, and looks at its peer soon. */
const quick = { 'metadata.max.age.ms': '1000' }

type Properties = Readonly<Record<string, string>>

/** `properties`: of the Kafka brokers; `nodes`: of both Lockstep nodes. */
export async function startJoinedPeers(properties: Properties = {}, nodes: Properties = {}): Promise<JoinedPeersWorld> {
  const version = '4.3.1'
  const opened = new Opened()
  try {
    const [cluster, survivor, driver] = await opened.all<[KafkaCluster, LockstepNode, JavaDriver]>([
      KafkaCluster.start({
        version,
        brokers: { combined: 2 },
        properties: { 'default.replication.factor': '2', ...properties },
      }),
      LockstepNode.start({ properties: nodes }),
      JavaDriver.start({ version }),
    ])
    const original = await opened.add(startJoinedNode(cluster, { properties: nodes }))
    const to = ({ bootstrap, clusterId }: Pick<KafkaCluster, 'bootstrap' | 'clusterId'>) => ({
      ...{ bootstrap, clusterId },
      configs: quick,
    })
    // Ready to serve, the node first makes the topics of the link state, and publishes what there is.
    const there = await eventually(() => MirrorLink.createSide(survivor, 'twin', to(cluster)))
    const here = await eventually(() => MirrorLink.createSide(original, 'twin', to(survivor)))
    const { bootstrap } = cluster
    const places = [...cluster.brokers, original].map(({ dataDirectory }) => ({ bootstrap, dataDirectory }))
    return {
      ...{ cluster, driver },
      original: { node: original, link: here },
      survivor: { node: survivor, link: there },
      copies: places.map(place => new TopicSide(driver, place)),
      there: new TopicSide(driver, survivor),
      close: () => opened.close(),
    }
  } catch (error) {
    await opened.close()
    throw error
  }
}
