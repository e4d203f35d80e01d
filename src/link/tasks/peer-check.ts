/** PeerCheck: is the other half of a bidirectional link there, and does it fit? Run by the link's tasks. */
import { peerOf, takesOtherId } from '../peers/peer-link.ts'
import type { EngineParts } from '../runtime/engine-parts.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import type { SourceStatusView } from '../status/source-chain.ts'
import type { TaskError } from './sync-task.ts'

/** What the other side does is seen after this long at most. */
export const peerCheckPeriodMs = 5000

/** Two halves that were created at the same moment get one id. */
export async function checkPeer(
  { desired, destination, adoptPeerId }: Pick<EngineParts, 'desired' | 'destination' | 'adoptPeerId'>,
  view: SourceStatusView,
  link: LinkRecord,
): Promise<readonly TaskError[]> {
  const peer = peerOf(view, link, destination.clusterId)
  if (peer.kind === 'linked') return []
  const { code, message, other } = peer
  if (other) {
    const own = { linkId: link.linkId, hasMirrors: desired.mirrorsOf(link.linkId).length > 0 }
    if (takesOtherId(own, other) && (await adoptPeerId(link.linkId, other.linkId))) return []
    if (takesOtherId(other, own))
      return [{ code, message: `the other half of link '${link.name}' has not taken the id of this one yet` }]
  }
  return [{ code, message }]
}
