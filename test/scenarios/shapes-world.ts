// What the suite of shapes runs on: a real Kafka, two Lockstep nodes, and the links between them. The first node may have joined a Kafka cluster, which is then a source, too.
import type { ClientSecurity } from '../clients/client-record.ts'
import { javaProperties } from '../clients/client-security.ts'
import { JavaDriver } from '../java/driver.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import type { KafkaVersion } from '../kafka/jars.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { eagerCleaner } from './compacted-topic.ts'
import { chosenDestination, type Destination, startDestination } from './destination.ts'
import { MirrorLink } from './mirror-link.ts'
import { TopicSide } from './topic-side.ts'

/** A cluster of the world: how links reach it, and its topics. */
export interface ShapeCluster {
  readonly clusterId: string
  readonly bootstrap: string
  /** Of its clients, links among them; undefined = they need not log in. */
  readonly login?: ClientSecurity | undefined
  readonly side: TopicSide
  /** The brokers of a joined cluster. */
  readonly replicas: readonly TopicSide[]
}

/** A Lockstep cluster of the world. */
export interface ShapeNode extends ShapeCluster {
  readonly node: LockstepNode
  readonly isJoined: boolean
  /** Creates a link to another cluster of the world. */
  readonly linkTo: (
    remote: ShapeCluster,
    name: string,
    configs?: Readonly<Record<string, string>>,
  ) => Promise<MirrorLink>
}

export interface ShapesWorld {
  readonly kafka: ShapeCluster
  readonly first: ShapeNode
  readonly second: ShapeNode
  readonly close: () => Promise<void>
}

/** Starts everything; what was started is ended again if something cannot start. */
export async function startShapesWorld(version: KafkaVersion): Promise<ShapesWorld> {
  const opened = new Opened()
  try {
    const [cluster, driver, first, second] = await opened.all<[KafkaCluster, JavaDriver, Destination, LockstepNode]>([
      KafkaCluster.start({ version, properties: eagerCleaner }),
      JavaDriver.start({ version }),
      startDestination(chosenDestination()),
      LockstepNode.start(),
    ])
    const { bootstrap, clusterId } = cluster
    const side = new TopicSide(driver, { bootstrap, dataDirectory: cluster.node(1).dataDirectory })
    return {
      kafka: { clusterId, bootstrap, side, replicas: [] },
      first: shapeNode(first, driver),
      second: shapeNode({ node: second, joined: undefined, login: undefined }, driver),
      close: () => opened.close(),
    }
  } catch (error) {
    await opened.close()
    throw error
  }
}

/** Of a joined cluster the logs of its first broker are looked at: its node has none of a topic that was promoted. */
function shapeNode({ node, joined, login }: Omit<Destination, 'close'>, driver: JavaDriver): ShapeNode {
  const { clusterId } = node
  const bootstrap = joined?.bootstrap ?? node.bootstrap
  const replicas = (joined?.brokers ?? []).map(
    ({ dataDirectory }) => new TopicSide(driver, { bootstrap, dataDirectory, login }),
  )
  return {
    clusterId,
    bootstrap,
    login,
    node,
    isJoined: joined !== undefined,
    side: replicas[0] ?? new TopicSide(driver, node),
    replicas,
    linkTo: (remote, name, configs = {}) =>
      MirrorLink.create(node, name, {
        bootstrap: remote.bootstrap,
        clusterId: remote.clusterId,
        configs: { ...javaProperties(remote.login), ...configs },
      }),
  }
}
