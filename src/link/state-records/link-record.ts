/** The record of one cluster link in `__lockstep_state`; written by create-link, delete-link and the probe that pins the cluster id. */
import type { Uuid } from '../../core/uuid.ts'
import { array, int64, string, struct } from '../../protocol/schema/field.ts'
import { message } from '../../protocol/schema/message.ts'

export interface LinkRecord {
  readonly linkId: Uuid
  readonly name: string
  readonly mode: 'DESTINATION' | 'BIDIRECTIONAL'
  /** Pinned id of the remote cluster; undefined until it was read for the first time. */
  readonly remoteClusterId: string | undefined
  readonly createdTimeMs: number
  /** Set once deletion with force was accepted: from then on only failover and deletion happen. */
  readonly deletingSinceMs: number | undefined
  /** What was set, as text. */
  readonly configs: ReadonlyMap<string, string>
}

/** Newest version that is written and understood. */
export const linkRecordVersion = 0

const table = message({
  name: 'LockstepLinkValue',
  versions: '0',
  flexibleFrom: 0,
  fields: {
    name: string(),
    mode: string(),
    remoteClusterId: string({ nullable: '0+' }),
    createdTimeMs: int64(),
    deletingSinceMs: int64(),
    configs: array(struct({ key: string(), value: string() })),
  },
})

export function encodeLinkRecord(record: LinkRecord): Buffer {
  return table.encode(
    {
      name: record.name,
      mode: record.mode,
      remoteClusterId: record.remoteClusterId ?? null,
      createdTimeMs: BigInt(record.createdTimeMs),
      deletingSinceMs: BigInt(record.deletingSinceMs ?? -1),
      configs: [...record.configs].map(([key, value]) => ({ key, value })),
    },
    linkRecordVersion,
  )
}

/** Throws DecodeError, or RangeError for a mode of a newer version. */
export function decodeLinkRecord(body: Buffer, linkId: Uuid): LinkRecord {
  const value = table.decode(body, linkRecordVersion)
  if (value.mode !== 'DESTINATION' && value.mode !== 'BIDIRECTIONAL') throw new RangeError(`unknown mode ${value.mode}`)
  return {
    linkId,
    name: value.name,
    mode: value.mode,
    remoteClusterId: value.remoteClusterId ?? undefined,
    createdTimeMs: Number(value.createdTimeMs),
    deletingSinceMs: value.deletingSinceMs < 0n ? undefined : Number(value.deletingSinceMs),
    configs: new Map(value.configs.map(({ key, value: text }) => [key, text])),
  }
}
