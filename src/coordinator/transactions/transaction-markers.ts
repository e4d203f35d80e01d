/** Writes the marker that ends a transaction to partitions of this node, and tells the groups; the coordinator and the WriteTxnMarkers handler share it. */
import type { Uuid } from '../../core/uuid.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import { topicByName } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { appendEndMarker, type TransactionEnd } from '../../replica/append-end-marker.ts'
import { PartitionUnavailable } from '../../replica/partition-unavailable.ts'
import type { ReplicaSet } from '../../replica/replica-set.ts'
import type { WriteGate } from '../../replica/write-gate.ts'
import type { TopicPartition } from './transaction-metadata.ts'

export type { TransactionEnd } from '../../replica/append-end-marker.ts'

/** Where groups keep their offsets. */
export const OFFSETS_TOPIC = '__consumer_offsets'

export interface MarkerContext {
  readonly controller: Pick<Controller, 'image'>
  readonly replicas: ReplicaSet
  readonly writeGate: WriteGate
  /** The offsets that the producer committed in its transaction count now, or never will: its marker is in that partition. */
  readonly offsetsEnded?: (partition: number, producerId: bigint, committed: boolean) => void
}

/** One marker into one partition; resolves to Kafka's error code. A name for what crash tests replace. */
export type WriteMarker = (partition: TopicPartition, end: TransactionEnd) => Promise<number>

export function markerWriter(context: MarkerContext): WriteMarker {
  const { replicas, writeGate, offsetsEnded } = context
  return async (at, end) => {
    const topic = topicByName(context.controller.image, at.topic)
    if (!topic?.partitions[at.partition]) return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    const refusal = writeGate.refusal(topic.id, topic.name, 'transaction-markers')
    // A mirror has the markers of its source; the coordinator that sends this one may forget its transaction.
    if (refusal && !isLedHere(replicas, topic.id, at.partition)) return ErrorCode.NOT_LEADER_OR_FOLLOWER
    if (refusal) return refusal.errorCode === ErrorCode.POLICY_VIOLATION ? ErrorCode.NONE : refusal.errorCode
    try {
      const partition = replicas.lookup(topic.id, at.partition)
      const appended = () => {
        if (at.topic === OFFSETS_TOPIC) offsetsEnded?.(at.partition, end.producerId, end.committed)
      }
      return await appendEndMarker(partition, end, {
        clock: replicas.clock,
        storageFailed: (failed, error) => replicas.storageFailed(failed, error),
        flushSoon: written => replicas.flushSoon(written),
        appended,
      })
    } catch (error) {
      if (error instanceof PartitionUnavailable) return error.errorCode
      throw error
    }
  }
}

/** Whoever leads the partition instead needs the marker, and must not hear that it was written. */
function isLedHere(replicas: ReplicaSet, topicId: Uuid, partition: number): boolean {
  try {
    replicas.lookup(topicId, partition)
    return true
  } catch (error) {
    if (!(error instanceof PartitionUnavailable)) throw error
    return error.errorCode !== ErrorCode.NOT_LEADER_OR_FOLLOWER
  }
}
