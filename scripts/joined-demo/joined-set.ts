/** What stands on the stage of the joined demo: an Apache Kafka as the source, an Apache Kafka cluster, a Lockstep node in it, and a link between them. */
import type { DemoStage } from '../../src/node/demo/demo-stage.ts'
import type { StagedMirror } from '../../src/node/demo/mirror-steps.ts'
import type { NodeProcess } from '../../src/node/demo/node-process.ts'
import { TopicClient } from '../../src/node/demo/topic-client.ts'
import { eventually } from '../../test/eventually.ts'
import { KafkaCluster } from '../../test/kafka/cluster.ts'
import { kafkaJars } from '../../test/kafka/jars.ts'
import { joiningProperties } from '../../test/kafka/joined-node.ts'
import { Opened } from '../../test/opened.ts'
import { createTopic } from './topic-places.ts'

export const VERSION = '4.3.1'
const TOPIC = 'orders'
const LINK = 'west'
const PARTITIONS = 4
const NODE_ID = 1001
const BROKERS = 2

export interface JoinedSet {
  readonly source: KafkaCluster
  readonly cluster: KafkaCluster
  readonly node: NodeProcess
  /** Writes to the source. */
  readonly client: TopicClient
  /** Of the topic that the client writes to; not created yet. */
  readonly mirror: StagedMirror
  /** Ends Kafka; the stage ends the node. */
  readonly close: () => Promise<void>
}

/** Starts everything, and creates the link. What was started is ended again if something cannot start. */
export async function setUp(stage: DemoStage): Promise<JoinedSet> {
  const { io, clock } = stage
  io.err(`Apache Kafka ${VERSION} is fetched by Maven the first time, and started: this takes a while.\n`)
  await kafkaJars(VERSION)
  const opened = new Opened()
  try {
    const properties = { 'default.replication.factor': String(BROKERS), 'log.retention.ms': '-1' }
    const [source, cluster] = await opened.all<[KafkaCluster, KafkaCluster]>([
      KafkaCluster.start({ version: VERSION }),
      KafkaCluster.start({ version: VERSION, brokers: BROKERS, properties }),
    ])
    stage.signal.throwIfAborted()
    const { clusterId } = cluster
    const node = await stage.startNode('lockstep', NODE_ID, {
      clusterId,
      properties: joiningProperties(cluster, NODE_ID),
    })
    await createTopic(source.bootstrap, { topic: TOPIC, partitions: PARTITIONS, clock })
    const client = await TopicClient.connect(source.bootstrap, TOPIC, clock)
    void opened.add(Promise.resolve({ close: async () => client.close() }))
    // Ready to serve, the node first makes the topic of the link state.
    await eventually(() => node.rest.createLink(LINK, source.bootstrap, source.clusterId))
    const mirror = { node, link: LINK, topic: TOPIC }
    return { source, cluster, node, client, mirror, close: () => opened.close() }
  } catch (error) {
    await opened.close()
    throw error
  }
}
