/** Which source epoch each mirrored offset came with: ranges per partition, durable before the first append of an epoch. */
import type { Uuid } from '../../core/uuid.ts'
import { array, int32, int64, list, struct } from '../../protocol/schema/field.ts'
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
  /**
   * Leader epochs of this cluster in which the mirror was appended to, ascending: what the log has of another epoch was written by
   * somebody else. Empty where nobody else can lead.
   */
  readonly ledEpochs: readonly number[]
}

/** Newest version that is written and understood. */
export const sourceEpochsVersion = 1

const table = message({
  name: 'LockstepSourceEpochsValue',
  versions: '0-1',
  flexibleFrom: 0,
  fields: {
    ranges: array(struct({ epoch: int32(), firstOffset: int64() })),
    ledEpochs: list(int32, { versions: '1+' }),
  },
})

export function encodeSourceEpochs(record: SourceEpochsRecord): Buffer {
  const ranges = record.ranges.map(({ epoch, firstOffset }) => ({ epoch, firstOffset: BigInt(firstOffset) }))
  return table.encode({ ranges, ledEpochs: [...record.ledEpochs] }, sourceEpochsVersion)
}

/** Throws DecodeError. */
export function decodeSourceEpochs(
  body: Buffer,
  key: Omit<SourceEpochsRecord, 'ranges' | 'ledEpochs'>,
  version: number,
): SourceEpochsRecord {
  const { ranges, ledEpochs } = table.decode(body, version)
  return {
    ...key,
    ledEpochs,
    ranges: ranges.map(({ epoch, firstOffset }) => ({ epoch, firstOffset: Number(firstOffset) })),
  }
}
