/** Offsets of this cluster's groups for links: read as a client reads them, committed as somebody who is no member (semantics §5). */

import type { GroupCoordinator } from '../coordinator/groups/group-coordinator.ts'
import { ZERO_UUID } from '../core/uuid.ts'
import type { DestinationGroup, GroupCommit, GroupOffset } from '../link/ports.ts'
import { type MetadataImage, topicByName } from '../metadata/metadata-image.ts'
import { ErrorCode, errorName } from '../protocol/errors.ts'

export type LinkedGroups = Pick<
  GroupCoordinator,
  'ensureTopic' | 'fetchOffsets' | 'commitOffsets' | 'describeGroup'
> & {
  readonly consumers: Pick<GroupCoordinator['consumers'], 'find'>
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

/**
 * The coordinator checks that the group has no member, and takes the offsets, in one step: all or none. Metadata that is longer
 * than this cluster takes is left out, since the source would never make it shorter.
 */
export async function commitToGroup(
  groups: LinkedGroups,
  commit: { readonly groupId: string; readonly offsets: readonly GroupOffset[] },
  image: MetadataImage,
): Promise<GroupCommit> {
  const { groupId, offsets } = commit
  const codes = await groups.commitOffsets({
    groupId,
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
  })
  const refused = codes.find(code => code !== ErrorCode.NONE)
  if (refused === undefined) return { kind: 'committed' }
  const tooLong = offsets.filter((offset, index) => codes[index] === METADATA_TOO_LONG && offset.metadata !== '')
  if (tooLong.length > 0)
    return await commitToGroup(
      groups,
      { groupId, offsets: tooLong.map(offset => ({ ...offset, metadata: '' })) },
      image,
    )
  if (IN_USE.has(refused)) return { kind: 'in-use' }
  if (OTHER_TYPE.has(refused))
    return { kind: 'other-type', message: `group '${groupId}' is of another type here (${errorName(refused)})` }
  return { kind: 'failed', message: errorName(refused) }
}

const METADATA_TOO_LONG = ErrorCode.OFFSET_METADATA_TOO_LARGE

const IN_USE: ReadonlySet<number> = new Set([
  ErrorCode.UNKNOWN_MEMBER_ID,
  ErrorCode.REBALANCE_IN_PROGRESS,
  ErrorCode.ILLEGAL_GENERATION,
])

const OTHER_TYPE: ReadonlySet<number> = new Set([
  ErrorCode.GROUP_ID_NOT_FOUND,
  ErrorCode.INCONSISTENT_GROUP_PROTOCOL,
  ErrorCode.STALE_MEMBER_EPOCH,
])
