/** The intent to create a mirror, durable before its topic exists: until it is gone nobody may write a topic of that name. */
import type { Uuid } from '../../core/uuid.ts'
import { array, int32, int64, list, string, struct, uuid } from '../../protocol/schema/field.ts'
import { message } from '../../protocol/schema/message.ts'

export interface MirrorCreationRecord {
  readonly linkId: Uuid
  readonly mirrorTopic: string
  readonly sourceTopic: string
  readonly sourceTopicId: Uuid
  readonly sourceClusterId: string
  readonly sinceMs: number
  /** -1 = the cluster's default. */
  readonly replicationFactor: number
  readonly configs: ReadonlyMap<string, string>
  /** Index = partition; as many as the source has partitions. */
  readonly startOffsets: readonly number[]
}

/** Newest version that is written and understood. */
export const mirrorCreationVersion = 0

const table = message({
  name: 'LockstepMirrorCreationValue',
  versions: '0',
  flexibleFrom: 0,
  fields: {
    sourceTopic: string(),
    sourceTopicId: uuid(),
    sourceClusterId: string(),
    sinceMs: int64(),
    replicationFactor: int32(),
    configs: array(struct({ key: string(), value: string() })),
    startOffsets: list(int64),
  },
})

export function encodeMirrorCreation(record: MirrorCreationRecord): Buffer {
  return table.encode(
    {
      sourceTopic: record.sourceTopic,
      sourceTopicId: record.sourceTopicId,
      sourceClusterId: record.sourceClusterId,
      sinceMs: BigInt(record.sinceMs),
      replicationFactor: record.replicationFactor,
      configs: [...record.configs].map(([key, value]) => ({ key, value })),
      startOffsets: record.startOffsets.map(BigInt),
    },
    mirrorCreationVersion,
  )
}

/** Throws DecodeError. */
export function decodeMirrorCreation(body: Buffer, key: { linkId: Uuid; mirrorTopic: string }): MirrorCreationRecord {
  const value = table.decode(body, mirrorCreationVersion)
  return {
    ...key,
    sourceTopic: value.sourceTopic,
    sourceTopicId: value.sourceTopicId,
    sourceClusterId: value.sourceClusterId,
    sinceMs: Number(value.sinceMs),
    replicationFactor: value.replicationFactor,
    configs: new Map(value.configs.map(({ key: name, value: text }) => [name, text])),
    startOffsets: value.startOffsets.map(Number),
  }
}
