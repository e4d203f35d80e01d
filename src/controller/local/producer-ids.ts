/** Commands that hand out producer ids (KIP-730) and jump over ids that a mirrored log already uses. Called by the local controller. */
import type { ProducerIdBlock } from '../../metadata/controller-port.ts'
import type { MetadataImage } from '../../metadata/metadata-image.ts'
import { type MetadataRecordInput, MetadataRecordType } from '../../protocol/metadata-records/registry.ts'
import type { Decision } from './decision.ts'

/** Ids per block, as in Kafka. */
const BLOCK_LENGTH = 1000

const PRODUCER_ID_MAX = 0x7fff_ffff_ffff_ffffn

/** Undefined answer = the ids are used up. */
export function allocateProducerIds(image: MetadataImage, brokerId: number): Decision<ProducerIdBlock | undefined> {
  const firstId = image.nextProducerId
  if (firstId > PRODUCER_ID_MAX - BigInt(BLOCK_LENGTH)) return { records: [], answer: undefined }
  return {
    records: [producerIdsRecord(image, brokerId, firstId + BigInt(BLOCK_LENGTH))],
    answer: { firstId, length: BLOCK_LENGTH },
  }
}

export function skipProducerIdsBelow(image: MetadataImage, brokerId: number, producerId: bigint): Decision<void> {
  if (producerId < image.nextProducerId) return { records: [], answer: undefined }
  return { records: [producerIdsRecord(image, brokerId, producerId + 1n)], answer: undefined }
}

const producerIdsRecord = (image: MetadataImage, brokerId: number, nextProducerId: bigint): MetadataRecordInput => ({
  type: MetadataRecordType.ProducerIds,
  version: 0,
  value: { brokerId, brokerEpoch: BigInt(image.brokers.get(brokerId)?.epoch ?? -1), nextProducerId },
})
