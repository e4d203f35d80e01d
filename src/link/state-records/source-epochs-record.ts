/** Which source epoch each mirrored offset came with: ranges per partition, durable before the first append of an epoch. */
import type { Uuid } from '../../core/uuid.ts'
import { array, int32, int64, struct } from '../../protocol/schema/field.ts'
import { message } from '../../protocol/schema/message.ts'

/** All offsets from `firstOffset` up to the next range carry this leader epoch at the source. */
export interface EpochRange {
  readonly epoch: number
  readonly firstOffset: number
}

export interface SourceEpochsRecord {
  readonly topicId: Uuid
  readonly partition: number
  readonly sourceClusterId: string
  /** Ascending in both fields. */
  readonly ranges: readonly EpochRange[]
}

/** Newest version that is written and understood. */
export const sourceEpochsVersion = 0

const table = message({
  name: 'LockstepSourceEpochsValue',
  versions: '0',
  flexibleFrom: 0,
  fields: { ranges: array(struct({ epoch: int32(), firstOffset: int64() })) },
})

export function encodeSourceEpochs(record: SourceEpochsRecord): Buffer {
  const ranges = record.ranges.map(({ epoch, firstOffset }) => ({ epoch, firstOffset: BigInt(firstOffset) }))
  return table.encode({ ranges }, sourceEpochsVersion)
}

/** Throws DecodeError. */
export function decodeSourceEpochs(body: Buffer, key: Omit<SourceEpochsRecord, 'ranges'>): SourceEpochsRecord {
  const { ranges } = table.decode(body, sourceEpochsVersion)
  return { ...key, ranges: ranges.map(({ epoch, firstOffset }) => ({ epoch, firstOffset: Number(firstOffset) })) }
}
