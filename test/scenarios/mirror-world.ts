// What the mirror suites share: a real Kafka as source, a Lockstep node, a link between them, and the Java driver.
import { JavaDriver } from '../java/driver.ts'
import { type ClusterOptions, KafkaCluster, shortSession } from '../kafka/cluster.ts'
import type { KafkaVersion } from '../kafka/jars.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { eagerCleaner } from './compacted-topic.ts'
import type { Sides } from './equality.ts'
import { MirrorLink } from './mirror-link.ts'
import { TopicSide } from './topic-side.ts'

/** A running source and destination, with a link named `from-kafka`. */
export interface MirrorWorld {
  readonly cluster: KafkaCluster
  readonly node: LockstepNode
  readonly link: MirrorLink
  readonly sides: Sides
  readonly close: () => Promise<void>
}

/** What differs from one broker and a link with defaults. */
export interface WorldOptions extends Pick<ClusterOptions, 'brokers' | 'properties' | 'plugins'> {
  /** Properties of the link. */
  readonly link?: Readonly<Record<string, string>>
}

/** Starts everything; what was started is ended again if something cannot start. */
export async function startMirrorWorld(version: KafkaVersion, options: WorldOptions = {}): Promise<MirrorWorld> {
  const { link: configs = {}, ...source } = options
  const opened = new Opened()
  try {
    const [cluster, driver, node] = await opened.all<[KafkaCluster, JavaDriver, LockstepNode]>([
      KafkaCluster.start({
        ...source,
        version,
        properties: { ...eagerCleaner, ...shortSession, ...source.properties },
      }),
      JavaDriver.start({ version }),
      LockstepNode.start(),
    ])
    const broker = cluster.node(1)
    const there = new TopicSide(driver, { bootstrap: cluster.bootstrap, dataDirectory: broker.dataDirectory })
    const mirror = new TopicSide(driver, node)
    const { bootstrap, clusterId } = cluster
    const link = await MirrorLink.create(node, 'from-kafka', { bootstrap, clusterId, configs })
    return { cluster, node, link, sides: { source: there, mirror }, close: () => opened.close() }
  } catch (error) {
    await opened.close()
    throw error
  }
}
