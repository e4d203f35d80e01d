/** Records of `__lockstep_inbox`: what a node asks the link coordinator to write. */
import type { StateRecord } from '../../link/ports.ts'
import { array, bytes, int32, int64, struct } from '../../protocol/schema/field.ts'
import { message } from '../../protocol/schema/message.ts'

export interface InboxProposal {
  /** Broker id of the node. */
  readonly sender: number
  /** Everything below was known to the node when it decided. */
  readonly decidedAt: number
  readonly records: readonly StateRecord[]
}

const VERSION = 0

const table = message({
  name: 'LockstepProposal',
  versions: '0',
  flexibleFrom: 0,
  fields: {
    sender: int32(),
    decidedAt: int64(),
    records: array(struct({ key: bytes(), value: bytes({ nullable: '0+' }) })),
  },
})

/** Behind its version. */
export function encodeProposal({ sender, decidedAt, records }: InboxProposal): Buffer {
  const version = Buffer.alloc(2)
  version.writeInt16BE(VERSION)
  return Buffer.concat([
    version,
    table.encode({ sender, decidedAt: BigInt(decidedAt), records: [...records] }, VERSION),
  ])
}

/** Undefined = another version's, or no proposal: its sender will see that nothing comes of it. */
export function decodeProposal(value: Buffer | null): InboxProposal | undefined {
  if (value === null || value.length < 2 || value.readInt16BE(0) !== VERSION) return undefined
  try {
    const { sender, decidedAt, records } = table.decode(value.subarray(2), VERSION)
    return { sender, decidedAt: Number(decidedAt), records }
  } catch {
    return undefined
  }
}
