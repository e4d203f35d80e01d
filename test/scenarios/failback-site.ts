// One side of the way there and back: a standalone node, or a Kafka cluster that a node has joined, with its half of the link and all replicas of a topic; used by the failback suites.
import { ok } from 'node:assert/strict'
import { eventually } from '../eventually.ts'
import type { JavaDriver } from '../java/driver.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { startJoinedNode } from '../kafka/joined-node.ts'
import { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { partitionsAt } from './broker-view.ts'
import { MirrorLink } from './mirror-link.ts'
import { TopicSide } from './topic-side.ts'

/** `joined`: a broker that is the controller, too, another one, and a Lockstep node. */
export type SiteShape = 'standalone' | 'joined'

type Configs = Readonly<Record<string, string>>

/** One that may be killed and started again. */
export interface SiteProcess {
  readonly name: string
  readonly kill: () => Promise<void>
  /** Resolves when it serves. */
  readonly start: () => Promise<void>
}

interface SiteOptions {
  readonly shape: SiteShape
  readonly driver: JavaDriver
  /** Of the Lockstep node. */
  readonly properties?: Configs
}

const LINK = 'twin'
const LOCKSTEP_ID = 1001

export class Site {
  readonly name: string
  readonly node: LockstepNode
  readonly link: MirrorLink
  readonly #cluster: KafkaCluster | undefined
  readonly #driver: JavaDriver
  readonly #opened: Opened
  #isUp = true

  private constructor(name: string, of: { driver: JavaDriver; opened: Opened } & Pick<Cluster, 'node' | 'cluster'>) {
    this.name = name
    this.node = of.node
    this.link = MirrorLink.of(of.node, LINK)
    this.#cluster = of.cluster
    this.#driver = of.driver
    this.#opened = of.opened
  }

  static async start(name: string, { shape, driver, properties = {} }: SiteOptions): Promise<Site> {
    const opened = new Opened()
    try {
      return new Site(name, { ...(await startNodes(shape, properties, opened)), driver, opened })
    } catch (error) {
      await opened.close()
      throw error
    }
  }

  get isJoined(): boolean {
    return this.#cluster !== undefined
  }

  /** `host:port` for clients, of every Kafka broker of a joined cluster. */
  get bootstrap(): string {
    return this.#cluster?.bootstrap ?? this.node.bootstrap
  }

  /** As Java clients see it, with the logs of the first of its nodes. */
  get side(): TopicSide {
    return this.#copyOf(this.#cluster?.node(1) ?? this.node)
  }

  get processes(): readonly SiteProcess[] {
    const named = (name: string, { kill, start }: SiteProcess): SiteProcess => ({
      name: `${this.name}'s ${name}`,
      kill,
      start,
    })
    const all = [{ name: 'Lockstep node', of: this.node as Omit<SiteProcess, 'name'> }]
    for (const broker of this.#cluster?.nodes ?? []) all.push({ name: `Kafka node ${broker.id}`, of: broker })
    return all.map(({ name, of }) => named(name, { name, kill: () => of.kill(), start: () => of.start() }))
  }

  /** Creates its half of the link to the other one. */
  async linkTo({ bootstrap, node: { clusterId } }: Site, configs: Configs): Promise<void> {
    // Ready to serve, a node first makes what links need, and publishes what there is: without that there is no link.
    await eventually(() => MirrorLink.createSide(this.node, LINK, { bootstrap, clusterId, configs }))
  }

  /** Every replica of the topic, the one first that leads its first partition. */
  async copies(topic: string): Promise<TopicSide[]> {
    const cluster = this.#cluster
    if (cluster === undefined) return [this.side]
    const placed = await eventually(async () => {
      const found = await partitionsAt(cluster.node(1).address, topic)
      ok(found.every(({ leader }) => leader > 0))
      return found
    })
    const ids = new Set(placed.flatMap(({ leader, replicas }) => [leader, ...replicas]))
    return Array.from(ids, id => this.#copyOf(id === LOCKSTEP_ID ? this.node : cluster.node(id)))
  }

  /** It was not killed as a whole. */
  get isUp(): boolean {
    return this.#isUp
  }

  /** All of its processes, in one moment. */
  async kill(): Promise<void> {
    this.#isUp = false
    await Promise.all(this.processes.map(one => one.kill()))
  }

  async start(): Promise<void> {
    await Promise.all(this.processes.map(one => one.start()))
    this.#isUp = true
  }

  close(): Promise<void> {
    return this.#opened.close()
  }

  #copyOf({ dataDirectory }: { readonly dataDirectory: string }): TopicSide {
    return new TopicSide(this.#driver, { bootstrap: this.bootstrap, dataDirectory })
  }
}

interface Cluster {
  readonly node: LockstepNode
  readonly cluster?: KafkaCluster
}

async function startNodes(shape: SiteShape, properties: Configs, opened: Opened): Promise<Cluster> {
  if (shape === 'standalone') return { node: await opened.add(LockstepNode.start({ properties })) }
  const cluster = await opened.add(
    KafkaCluster.start({
      version: '4.3.1',
      brokers: { combined: 1, more: 1 },
      properties: { 'default.replication.factor': '2' },
    }),
  )
  return { cluster, node: await opened.add(startJoinedNode(cluster, { nodeId: LOCKSTEP_ID, properties })) }
}
