// What the mirror suites share: a real Kafka as source, a Lockstep node, a link between them, and the Java driver.
import type { ClientSecurity } from '../clients/client-record.ts'
import { JavaDriver } from '../java/driver.ts'
import { type ClusterOptions, KafkaCluster, shortSession } from '../kafka/cluster.ts'
import type { KafkaVersion } from '../kafka/jars.ts'
import type { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { eagerCleaner } from './compacted-topic.ts'
import { chosenDestination, type Destination, type DestinationPlan, startDestination } from './destination.ts'
import type { Sides } from './equality.ts'
import { MirrorLink } from './mirror-link.ts'
import { TopicSide } from './topic-side.ts'

/** A running source and destination, with a link named `from-kafka`. */
export interface MirrorWorld {
  readonly cluster: KafkaCluster
  readonly node: LockstepNode
  /** The Kafka cluster that the node joined; undefined if it is a cluster of its own. */
  readonly joined: KafkaCluster | undefined
  /** Of clients at the destination; undefined = they need not log in. */
  readonly login: ClientSecurity | undefined
  readonly link: MirrorLink
  readonly sides: Sides
  readonly close: () => Promise<void>
}

/** What differs from one broker and a link with defaults. */
export interface WorldOptions extends Pick<ClusterOptions, 'brokers' | 'properties' | 'plugins'> {
  /** The Kafka cluster that the node joins, or one that starts already; default: what the environment says, or a standalone node. */
  readonly destination?: DestinationPlan | Promise<Destination> | undefined
  /** Properties of the link. */
  readonly link?: Readonly<Record<string, string>>
}

/** Starts everything; what was started is ended again if something cannot start. */
export async function startMirrorWorld(version: KafkaVersion, options: WorldOptions = {}): Promise<MirrorWorld> {
  const { link: configs = {}, destination = chosenDestination(), ...source } = options
  const opened = new Opened()
  try {
    const [cluster, driver, { node, joined, login }] = await opened.all<[KafkaCluster, JavaDriver, Destination]>([
      KafkaCluster.start({
        ...source,
        version,
        properties: { ...eagerCleaner, ...shortSession, ...source.properties },
      }),
      JavaDriver.start({ version }),
      destination instanceof Promise ? destination : startDestination(destination),
    ])
    const broker = cluster.node(1)
    const there = new TopicSide(driver, { bootstrap: cluster.bootstrap, dataDirectory: broker.dataDirectory })
    const { dataDirectory } = node
    const here = { bootstrap: joined?.bootstrap ?? node.bootstrap, login }
    const mirror = new TopicSide(driver, { ...here, dataDirectory })
    const replicas = joined?.brokers.map(follower => new TopicSide(driver, { ...here, ...follower }))
    const { bootstrap, clusterId } = cluster
    const link = await MirrorLink.create(node, 'from-kafka', { bootstrap, clusterId, configs })
    const sides = { source: there, mirror, ...(replicas ? { replicas } : {}) }
    return { cluster, node, joined, login, link, sides, close: () => opened.close() }
  } catch (error) {
    await opened.close()
    throw error
  }
}
