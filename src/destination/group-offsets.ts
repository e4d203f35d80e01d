/** Offsets of this cluster's groups for links: read as a client reads them, committed as somebody who is no member (semantics §5). */

import type { GroupCoordinator } from '../coordinator/groups/group-coordinator.ts'
import { ZERO_UUID } from '../core/uuid.ts'
import type { DestinationGroup, GroupCommit, GroupOffset } from '../link/ports.ts'
import { type MetadataImage, topicByName } from '../metadata/metadata-image.ts'
import { ErrorCode, errorName } from '../protocol/errors.ts'
import { commitAsNobody } from './group-commit.ts'

export type LinkedGroups = Pick<
  GroupCoordinator,
  'ensureTopic' | 'fetchOffsets' | 'commitOffsets' | 'describeGroup' | 'listGroups'
> & {
  readonly consumers: Pick<GroupCoordinator['consumers'], 'find'>
}

/** Groups of these types; by default those of consumers. Rejects while a coordinator loads. */
export async function listGroupIds(
  groups: Pick<LinkedGroups, 'ensureTopic' | 'listGroups'>,
  types: readonly string[] = ['classic', 'consumer'],
): Promise<readonly string[]> {
  await groups.ensureTopic()
  const { errorCode, groups: listed } = groups.listGroups({ states: [], types: [...types] })
  if (errorCode !== ErrorCode.NONE) throw new Error(`the groups cannot be listed: ${errorName(errorCode)}`)
  return listed.map(({ groupId }) => groupId)
}

/** Everything that the group has committed. */
export async function readGroup(
  groups: LinkedGroups,
  groupId: string,
  image: MetadataImage,
): Promise<DestinationGroup> {
  await groups.ensureTopic()
  const topicIdOf = (name: string) => topicByName(image, name)?.id
  const { errorCode, topics } = await groups.fetchOffsets({ groupId, requireStable: false, topics: null, topicIdOf })
  if (errorCode !== ErrorCode.NONE) return { kind: 'retriable', message: errorName(errorCode) }
  const offsets = topics.flatMap(({ name: topic, partitions }) =>
    partitions
      .filter(({ committedOffset }) => committedOffset >= 0n)
      .map(({ partitionIndex: partition, committedOffset, metadata }) => {
        return { topic, partition, offset: Number(committedOffset), metadata }
      }),
  )
  const group = groups.describeGroup(groupId).group ?? groups.consumers.find(groupId)
  return { kind: 'offsets', offsets, hasMembers: (group?.members.length ?? 0) > 0 }
}

/** The coordinator checks that the group has no member, and takes the offsets, in one step: all or none. */
export function commitToGroup(
  groups: LinkedGroups,
  commit: { readonly groupId: string; readonly offsets: readonly GroupOffset[] },
  image: MetadataImage,
): Promise<GroupCommit> {
  return commitAsNobody(commit, offsets =>
    groups.commitOffsets({
      groupId: commit.groupId,
      generationId: -1,
      memberId: '',
      groupInstanceId: null,
      retentionMs: -1n,
      unknownGroup: ErrorCode.GROUP_ID_NOT_FOUND,
      // Epochs of the source mean nothing here.
      offsets: offsets.map(({ topic, partition, offset, metadata }) => ({
        topic,
        topicId: topicByName(image, topic)?.id ?? ZERO_UUID,
        partition,
        offset: BigInt(offset),
        leaderEpoch: -1,
        metadata,
      })),
    }),
  )
}
