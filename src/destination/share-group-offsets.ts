/** Start offsets of this cluster's share groups for links: read and set as an administrator does (semantics §5). */
import type { GroupCoordinator } from '../coordinator/groups/group-coordinator.ts'
import type { Destination, DestinationGroup, GroupCommit, GroupOffset } from '../link/ports.ts'
import { ErrorCode, errorName } from '../protocol/errors.ts'
import { listGroupIds } from './group-offsets.ts'

export type LinkedShareGroups = Pick<GroupCoordinator, 'ensureTopic' | 'listGroups'> & {
  readonly shares: Pick<GroupCoordinator['shares'], 'isEnabled' | 'describeOffsets' | 'alterOffsets' | 'find'>
}

/** undefined while the feature `share.version` is off. */
export const linkedShareGroups = (groups: LinkedShareGroups): Destination['shareGroups'] =>
  groups.shares.isEnabled
    ? {
        groupIds: () => listGroupIds(groups, ['share']),
        offsets: groupId => readStarts(groups, groupId),
        setOffsets: (groupId, offsets) => setStarts(groups, groupId, offsets),
      }
    : undefined

/** Partitions that nobody has read yet have no offset. */
async function readStarts(groups: LinkedShareGroups, groupId: string): Promise<DestinationGroup> {
  await groups.ensureTopic()
  const { errorCode, topics } = await groups.shares.describeOffsets(groupId, null)
  if (errorCode !== ErrorCode.NONE) return { kind: 'retriable', message: errorName(errorCode) }
  const starts = topics.flatMap(({ topicName: topic, partitions }) =>
    partitions.map(({ partitionIndex: partition, startOffset: offset, errorCode }) => {
      return { topic, partition, offset, metadata: '', errorCode }
    }),
  )
  const failed = starts.find(start => start.errorCode !== ErrorCode.NONE)
  if (failed) return { kind: 'retriable', message: errorName(failed.errorCode) }
  const hasMembers = (groups.shares.find(groupId)?.members.length ?? 0) > 0
  const offsets = starts.filter(({ offset }) => offset >= 0).map(({ errorCode: _, ...offset }) => offset)
  return { kind: 'offsets', offsets, hasMembers }
}

async function setStarts(
  { shares }: LinkedShareGroups,
  groupId: string,
  offsets: readonly GroupOffset[],
): Promise<GroupCommit> {
  const topics = [...Map.groupBy(offsets, ({ topic }) => topic)].map(([topicName, starts]) => ({
    topicName,
    partitions: starts.map(({ partition: partitionIndex, offset: startOffset }) => ({ partitionIndex, startOffset })),
  }))
  const answer = await shares.alterOffsets(groupId, topics)
  const codes = [answer.errorCode, ...answer.topics.flatMap(({ partitions }) => partitions.map(p => p.errorCode))]
  const refused = codes.find(code => code !== ErrorCode.NONE)
  if (refused === undefined) return { kind: 'committed' }
  if (refused === ErrorCode.NON_EMPTY_GROUP) return { kind: 'in-use' }
  if (refused === ErrorCode.GROUP_ID_NOT_FOUND)
    return { kind: 'other-type', message: `group '${groupId}' is of another type here` }
  return { kind: 'failed', message: errorName(refused) }
}
