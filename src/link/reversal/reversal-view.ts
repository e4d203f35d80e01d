/** How a topic that changes roles is shown: with what is known of its counterpart. Called by the view of mirrors. */
import type { ReversalView } from '../mirror-ends.ts'
import type { LinkRuntime } from '../runtime/link-runtime.ts'
import type { MirrorRecord } from '../state-records/mirror-record.ts'
import { peerReversal } from './reversal-parts.ts'

export function reversalView(record: MirrorRecord, runtime: LinkRuntime | undefined): ReversalView | null {
  const { reversal, linkId, mirrorTopic, sourceTopicId } = record
  if (!reversal) return null
  const view = runtime?.status?.latest
  const contents = view?.kind === 'read' || view?.kind === 'failed' ? view.contents : undefined
  const source = contents && peerReversal(contents, record)
  const isMirror = isOldMirror(record)
  return {
    role: isMirror ? 'MIRROR' : 'SOURCE',
    peerStatus: contents
      ? (contents.mirrorOf(linkId, { mirrorTopic, topicId: sourceTopicId })?.state ?? null)
      : 'UNKNOWN',
    peerReason: source && source.reason !== '' ? source.reason : null,
    readOnlyMs: reversal.windowMs ?? null,
    abortedTransactions: reversal.abortedTransactions || (isMirror && source?.abortedTransactions) || 0,
  }
}

function isOldMirror({ state, reversal, failedFrom }: MirrorRecord): boolean {
  if (state === 'FAILED') return failedFrom === 'PENDING_SYNCHRONIZE' || failedFrom === 'PENDING_STOPPED'
  return state === 'PENDING_SYNCHRONIZE' || state === 'PENDING_STOPPED' || (state === 'STOPPED' && !reversal?.withdrawn)
}
