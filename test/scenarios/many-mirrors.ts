// Many mirror partitions in an Apache Kafka cluster that one Lockstep node has joined: created together, produced to, looked at; used by a suite and by bench/.
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '../../src/core/clock.ts'
import { BrokerConnection } from '../../src/network/broker-connection.ts'
import { factsOnDisk, firstDifference } from '../../src/node/demo/compare-logs.ts'
import { MetadataApi } from '../../src/protocol/messages/03-metadata.ts'
import { eventually } from '../eventually.ts'
import { KafkaCluster } from '../kafka/cluster.ts'
import { startJoinedNode } from '../kafka/joined-node.ts'
import type { LockstepNode } from '../lockstep-process.ts'
import { Opened } from '../opened.ts'
import { ManyPartitions, type ManyPartitionsPlan } from './many-partitions.ts'
import { MirrorLink } from './mirror-link.ts'

const LINK = 'west'
const PREFIX = 'many'
const NODE_ID = 1001
const PATIENCE = { timeoutMs: 300_000, intervalMs: 300 }

/** How a partition is placed, by `topic-partition`. */
export interface Placed {
  readonly leader: number
  readonly leaderEpoch: number
  readonly isr: readonly number[]
}

export class ManyMirrors {
  readonly source: KafkaCluster
  readonly cluster: KafkaCluster
  readonly node: LockstepNode
  readonly #plan: ManyPartitionsPlan
  readonly #opened: Opened
  #placed: ReadonlyMap<string, Placed> = new Map()

  private constructor(
    of: Pick<ManyMirrors, 'source' | 'cluster' | 'node'> & { plan: ManyPartitionsPlan; opened: Opened },
  ) {
    this.source = of.source
    this.cluster = of.cluster
    this.node = of.node
    this.#plan = of.plan
    this.#opened = of.opened
  }

  /** A source, a cluster of two brokers and a node in it, and a link; nothing is mirrored yet. `env` is the node's. */
  static async start(
    size: { readonly topics: number; readonly partitions: number },
    env: Readonly<Record<string, string>> = {},
  ): Promise<ManyMirrors> {
    const opened = new Opened()
    try {
      // Kafka makes indexes at their full size; and the records are of 1970.
      const properties = { 'log.index.size.max.bytes': '4096', 'log.retention.ms': '-1' }
      const own = { 'default.replication.factor': '2', 'broker.session.timeout.ms': '30000' }
      const [source, cluster] = await opened.all<[KafkaCluster, KafkaCluster]>([
        KafkaCluster.start({ version: '4.3.1', properties }),
        KafkaCluster.start({ version: '4.3.1', brokers: 2, properties: { ...properties, ...own } }),
      ])
      const node = await opened.add(startJoinedNode(cluster, { nodeId: NODE_ID, env }))
      await eventually(() => MirrorLink.create(node, LINK, source))
      return new ManyMirrors({ source, cluster, node, opened, plan: { prefix: PREFIX, ...size } })
    } catch (error) {
      await opened.close()
      throw error
    }
  }

  close(): Promise<void> {
    return this.#opened.close()
  }

