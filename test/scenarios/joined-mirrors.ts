// Mirrors of a joined cluster as its brokers, its Lockstep nodes and Kafka's own tools see them; used by the suites about the life of joined nodes.
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import type { LockstepNode } from '../lockstep-process.ts'
import { type PartitionView, partitionsAt } from './broker-view.ts'
import { assertEqualTopics } from './equality.ts'
import type { JoinedWorld } from './joined-world.ts'

/** Ids of Lockstep nodes in suites begin here; those of brokers are below. */
const LOCKSTEP_IDS = 1000

export const isLockstepId = (id: number): boolean => id > LOCKSTEP_IDS

/** The brokers among its replicas, in their order. */
export const javaReplicasOf = ({ replicas }: PartitionView): number[] => replicas.filter(id => !isLockstepId(id))

interface Placement {
  readonly misplaced_partitions: readonly { topic_name: string; partition_id: number; condition: string }[]
}

export class JoinedMirrors {
  readonly #world: JoinedWorld

  constructor(world: JoinedWorld) {
    this.#world = world
  }

  /** As broker 1 tells them. */
  view(topic: string): Promise<PartitionView[]> {
    return partitionsAt(this.#world.cluster.node(1).address, topic)
  }

  /** Every partition is led by that one, and in sync everywhere. */
  async areLedBy(topic: string, leader: number): Promise<void> {
    for (const placed of await this.view(topic))
      deepStrictEqual([placed.leader, placed.isr.length], [leader, placed.replicas.length], JSON.stringify(placed))
  }

  /** Equal to the source on the node and on every broker; its partitions all lie on the same ones. */
  async areEqualEverywhere(topic: string, node: LockstepNode): Promise<void> {
    const { there, copies, replica } = this.#world
    const [placed] = await this.view(topic)
    const replicas = placed ? javaReplicasOf(placed).map(replica) : []
    await assertEqualTopics({ source: there, mirror: copies(node), replicas }, topic)
  }

  /** What the node says about partitions that are not where they belong: `[partition, condition]`. */
  async conditions(topic: string, node: LockstepNode): Promise<readonly (readonly [number, string])[]> {
    const placement = (await node.rest.call('GET', '/placement')) as Placement
    return placement.misplaced_partitions
      .filter(({ topic_name: name }) => name === topic)
      .map(({ partition_id: partition, condition }) => [partition, condition] as const)
  }

  /** One of Kafka's own tools against the cluster; throws what it printed unless it exits with 0. */
  async runTool(tool: string, ...args: readonly string[]): Promise<string> {
    const { here, cluster } = this.#world
    const asked = { tool, args: ['--bootstrap-server', cluster.bootstrap, ...args] }
    const { status, out, err } = await here.driver.call<{ status: number; out: string; err: string }>('run-tool', asked)
    strictEqual(status, 0, `${out}${err}`)
    return out
  }
}
