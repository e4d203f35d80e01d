/** Start offsets of the share groups of a joined cluster for links: read and set as an administrator does, by the coordinators of the groups (semantics §5). */
import type { DestinationGroup, GroupCommit, GroupOffset } from '../../link/ports.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { ShareGroupDescribeApi } from '../../protocol/messages/77-share-group-describe.ts'
import { DescribeShareGroupOffsetsApi } from '../../protocol/messages/90-describe-share-group-offsets.ts'
import { AlterShareGroupOffsetsApi } from '../../protocol/messages/91-alter-share-group-offsets.ts'
import { refusalText } from '../group-commit.ts'
import type { BrokerLink } from './group-coordinators.ts'

/** Partitions that nobody has read yet have no offset. Resolves to undefined where the coordinator has moved. */
export async function readStarts(
  connection: BrokerLink,
  groupId: string,
  moved: ReadonlySet<number>,
): Promise<DestinationGroup | undefined> {
  const request = { groups: [{ groupId, topics: null }] }
  const { response } = await connection.send(DescribeShareGroupOffsetsApi, request)
  const [group] = response.groups
  const errorCode = group?.errorCode ?? ErrorCode.UNKNOWN_SERVER_ERROR
  if (moved.has(errorCode)) return undefined
  // One that does not exist has no offsets: it is created by the first that are set.
  if (errorCode === ErrorCode.GROUP_ID_NOT_FOUND) return { kind: 'offsets', offsets: [], hasMembers: false }
  const starts = (group?.topics ?? []).flatMap(({ topicName: topic, partitions }) =>
    partitions.map(({ partitionIndex: partition, startOffset, errorCode }) => ({
      ...{ topic, partition, metadata: '', errorCode },
      offset: Number(startOffset),
    })),
  )
  const failed = [{ errorCode, topic: undefined }, ...starts].find(one => one.errorCode !== ErrorCode.NONE)
  if (failed) return { kind: 'retriable', message: refusalText(failed.errorCode, { groupId, topic: failed.topic }) }
  const described = await connection.send(ShareGroupDescribeApi, {
    groupIds: [groupId],
    includeAuthorizedOperations: false,
  })
  const hasMembers = described.response.groups.some(({ members }) => members.length > 0)
  const offsets = starts.filter(({ offset }) => offset >= 0).map(({ errorCode: _, ...offset }) => offset)
  return { kind: 'offsets', offsets, hasMembers }
}

/** Creates and initialises what is not there. Resolves to undefined where the coordinator has moved. */
export async function setStarts(
  connection: BrokerLink,
  { groupId, offsets }: { readonly groupId: string; readonly offsets: readonly GroupOffset[] },
  by: { readonly moved: ReadonlySet<number>; readonly timeoutMs: number },
): Promise<GroupCommit | undefined> {
  const topics = [...Map.groupBy(offsets, ({ topic }) => topic)].map(([topicName, starts]) => ({
    topicName,
    partitions: starts.map(({ partition: partitionIndex, offset }) => ({
      partitionIndex,
      startOffset: BigInt(offset),
    })),
  }))
  const { timeoutMs } = by
  const { response } = await connection.send(AlterShareGroupOffsetsApi, { groupId, topics }, { timeoutMs })
  const answers = response.responses.flatMap(({ topicName: topic, partitions }) =>
    partitions.map(({ errorCode }) => ({ errorCode, topic })),
  )
  const first = [{ errorCode: response.errorCode, topic: undefined }, ...answers].find(
    one => one.errorCode !== ErrorCode.NONE,
  )
  const refused = first?.errorCode
  if (refused === undefined) return { kind: 'committed' }
  if (by.moved.has(refused)) return undefined
  if (refused === ErrorCode.NON_EMPTY_GROUP) return { kind: 'in-use' }
  if (refused === ErrorCode.GROUP_ID_NOT_FOUND)
    return { kind: 'other-type', message: `group '${groupId}' is of another type here` }
  return { kind: 'failed', message: refusalText(refused, { groupId, topic: first?.topic }) }
}
