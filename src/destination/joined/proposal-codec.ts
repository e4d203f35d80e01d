/** Records of `__lockstep_inbox`: what a node asks the link coordinator to write, signed with a key that all nodes have. */
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

/** Who may write the topic may not by that say what links are: only nodes can sign. */
export interface ProposalSignatures {
  sign(bytes: Buffer): Buffer
  /** Has a node of this cluster signed that? */
  isGenuine(bytes: Buffer, signature: Buffer): boolean
}

/** 0 was not signed. */
const VERSION = 1
const VERSION_BYTES = 2
const SIGNATURE_BYTES = 32

const table = message({
  name: 'LockstepProposal',
  versions: '1',
  flexibleFrom: 0,
  fields: {
    sender: int32(),
    decidedAt: int64(),
    records: array(struct({ key: bytes(), value: bytes({ nullable: '0+' }) })),
  },
})

/** Its version, the signature of what follows, the proposal. */
export function encodeProposal({ sender, decidedAt, records }: InboxProposal, signatures: ProposalSignatures): Buffer {
  const version = Buffer.alloc(VERSION_BYTES)
  version.writeInt16BE(VERSION)
  const body = table.encode({ sender, decidedAt: BigInt(decidedAt), records: [...records] }, VERSION)
  return Buffer.concat([version, signatures.sign(body), body])
}

/** `forged`: no node that has our keys has made it. Undefined = another version's, or no proposal: its sender will see that nothing comes of it. */
export function decodeProposal(
  value: Buffer | null,
  signatures: ProposalSignatures,
): InboxProposal | 'forged' | undefined {
  const head = VERSION_BYTES + SIGNATURE_BYTES
  if (value === null || value.length < head || value.readInt16BE(0) !== VERSION) return undefined
  const body = value.subarray(head)
  if (!signatures.isGenuine(body, value.subarray(VERSION_BYTES, head))) return 'forged'
  try {
    const { sender, decidedAt, records } = table.decode(body, VERSION)
    return { sender, decidedAt: Number(decidedAt), records }
  } catch {
    return undefined
  }
}
