// A real Kafka 4.3.1 and a Lockstep node with the same settings, for the scenarios of one suite; used by compare.ts.
import { JavaDriver } from '../java/driver.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { Side } from './side.ts'

/** Of both nodes: small and quick, so that time-outs happen while somebody waits for them. */
const shared = {
  'auto.create.topics.enable': 'false',
  'offsets.topic.num.partitions': '4',
  'offsets.topic.replication.factor': '1',
  'transaction.state.log.num.partitions': '4',
  'transaction.state.log.replication.factor': '1',
  'transaction.state.log.min.isr': '1',
  'transaction.abort.timed.out.transaction.cleanup.interval.ms': '500',
  'group.initial.rebalance.delay.ms': '0',
  'group.min.session.timeout.ms': '1000',
  'group.max.session.timeout.ms': '600000',
  'group.max.size': '4',
  'offset.metadata.max.bytes': '64',
}

/** The two sides, Kafka first. */
export interface World {
  readonly sides: readonly [Side, Side]
  readonly close: () => Promise<void>
}

interface Node {
  readonly bootstrap: string
  readonly dataDirectory: string
  readonly close: () => Promise<void>
}

async function startKafka(properties: Readonly<Record<string, string>>): Promise<Node> {
  const cluster = await KafkaCluster.start({ version: '4.3.1', properties })
  const { bootstrap } = cluster
  return { bootstrap, dataDirectory: cluster.node(1).dataDirectory, close: () => cluster.close() }
}

const startLockstep = (properties: Readonly<Record<string, string>>): Promise<Node> =>
  LockstepNode.start({ properties })

/** Starts both and a Java driver that serves both. */
export async function startWorld(properties: Readonly<Record<string, string>> = {}): Promise<World> {
  const opened = new Opened()
  const settings = { ...shared, ...properties }
  try {
    const [kafka, lockstep, driver] = await opened.all<[Node, Node, JavaDriver]>([
      startKafka(settings),
      // Kafka against itself shows which scenarios are not deterministic.
      process.env['LOCKSTEP_CONFORMANCE_OF'] === 'kafka' ? startKafka(settings) : startLockstep(settings),
      JavaDriver.start({ version: '4.3.1' }),
    ])
    const sides = [
      new Side({ ...kafka, name: 'kafka', driver }),
      new Side({ ...lockstep, name: 'lockstep', driver }),
    ] as const
    return { sides, close: () => opened.close() }
  } catch (error) {
    await opened.close()
    throw error
  }
}