  /** Makes and fills the source's topics, and mirrors them all; resolves when everything is copied to every replica. */
  async mirrorAll(): Promise<void> {
    const { topics } = this.#plan
    await this.#with(this.source.bootstrap, async client => {
      await client.create()
      // Partitions are led a moment later.
      await eventually(() => client.ends(), PATIENCE)
      await client.produce(1)
    })
    const link = MirrorLink.of(this.node, LINK)
    for (let i = 0; i < topics; i++) await link.mirror(`${PREFIX}-${i}`)
    await this.inStep()
    this.#placed = await this.placed()
  }

  /** Everything that the source has is in the mirrors, the node leads them, and all replicas are in sync. */
  async inStep(): Promise<void> {
    const { topics, partitions } = this.#plan
    const wanted = await this.#with(this.source.bootstrap, client => client.ends())
    strictEqual(wanted.size, topics * partitions)
    await eventually(async () => {
      const placed = await this.placed()
      const elsewhere = [...placed].filter(([, { leader, isr }]) => leader !== NODE_ID || isr.length !== 3)
      strictEqual(elsewhere.length, 0, `${elsewhere.length} not led or in sync: ${JSON.stringify(elsewhere[0])}`)
      strictEqual(placed.size, wanted.size)
    }, PATIENCE)
    await eventually(async () => {
      const ends = await this.#with(this.node.bootstrap, client => client.ends())
      const behind = [...wanted].filter(([partition, end]) => (ends.get(partition) ?? -1n) < end)
      deepStrictEqual(behind.slice(0, 3), [], `${behind.length} are behind`)
    }, PATIENCE)
  }

  /** Of all partitions of the plan. */
  async placed(): Promise<ReadonlyMap<string, Placed>> {
    const { topics } = this.#plan
    const [host = '', port] = (this.cluster.brokers[0]?.address ?? '').split(':')
    const connection = await BrokerConnection.connect({
      host,
      port: Number(port),
      clientId: 'many-mirrors',
      connectTimeoutMs: 10_000,
      requestTimeoutMs: 60_000,
      clock: systemClock,
    })
    try {
      const named = Array.from({ length: topics }, (_, i) => ({ name: `${PREFIX}-${i}` }))
      const { response } = await connection.send(MetadataApi, { topics: named }, { version: 9 })
      const rows = response.topics.flatMap(({ name, partitions }) =>
        partitions.map(({ partitionIndex, leaderId, leaderEpoch, isrNodes }): [string, Placed] => [
          `${name}-${partitionIndex}`,
          { leader: leaderId, leaderEpoch, isr: isrNodes },
        ]),
      )
      return new Map(rows)
    } finally {
      connection.close()
      await connection.closed
    }
  }

  /** Partitions that have another leader epoch than when they were mirrored first. */
  async epochChanges(): Promise<number> {
    const placed = await this.placed()
    return [...this.#placed].filter(([name, { leaderEpoch }]) => placed.get(name)?.leaderEpoch !== leaderEpoch).length
  }

  /** So many records per second, round robin over all partitions of the source; answers how many that were. */
  async produceFor(rate: number, seconds: number): Promise<number> {
    if (rate === 0) return 0
    return this.#with(this.source.bootstrap, async client => {
      const beganMs = performance.now()
      let sent = 0
      for (; sent < rate * seconds; ) {
        const due = Math.min(rate * seconds, Math.floor(((performance.now() - beganMs) * rate) / 1000))
        if (due > sent) await client.produceOne(sent, due - sent)
        sent = due
        await pause(5)
      }
      return sent
    })
  }

  /** So many records to every partition of the source. */
  async produceToEach(records: number): Promise<void> {
    await this.#with(this.source.bootstrap, client => client.produce(records))
  }

  /** Every log of every Java replica holds the batches of the source's, as their files lie. */
  async assertReplicasEqual(): Promise<void> {
    const { topics, partitions } = this.#plan
    const there = this.source.node(1).dataDirectory
    for (let at = 0; at < topics * partitions; at++) {
      const folder = `${PREFIX}-${Math.floor(at / partitions)}-${at % partitions}`
      const wanted = await factsOnDisk(join(there, folder))
      ok(wanted.length > 0, folder)
      for (const { id, dataDirectory } of this.cluster.brokers)
        await eventually(async () => {
          const difference = firstDifference(wanted, await factsOnDisk(join(dataDirectory, folder)))
          strictEqual(difference, undefined, `${folder} on broker ${id}: ${difference}`)
        })
    }
  }

  /** Mirrors that are not ACTIVE, and why. */
  async failedMirrors(): Promise<string[]> {
    const link = MirrorLink.of(this.node, LINK)
    const failed: string[] = []
    for (let i = 0; i < this.#plan.topics; i++) {
      const { mirror_topic_name: name, mirror_status: status, reason } = await link.describe(`${PREFIX}-${i}`)
      if (status !== 'ACTIVE') failed.push(`${name}: ${status}, ${reason}`)
    }
    return failed
  }

  /** Age of the last heartbeat that the controller has answered. */
  async oldestHeartbeatSeconds(): Promise<number> {
    const answer = await fetch(`${this.node.rest.origin}/metrics`)
    const age = /^lockstep_membership_heartbeat_age_seconds(?:\{.*\})? (\S+)/m.exec(await answer.text())?.[1]
    ok(age !== undefined)
    return Number(age)
  }

  /** Every process of the world, by what it is. */
  processes(): [string, number][] {
    const java = this.cluster.nodes.map(({ id, pid = 0 }): [string, number] => [`Kafka node ${id}`, pid])
    return [['the Lockstep node', this.node.pid ?? 0], ...java, ['the source', this.source.node(1).pid ?? 0]]
  }

  async #with<T>(bootstrap: string, work: (client: ManyPartitions) => Promise<T>): Promise<T> {
    const client = await ManyPartitions.connect(bootstrap, this.#plan)
    try {
      return await work(client)
    } finally {
      await client.close()
    }
  }
}
