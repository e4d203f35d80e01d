/** A standalone node's cluster as the link engine's Destination: this node leads everything and is the coordinator of every group. */
import type { Destination, DestinationGroup, GroupCommit, GroupOffset, WriteFence } from '../link/ports.ts'
import type { Controller } from '../metadata/controller-port.ts'
import type { ProducerIds } from '../replica/producer-ids.ts'
import { ClusterDestination, type ClusterDestinationOptions } from './cluster-destination.ts'
import { commitToGroup, type LinkedGroups, listGroupIds, readGroup } from './group-offsets.ts'
import { LocalFence } from './local-fence.ts'
import { type LinkedShareGroups, linkedShareGroups } from './share-group-offsets.ts'

export interface LocalDestinationOptions extends ClusterDestinationOptions {
  readonly controller: Controller
  readonly producerIds: Pick<ProducerIds, 'raiseAbove'>
  /** Aborts what is open in the topic; see abortOpenTransactions. */
  readonly abortTransactions: (topic: string) => Promise<{ readonly aborted: number; readonly ending: number }>
  /** Looked up when it is needed: coordinators start later than the destination. */
  readonly groups: () => LinkedGroups & LinkedShareGroups
}

export class LocalDestination extends ClusterDestination {
  readonly fence: WriteFence
  readonly #o: LocalDestinationOptions

  constructor(options: LocalDestinationOptions) {
    super(options)
    this.#o = options
    this.fence = new LocalFence(options.controller)
  }

  leads(): boolean {
    return true
  }

  async raiseProducerIds(producerId: bigint): Promise<readonly string[]> {
    await this.#o.producerIds.raiseAbove(producerId)
    return []
  }

  abortTransactions(topic: string): Promise<{ readonly aborted: number; readonly ending: number }> {
    return this.#o.abortTransactions(topic)
  }

  get shareGroups(): Destination['shareGroups'] {
    return linkedShareGroups(this.#o.groups())
  }

  groupIds(): Promise<readonly string[]> {
    return listGroupIds(this.#o.groups())
  }

  groupOffsets(groupId: string): Promise<DestinationGroup> {
    return readGroup(this.#o.groups(), groupId, this.#o.controller.image)
  }

  commitGroupOffsets(groupId: string, offsets: readonly GroupOffset[]): Promise<GroupCommit> {
    return commitToGroup(this.#o.groups(), { groupId, offsets }, this.#o.controller.image)
  }
}
