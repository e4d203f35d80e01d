/** Port: the engines of other nodes of this cluster, which mirror the partitions that they lead; what the link coordinator asks of them. A standalone node has none. */
import type { Uuid } from '../core/uuid.ts'
import type { MirrorLagView } from './engine-api.ts'

/** A mirror topic, as one node names it to another. */
export interface PeerMirror {
  readonly linkId: Uuid
  readonly mirrorTopic: string
  readonly topicId: Uuid
}

/** What a node says of a partition that it leads, at the moment of its answer; null = not known. */
export interface PartitionReport extends Omit<MirrorLagView, 'state' | 'isLedHere'> {
  readonly topicId: Uuid
  /** For so long its source has not answered. */
  readonly silentMs: number | null
}

/** A hold of one mirror's fetching: by its id it is released, and no other. */
export interface FetchingHold {
  readonly id: string
  /** It ends by itself then, if whoever asked for it is gone. */
  readonly leaseMs: number
}

/** The engine of one other node. Everything rejects where the node does not answer in time, or knows a newer coordinator. */
export interface PeerEngine {
  /**
   * Resolves when nothing is fetched of a mirror any more which by what was decided below `position` of the state is not to be
   * fetched; rejects if it is to be. Resolves to how its partitions stand.
   */
  stopFetching(mirror: PeerMirror, position: number): Promise<readonly PartitionReport[]>
  /** Nothing is fetched from when it resolves until the hold ends. */
  holdFetching(mirror: PeerMirror, position: number, hold: FetchingHold): Promise<readonly PartitionReport[]>
  /** Changes nothing where that hold has ended. */
  releaseFetching(mirror: PeerMirror, holdId: string): Promise<void>
  /** Of everything that the node mirrors. */
  reports(): Promise<readonly PartitionReport[]>
}

/** Other nodes of this cluster, as its metadata say. */
export interface Peers {
  /** Those that lead partitions of the topic. */
  leading(topicId: Uuid): readonly number[]
  /** Those that are alive. */
  all(): readonly number[]
  engine(nodeId: number): PeerEngine
  /** Ends calls that are under way; nothing is asked after it. */
  close(): void
}
