/** Administrators' commands of a cluster of one node; the local controller gives them its queue of commands and exposes them as `cluster`. */
import { ZERO_UUID } from '../../core/uuid.ts'
import type {
  ClusterCommands,
  ElectionType,
  FeatureUpdate,
  NamedPartition,
  QuorumDescription,
  Reassignment,
} from '../../metadata/cluster-commands.ts'
import type { ApiError } from '../../metadata/controller-port.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { MetadataRecordType } from '../../protocol/metadata-records/registry.ts'
import { accepted, type Decision, refused } from './decision.ts'
import { electLeaders } from './elect-leaders.ts'
import { reassignPartitions } from './reassign-partitions.ts'
import { type OwnProperties, updateFeatures } from './update-features.ts'

export interface CommandQueue {
  readonly own: OwnProperties
  readonly image: () => MetadataImage
  /** Of the metadata log. */
  readonly endOffset: () => number
  run<A>(decide: (image: MetadataImage) => Decision<A>, options?: { readonly validateOnly: boolean }): Promise<A>
}

export class LocalClusterCommands implements ClusterCommands {
  readonly own: OwnProperties
  readonly #queue: CommandQueue

  constructor(queue: CommandQueue) {
    this.own = queue.own
    this.#queue = queue
  }

  updateFeatures(updates: readonly FeatureUpdate[], options: { readonly validateOnly: boolean }): Promise<ApiError> {
    return this.#queue.run(image => updateFeatures(image, updates, this.own), options)
  }

  electLeaders(
    type: ElectionType,
    partitions: readonly NamedPartition[] | null,
  ): Promise<(ApiError & NamedPartition)[]> {
    return this.#queue.run(image => electLeaders(image, type, partitions))
  }

  alterPartitionReassignments(asked: readonly Reassignment[]): Promise<(ApiError & NamedPartition)[]> {
    return this.#queue.run(image => ({ records: [], answer: reassignPartitions(image, asked) }))
  }

  unregisterBroker(brokerId: number): Promise<ApiError> {
    return this.#queue.run(image => unregisterBroker(image, brokerId, this.own.nodeId))
  }

  async describeQuorum(): Promise<QuorumDescription> {
    const { controllerId, epoch } = this.#queue.image()
    const logEndOffset = this.#queue.endOffset()
    return {
      leaderId: controllerId,
      leaderEpoch: epoch,
      highWatermark: logEndOffset,
      voters: [{ id: this.own.nodeId, directoryId: ZERO_UUID, logEndOffset }],
      observers: [],
    }
  }
}

/** Only brokers that are gone: without its own registration this node would serve nobody until it is restarted. */
function unregisterBroker(image: MetadataImage, brokerId: number, nodeId: number): Decision<ApiError> {
  const broker = image.brokers.get(brokerId)
  if (broker === undefined)
    return {
      records: [],
      answer: refused('BROKER_ID_NOT_REGISTERED', `Broker ID ${brokerId} is not currently registered`),
    }
  if (brokerId === nodeId)
    return {
      records: [],
      answer: refused('INVALID_REQUEST', `Broker ${brokerId} is this cluster's only node and is in service.`),
    }
  const value = { brokerId, brokerEpoch: BigInt(broker.epoch) }
  return { records: [{ type: MetadataRecordType.UnregisterBroker, version: 0, value }], answer: accepted }
}
