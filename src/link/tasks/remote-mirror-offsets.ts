/** Offsets that groups have in the peer's mirrors of topics of this cluster come back to them (REMOTE_MIRROR, semantics §5). Run by the tasks of bidirectional links beside the sync of their own mirrors. */
import { includesType, type NameFilter, parseNameFilters } from '../configs/name-filters.ts'
import { remoteMirrors } from '../groups/synced-topics.ts'
import { peerOf } from '../peers/peer-link.ts'
import type { LinkRecord } from '../state-records/link-record.ts'
import type { SourceStatusView } from '../status/source-chain.ts'
import { type GroupOffsetsParts, syncGroupOffsets } from './group-offsets-sync.ts'
import type { TaskError } from './sync-task.ts'

export interface RemoteMirrorOffsetsParts extends Omit<GroupOffsetsParts, 'peerFilters'> {
  readonly link: LinkRecord
  /** What the other cluster publishes. */
  readonly readStatus: () => Promise<SourceStatusView>
}

/** One round; without filters that ask for it nothing is asked of anybody. */
export async function syncRemoteMirrorOffsets(parts: RemoteMirrorOffsetsParts): Promise<readonly TaskError[]> {
  const { filters, states, link, destination } = parts
  if (!includesType(filters, 'REMOTE_MIRROR')) {
    states.keepOnly(({ topicType }) => topicType !== 'REMOTE_MIRROR')
    return []
  }
  const look = async () => peerOf(await parts.readStatus(), link, destination.clusterId)
  const peer = await look()
  if (peer.kind === 'problem') return [{ code: peer.code, message: peer.message }]
  const again = async () => {
    const found = await look()
    return found.kind === 'problem' ? undefined : found.contents
  }
  const topics = remoteMirrors(parts, link, { contents: peer.contents, again })
  states.keepOnly(({ topicType, topic }) => topicType !== 'REMOTE_MIRROR' || topics.isSynced(topic))
  if (topics.topics.length === 0) return []
  return await syncGroupOffsets({ ...parts, peerFilters: publishedFilters(peer.link.groupFilters) }, topics)
}

/** undefined = it does not tell, or not in words of this version. */
function publishedFilters(text: string | undefined): readonly NameFilter[] | undefined {
  if (text === undefined) return undefined
  try {
    return parseNameFilters(text, 'groupFilters')
  } catch {
    return undefined
  }
}
