// What the suite of shapes runs on: a real Kafka, two Lockstep nodes, and the links between them.
import { JavaDriver } from '../java/driver.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import type { KafkaVersion } from '../kafka/jars.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { eagerCleaner } from './compacted-topic.ts'
import { MirrorLink } from './mirror-link.ts'
import { TopicSide } from './topic-side.ts'

/** A cluster of the world: how links reach it, and its topics. */
export interface ShapeCluster {
  readonly clusterId: string
  readonly bootstrap: string
  readonly side: TopicSide
}

/** A Lockstep cluster of the world. */
export interface ShapeNode extends ShapeCluster {
  readonly node: LockstepNode
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
    const [cluster, driver, first, second] = await opened.all<[KafkaCluster, JavaDriver, LockstepNode, LockstepNode]>([
      KafkaCluster.start({ version, properties: eagerCleaner }),
      JavaDriver.start({ version }),
      LockstepNode.start(),
      LockstepNode.start(),
    ])
    const { bootstrap, clusterId } = cluster
    const side = new TopicSide(driver, { bootstrap, dataDirectory: cluster.node(1).dataDirectory })
    return {
      kafka: { clusterId, bootstrap, side },
      first: shapeNode(first, driver),
      second: shapeNode(second, driver),
      close: () => opened.close(),
    }
  } catch (error) {
    await opened.close()
    throw error
  }
}

function shapeNode(node: LockstepNode, driver: JavaDriver): ShapeNode {
  const { clusterId, bootstrap } = node
  return {
    clusterId,
    bootstrap,
    node,
    side: new TopicSide(driver, node),
    linkTo: (remote, name, configs = {}) =>
      MirrorLink.create(node, name, { bootstrap: remote.bootstrap, clusterId: remote.clusterId, configs }),
  }
}
