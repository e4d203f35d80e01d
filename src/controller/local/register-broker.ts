/** Registration of the node's own broker at each start: record 0, record 17, and a new epoch for what it leads. Called by the local controller. */
import type { Uuid } from '../../core/uuid.ts'
import type { EndpointImage, MetadataImage, PartitionImage } from '../../metadata/metadata-image.ts'
import { recordVersions } from '../../metadata/record-versions.ts'
import { type MetadataRecordInput, MetadataRecordType } from '../../protocol/metadata-records/registry.ts'
import { partitionChange } from './alter-partition.ts'
import { supportedFeatures } from './bootstrap.ts'
import type { Decision } from './decision.ts'

export interface OwnBroker {
  readonly id: number
  /** New for every start of the process. */
  readonly incarnationId: Uuid
  /** As clients are told. */
  readonly listeners: readonly EndpointImage[]
  readonly rack: string | null
  readonly directoryId: Uuid
}

/** `epoch` = offset that the record will have. Fenced, as Kafka registers every broker. */
export function registerBroker(image: MetadataImage, own: OwnBroker, epoch: number): Decision<void> {
  const version = recordVersions(image).registerBroker
  const features = [...supportedFeatures].map(([name, { min, max }]) => ({
    name,
    minSupportedVersion: min,
    maxSupportedVersion: max,
  }))
  const record: MetadataRecordInput = {
    type: MetadataRecordType.RegisterBroker,
    version,
    value: {
      brokerId: own.id,
      incarnationId: own.incarnationId,
      brokerEpoch: BigInt(epoch),
      endPoints: own.listeners,
      features,
      rack: own.rack,
      fenced: true,
      ...(version >= 3 ? { logDirs: [own.directoryId] } : {}),
    },
  }
  return { records: [record], answer: undefined }
}

/**
 * Takes the registered broker into service. A new incarnation may have lost an unflushed tail, so everything it leads gets
 * a new leader epoch, and partitions that are without a leader but have it in their ISR or ELR get it as leader.
 */
export function unfenceBroker(image: MetadataImage, id: number, newIncarnation: boolean): Decision<void> {
  const broker = image.brokers.get(id)
  if (broker === undefined) throw new RangeError(`broker ${id} is not registered`)
  const unfence: MetadataRecordInput = {
    type: MetadataRecordType.BrokerRegistrationChange,
    version: 0,
    value: { brokerId: id, brokerEpoch: BigInt(broker.epoch), fenced: -1 },
  }
  return { records: [unfence, ...(newIncarnation ? newEpochs(image, id) : [])], answer: undefined }
}

function newEpochs(image: MetadataImage, id: number): MetadataRecordInput[] {
  const records: MetadataRecordInput[] = []
  for (const topic of image.topics.values()) {
    for (const [partition, state] of topic.partitions.entries()) {
      const fields = leadershipOf(state, id)
      if (fields !== undefined) records.push(partitionChange(image, { topicId: topic.id, partition }, fields))
    }
  }
  return records
}

function leadershipOf(state: PartitionImage, id: number) {
  if (state.leader === id || (state.leader < 0 && state.isr.includes(id))) return { leader: id }
  if (state.leader >= 0 || state.isr.length > 0 || !state.eligibleLeaderReplicas.includes(id)) return undefined
  return { leader: id, isr: [id], eligibleLeaderReplicas: [], lastKnownElr: [] }
}
