// What suites of joined links share: a real source, a real cluster that Lockstep nodes have joined, a link between both, and views of every Java replica.
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { JavaDriver } from '../java/driver.ts'
import { type ClusterOptions, KafkaCluster } from '../kafka/cluster.ts'
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
  /** With the logs of a Lockstep node, whose indexes are on disk like those of a broker that was stopped. */
  readonly copies: (node: LockstepNode) => TopicSide
  /** All nodes have the same key. */
  readonly join: (options?: JoinedNodeOptions) => Promise<LockstepNode>
  readonly link: (node: LockstepNode, configs?: Readonly<Record<string, string>>) => Promise<MirrorLink>
  readonly close: () => Promise<void>
}

/** Of the cluster that is joined; default: 2 brokers, 1 controller. */
export interface JoinedWorldOptions
  extends Pick<ClusterOptions, 'properties' | 'controllers' | 'racks' | 'format' | 'quorum'> {
  readonly brokers?: number
}

/** What was started is ended again if something cannot start. */
export async function startJoinedWorld({
  properties = {},
  brokers = 2,
  ...of
}: JoinedWorldOptions = {}): Promise<JoinedWorld> {
  const opened = new Opened()
  const version = '4.3.1'
  try {
    const [source, cluster, driver] = await opened.all<[KafkaCluster, KafkaCluster, JavaDriver]>([
      KafkaCluster.start({ version, properties: eagerCleaner }),
      KafkaCluster.start({ ...of, version, brokers, properties: { ...longSession, ...properties } }),
      JavaDriver.start({ version }),
    ])
    const sameKey = { 'lockstep.secret.key.file': await secretKeyFile(opened) }
    const { bootstrap, clusterId } = source
    const copies = ({ dataDirectory }: { readonly dataDirectory: string }) =>
      new TopicSide(driver, { bootstrap: cluster.bootstrap, dataDirectory })
    const replica = (brokerId: number) => copies(cluster.node(brokerId))
    return {
      source,
      cluster,
      there: new TopicSide(driver, { bootstrap, dataDirectory: source.node(1).dataDirectory }),
      here: replica(1),
      replica,
      copies,
      join: (more = {}) =>
        opened.add(startJoinedNode(cluster, { ...more, properties: { ...sameKey, ...more.properties } })),
      link: (node, configs = {}) => MirrorLink.create(node, 'from-kafka', { bootstrap, clusterId, configs }),
      close: () => opened.close(),
    }
  } catch (error) {
    await opened.close()
    throw error
  }
}

async function secretKeyFile(opened: Opened): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'lockstep-key-'))
  await opened.add(Promise.resolve({ close: () => rm(folder, { recursive: true, force: true }) }))
  const file = join(folder, 'secret.key')
  await writeFile(file, `${randomBytes(32).toString('base64')}\n`)
  return file
}
