// What the mirror suites share: a real Kafka as source, a Lockstep node, a link between them, and the Java driver.
import { JavaDriver } from '../java/driver.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import type { KafkaVersion } from '../kafka/jars.ts'
import { LockstepNode } from '../lockstep-process.ts'
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

/** Starts everything; what was started is ended again if something cannot start. */
export async function startMirrorWorld(version: KafkaVersion): Promise<MirrorWorld> {
  const opened: { close: () => Promise<void> }[] = []
  const close = async () => {
    await Promise.all(opened.map(thing => thing.close()))
  }
  const open = async <Thing extends { close: () => Promise<void> }>(starting: Promise<Thing>): Promise<Thing> => {
    const thing = await starting
    opened.push(thing)
    return thing
  }
  try {
    const started = await Promise.allSettled([
      open(KafkaCluster.start({ version, properties: eagerCleaner })),
      open(JavaDriver.start({ version })),
      open(LockstepNode.start()),
    ])
    for (const result of started) if (result.status === 'rejected') throw result.reason
    const [cluster, driver, node] = started.map(result =>
      result.status === 'fulfilled' ? result.value : undefined,
    ) as [KafkaCluster, JavaDriver, LockstepNode]
    const broker = cluster.node(1)
    const source = new TopicSide(driver, { bootstrap: cluster.bootstrap, dataDirectory: broker.dataDirectory })
    const mirror = new TopicSide(driver, node)
    const link = await MirrorLink.create(node, 'from-kafka', cluster)
    return { cluster, node, link, sides: { source, mirror }, close }
  } catch (error) {
    await close()
    throw error
  }
}
