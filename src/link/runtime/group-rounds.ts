/** Rounds of the group offset syncs over one connection of a link, with what they need of it. Made by the link's tasks; previews of promotes ask with the same parts. */
import type { Uuid } from '../../core/uuid.ts'
import type { LinkConfigs } from '../configs/link-configs.ts'
import { parseNameFilters } from '../configs/name-filters.ts'
import { groupPrefixOf } from '../configs/topic-rules.ts'
import type { GroupKind } from '../groups/group-kinds.ts'
import type { GroupSyncStates } from '../groups/group-sync-states.ts'
import { localMirrors } from '../groups/synced-topics.ts'
import type { SourceCluster } from '../ports.ts'
import type { SourceStatus } from '../status/source-status.ts'
import { syncGroupOffsets } from '../tasks/group-offsets-sync.ts'
import type { Round } from '../tasks/merged-rounds.ts'
import { syncRemoteMirrorOffsets } from '../tasks/remote-mirror-offsets.ts'
import type { SyncTaskOptions } from '../tasks/sync-task.ts'
import type { EngineParts } from './engine-parts.ts'

/** What these rounds see of the link that they belong to. */
export interface GroupSyncingLink {
  readonly linkId: Uuid
  readonly source: SourceCluster
  readonly status: SourceStatus
  readonly configs: LinkConfigs
  readonly groupStates: GroupSyncStates
}

/** One round over offsets of groups in mirrors of the link. */
export function groupOffsetsRound(parts: EngineParts, link: GroupSyncingLink, kind: GroupKind): Round {
  return (mirrors, signal) =>
    syncGroupOffsets(
      { ...syncedGroupsOf(parts, link, kind), peerFilters: undefined, signal },
      localMirrors(parts.desired, link.linkId, mirrors),
    )
}

/** One round over offsets of groups in the peer's mirrors; nothing where the link has no peer, or is paused. */
export function remoteMirrorsRound(
  parts: EngineParts,
  link: GroupSyncingLink,
  kind: GroupKind,
): SyncTaskOptions['work'] {
  return async signal => {
    const record = parts.desired.link(link.linkId)
    if (record?.mode !== 'BIDIRECTIONAL' || link.configs.must('cluster.link.paused')) return []
    const readStatus = () => link.status.newest()
    return await syncRemoteMirrorOffsets({ ...syncedGroupsOf(parts, link, kind), link: record, readStatus, signal })
  }
}

function syncedGroupsOf(parts: EngineParts, link: GroupSyncingLink, kind: GroupKind) {
  const filtersNow = () => groupFiltersOf(link.configs)
  return { ...groupsOf(parts, link, kind), filtersNow, states: link.groupStates }
}

const groupFiltersOf = (configs: LinkConfigs) =>
  parseNameFilters(configs.must('consumer.offset.group.filters'), 'groupFilters')

/** What the group offset sync needs of a link, also for previews. */
export function groupsOf(
  parts: EngineParts,
  link: Pick<GroupSyncingLink, 'linkId' | 'source' | 'configs'>,
  kind: GroupKind,
) {
  const { configs } = link
  return {
    ...parts,
    kind,
    linkId: link.linkId,
    source: link.source,
    filters: groupFiltersOf(configs),
    groupPrefix: groupPrefixOf(configs),
    stateMaxAgeMs: configs.must('group.sync.state.max.age.ms'),
  }
}
