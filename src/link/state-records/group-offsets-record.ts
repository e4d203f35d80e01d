/** What a link wrote last for one group of this cluster, durable before the write: only this may be overwritten (semantics §5). */
import type { Uuid } from '../../core/uuid.ts'
import { array, int32, int64, string, struct } from '../../protocol/schema/field.ts'
import { message } from '../../protocol/schema/message.ts'

export interface WrittenOffset {
  /** The mirror topic. */
  readonly topic: string
  readonly partition: number
  readonly offset: number
  /** What was written before it: after a crash in between either may be what the group has. -1 = nothing. */
  readonly previousOffset: number
}

export interface GroupOffsetsRecord {
  readonly linkId: Uuid
  /** The group's id here. */
  readonly group: string
  readonly written: readonly WrittenOffset[]
}

/** Newest version that is written and understood. */
export const groupOffsetsVersion = 0

const table = message({
  name: 'LockstepGroupOffsetsValue',
  versions: '0',
  flexibleFrom: 0,
  fields: {
    topics: array(
      struct({
        topic: string(),
        partitions: array(struct({ partition: int32(), offset: int64(), previousOffset: int64() })),
      }),
    ),
  },
})

export function encodeGroupOffsets({ written }: GroupOffsetsRecord): Buffer {
  const topics = [...Map.groupBy(written, ({ topic }) => topic)].map(([topic, partitions]) => ({
    topic,
    partitions: partitions.map(({ partition, offset, previousOffset }) => ({
      partition,
      offset: BigInt(offset),
      previousOffset: BigInt(previousOffset),
    })),
  }))
  return table.encode({ topics }, groupOffsetsVersion)
}

/** Throws DecodeError. */
export function decodeGroupOffsets(body: Buffer, key: { linkId: Uuid; group: string }): GroupOffsetsRecord {
  const { topics } = table.decode(body, groupOffsetsVersion)
  const written = topics.flatMap(({ topic, partitions }) =>
    partitions.map(({ partition, offset, previousOffset }) => ({
      topic,
      partition,
      offset: Number(offset),
      previousOffset: Number(previousOffset),
    })),
  )
  return { ...key, written }
}
