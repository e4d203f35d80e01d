/** Changes of partitions by their leader: ISR (AlterPartition, KIP-497) and new leader epochs. Called by the local controller. */
import type { Uuid } from '../../core/uuid.ts'
import type { ApiError, IsrChange } from '../../metadata/controller-port.ts'
import { type MetadataImage, type PartitionImage, partitionOf } from '../../metadata/metadata-image.ts'
import { recordVersions } from '../../metadata/record-versions.ts'
import { type MetadataRecordInput, MetadataRecordType } from '../../protocol/metadata-records/registry.ts'
import { accepted, type Decision, refused, repeated } from './decision.ts'

/** `brokerId` = who asks. The answer carries the state after the change; on refusal it echoes the request. */
export function alterPartition(
  image: MetadataImage,
  changes: readonly IsrChange[],
  brokerId: number,
): Decision<(ApiError & IsrChange)[]> {
  const records: MetadataRecordInput[] = []
  const twice = repeated(changes.map(keyOf))
  const answer = changes.map(change => {
    const current = partitionOf(image, change.topicId, change.partition)
    if (twice.has(keyOf(change))) return { ...change, ...refused('INVALID_REQUEST', 'The partition is named twice.') }
    const error = current ? problemOf(image, { current, change, brokerId }) : unknownPartition(image, change.topicId)
    if (current === undefined || error !== undefined) return { ...change, ...(error ?? accepted) }
    if (sameMembers(current.isr, change.isr)) return { ...change, isr: current.isr, ...accepted }
    records.push(partitionChange(image, change, { isr: change.isr }))
    return { ...change, partitionEpoch: current.partitionEpoch + 1, ...accepted }
  })
  return { records, answer }
}

const keyOf = (change: IsrChange): string => `${change.topicId}-${change.partition}`

const unknownPartition = (image: MetadataImage, topicId: Uuid): ApiError =>
  refused(image.topics.has(topicId) ? 'UNKNOWN_TOPIC_OR_PARTITION' : 'UNKNOWN_TOPIC_ID', null)

function problemOf(
  image: MetadataImage,
  of: { readonly current: PartitionImage; readonly change: IsrChange; readonly brokerId: number },
): ApiError | undefined {
  const { current, change, brokerId } = of
  if (change.leaderEpoch > current.leaderEpoch || change.partitionEpoch > current.partitionEpoch)
    return refused('NOT_CONTROLLER', null)
  if (change.leaderEpoch < current.leaderEpoch) return refused('FENCED_LEADER_EPOCH', null)
  if (current.leader !== brokerId) return refused('INVALID_REQUEST', `broker ${brokerId} is not the leader`)
  if (change.partitionEpoch < current.partitionEpoch) return refused('INVALID_UPDATE_VERSION', null)
  const duplicate = new Set(change.isr).size !== change.isr.length
  if (duplicate || !change.isr.includes(brokerId) || change.isr.some(id => !current.replicas.includes(id)))
    return refused('INVALID_REQUEST', 'The ISR must consist of replicas and contain the leader.')
  const joining = change.isr.filter(id => !current.isr.includes(id))
  const unfit = joining.find(id => image.brokers.get(id)?.fenced !== false)
  return unfit === undefined
    ? undefined
    : refused('INELIGIBLE_REPLICA', `broker ${unfit} is not registered or fenced and cannot join the ISR`)
}

const sameMembers = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && b.every(id => a.includes(id))

/** Names the current leader again: that alone raises the leader epoch. Undefined answer = no such partition or no leader. */
export function bumpLeaderEpoch(
  image: MetadataImage,
  topicId: Uuid,
  partition: number,
): Decision<{ readonly leaderEpoch: number } | undefined> {
  const current = partitionOf(image, topicId, partition)
  if (current === undefined || current.leader < 0) return { records: [], answer: undefined }
  return {
    records: [partitionChange(image, { topicId, partition }, { leader: current.leader })],
    answer: { leaderEpoch: current.leaderEpoch + 1 },
  }
}

/** The record that changes some fields of a partition. */
export const partitionChange = (
  image: MetadataImage,
  of: { readonly topicId: Uuid; readonly partition: number },
  fields: {
    readonly isr?: readonly number[]
    readonly leader?: number
    readonly eligibleLeaderReplicas?: readonly number[]
    readonly lastKnownElr?: readonly number[]
  },
): MetadataRecordInput => ({
  type: MetadataRecordType.PartitionChange,
  version: recordVersions(image).partitionChange,
  value: { topicId: of.topicId, partitionId: of.partition, ...fields },
})
