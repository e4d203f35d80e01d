/** PeerCheck: is the other half of a bidirectional link there, and does it fit? Run by the link's tasks. */
import { peerOf } from '../peers/peer-link.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import type { SourceStatusView } from '../status/source-chain.ts'
import type { TaskError } from './sync-task.ts'

/** What the other side does is seen after this long at most. */
export const peerCheckPeriodMs = 5000

export function checkPeer(view: SourceStatusView, link: LinkRecord, clusterId: string): readonly TaskError[] {
  const peer = peerOf(view, link, clusterId)
  return peer.kind === 'linked' ? [] : [{ code: peer.code, message: peer.message }]
}
