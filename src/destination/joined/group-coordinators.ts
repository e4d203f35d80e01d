/** Finds the brokers that coordinate groups of a Kafka cluster that this node has joined, and remembers them; requests about groups go through it. */

import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { isRefusal } from '../../metadata/missing-right.ts'
import type { BrokerConnection } from '../../network/broker-connection.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { FindCoordinatorApi } from '../../protocol/messages/10-find-coordinator.ts'

/** A connection to a broker of this cluster. */
export type BrokerLink = Pick<BrokerConnection, 'send' | 'versionFor'>

/** Connections to the brokers of this cluster by broker id; kept and made anew by their owner. */
export interface BrokerLinks {
  /** Rejects with ConnectionError. */
  to(brokerId: number): Promise<BrokerLink>
}

export interface GroupCoordinatorsOptions {
  /** This node: others are asked. */
  readonly brokerId: number
  readonly image: () => MetadataImage
  readonly brokers: BrokerLinks
}

/** From this version on a request names many groups; every broker that may be joined has it. */
const BATCHED_VERSION = 4
const GROUP_KEY = 0

export class GroupCoordinators {
  readonly #o: GroupCoordinatorsOptions
  readonly #known = new Map<string, number>()
  readonly #refused = new Set<string>()
  #turn = 0

  constructor(options: GroupCoordinatorsOptions) {
    this.#o = options
  }

  /**
   * By broker, the groups that it coordinates. A group whose coordinator is not known now is in none. Rejects with
   * ConnectionError where no broker can be asked.
   */
  async of(groupIds: readonly string[]): Promise<Map<number, string[]>> {
    const unknown = groupIds.filter(groupId => !this.#known.has(groupId))
    if (unknown.length > 0) await this.#ask(unknown)
    const known = groupIds.filter(groupId => this.#known.has(groupId))
    return Map.groupBy(known, groupId => this.#known.get(groupId) ?? -1)
  }

  /** Were we not allowed to ask for its coordinator, the last time? */
  isRefused(groupId: string): boolean {
    return this.#refused.has(groupId)
  }

  /** They have moved, or their broker does not answer. */
  forget(groupIds: readonly string[]): void {
    for (const groupId of groupIds) this.#known.delete(groupId)
  }

  async #ask(groupIds: readonly string[]): Promise<void> {
    const connection = await this.#o.brokers.to(this.#anyBroker())
    const version = connection.versionFor(FindCoordinatorApi.key, { min: BATCHED_VERSION, max: BATCHED_VERSION + 1 })
    const request = { keyType: GROUP_KEY, coordinatorKeys: [...groupIds] }
    const { response } = await connection.send(FindCoordinatorApi, request, { version })
    for (const { key, errorCode, nodeId } of response.coordinators) {
      if (errorCode === ErrorCode.NONE) this.#known.set(key, nodeId)
      if (isRefusal(errorCode)) this.#refused.add(key)
      else this.#refused.delete(key)
    }
  }

  /** A live one, each time another: one that cannot be reached must not be asked again and again. */
  #anyBroker(): number {
    const { image, brokerId } = this.#o
    const live = [...image().brokers.values()].filter(({ id, fenced }) => id !== brokerId && !fenced)
    return live[this.#turn++ % Math.max(1, live.length)]?.id ?? brokerId
  }
}
