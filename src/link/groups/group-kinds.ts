/** The kinds of groups whose offsets are synced, and how the ports are asked about each: groups of consumers with committed offsets, and share groups with start offsets (semantics §5). */
import {
  commitsOffsets,
  type Destination,
  type DestinationGroup,
  type GroupCommit,
  type GroupOffset,
  isShareGroup,
  type SourceCluster,
  type SourceGroup,
  type SourceGroupOffsets,
} from '../ports.ts'

export interface GroupKind {
  /** Do their offsets expire here when they are quiet? */
  readonly expires: boolean
  /** Is a group of the source of this kind? */
  keeps(group: SourceGroup): boolean
  /** Why there are none of this kind here; undefined: there may be. */
  missingHere(destination: Destination): string | undefined
  /** undefined: the source has none of this kind. */
  atSource(
    source: SourceCluster,
    groupIds: readonly string[],
    signal: AbortSignal,
  ): Promise<SourceGroupOffsets | undefined>
  /** All of this cluster; none where they cannot be listed. */
  allHere(destination: Destination): Promise<readonly string[]>
  here(destination: Destination, group: string): Promise<DestinationGroup>
  write(destination: Destination, group: string, offsets: readonly GroupOffset[]): Promise<GroupCommit>
}

export const consumerGroupKind: GroupKind = {
  expires: true,
  keeps: commitsOffsets,
  missingHere: () => undefined,
  atSource: (source, groupIds, signal) => source.groupOffsets(groupIds, signal),
  allHere: async destination => (await destination.groupIds?.()) ?? [],
  here: (destination, group) => destination.groupOffsets(group),
  write: (destination, group, offsets) => destination.commitGroupOffsets(group, offsets),
}

const noneHere = { kind: 'failed', message: 'this cluster has no share groups' } as const

export const shareGroupKind: GroupKind = {
  expires: false,
  keeps: isShareGroup,
  missingHere: ({ shareGroups }) => (shareGroups ? undefined : 'This cluster has no share groups.'),
  atSource: (source, groupIds, signal) => source.shareGroupOffsets(groupIds, signal),
  allHere: async ({ shareGroups }) => (await shareGroups?.groupIds?.()) ?? [],
  here: async ({ shareGroups }, group) =>
    (await shareGroups?.offsets(group)) ?? { kind: 'retriable', message: noneHere.message },
  write: async ({ shareGroups }, group, offsets) => (await shareGroups?.setOffsets(group, offsets)) ?? noneHere,
}
