/** A Kafka cluster that this node has joined as the link engine's Destination: topics placed on Lockstep nodes and Java brokers, groups asked of their coordinators over the network. Made by the composition root. */
import type { Uuid } from '../../core/uuid.ts'
import type { DestinationGroup, GroupCommit, GroupOffset } from '../../link/ports.ts'
import type { MetadataImage, TopicImage } from '../../metadata/metadata-image.ts'
import { type Assignments, ClusterDestination, type ClusterDestinationOptions } from '../cluster-destination.ts'
import type { GroupRequests } from './group-requests.ts'

/** Where mirrors are put: on Lockstep nodes first, so that they lead, then on Java brokers. Throws an Error that says why there is no place. */
export interface MirrorPlacement {
  /** Of a new topic; replication factor -1 = the cluster's default, counted in Java brokers. */
  topic(image: MetadataImage, size: { readonly partitions: number; readonly replicationFactor: number }): Assignments
  /** Of the partitions that the topic gets to have `count`. */
  added(image: MetadataImage, topic: TopicImage, count: number): readonly (readonly number[])[]
}

/** How a mirror that has stopped becomes an ordinary topic of the Java brokers. */
export interface MirrorRelease {
  /** The barrier: no broker of the cluster hands out `producerId` or one below any more. */
  raiseProducerIds(producerId: bigint): Promise<void>
  /** Java brokers lead all partitions, under new leader epochs. Asked again after a failure; nothing to do is success. */
  handOver(topicId: Uuid): Promise<void>
}

export interface JoinedDestinationOptions extends ClusterDestinationOptions {
  readonly placement: MirrorPlacement
  readonly release: MirrorRelease
  readonly groups: Pick<GroupRequests, 'read' | 'commit'>
}

export class JoinedDestination extends ClusterDestination {
  readonly #o: JoinedDestinationOptions

  constructor(options: JoinedDestinationOptions) {
    super(options)
    this.#o = options
  }

  leads(topicId: Uuid, partition: number): boolean {
    const { controller, brokerId } = this.#o
    return controller.image.topics.get(topicId)?.partitions[partition]?.leader === brokerId
  }

  raiseProducerIds(producerId: bigint): Promise<void> {
    return this.#o.release.raiseProducerIds(producerId)
  }

  bumpLeaderEpochs(topicId: Uuid): Promise<void> {
    return this.#o.release.handOver(topicId)
  }

  groupOffsets(groupId: string): Promise<DestinationGroup> {
    return this.#o.groups.read(groupId)
  }

  commitGroupOffsets(groupId: string, offsets: readonly GroupOffset[]): Promise<GroupCommit> {
    return this.#o.groups.commit(groupId, offsets)
  }

  protected override placeTopic(size: { partitions: number; replicationFactor: number }): Assignments {
    const { placement, controller } = this.#o
    return placement.topic(controller.image, size)
  }

  protected override placePartitions(topic: TopicImage, count: number): readonly (readonly number[])[] {
    const { placement, controller } = this.#o
    return placement.added(controller.image, topic, count)
  }
}
