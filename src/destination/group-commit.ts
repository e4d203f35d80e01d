/** What answers to a commit as nobody's member mean for links; shared by the ways in which the coordinators of both modes are asked. */
import type { GroupCommit, GroupOffset } from '../link/ports.ts'
import { isRefusal, missingRight } from '../metadata/missing-right.ts'
import { ErrorCode, errorName } from '../protocol/errors.ts'

/**
 * `commit` sends the offsets, all or none, and resolves to the error code of each. Metadata that is longer than this cluster takes
 * is left out, since the source would never make it shorter.
 */
export async function commitAsNobody(
  { groupId, offsets }: { readonly groupId: string; readonly offsets: readonly GroupOffset[] },
  commit: (offsets: readonly GroupOffset[]) => Promise<readonly number[]>,
): Promise<GroupCommit> {
  const codes = await commit(offsets)
  const refused = codes.find(code => code !== ErrorCode.NONE)
  if (refused === undefined) return { kind: 'committed' }
  const tooLong = offsets.filter((offset, index) => codes[index] === METADATA_TOO_LONG && offset.metadata !== '')
  if (tooLong.length > 0)
    return await commitAsNobody({ groupId, offsets: tooLong.map(offset => ({ ...offset, metadata: '' })) }, commit)
  if (IN_USE.has(refused)) return { kind: 'in-use' }
  if (OTHER_TYPE.has(refused))
    return { kind: 'other-type', message: `group '${groupId}' is of another type here (${errorName(refused)})` }
  const topic = offsets[codes.indexOf(refused)]?.topic
  return { kind: 'failed', message: refusalText(refused, { groupId, topic }) }
}

/** The error, or the right that would have prevented it. */
export function refusalText(
  errorCode: number,
  { groupId, topic }: { readonly groupId: string; readonly topic?: string | undefined },
): string {
  if (!isRefusal(errorCode)) return errorName(errorCode)
  return errorCode === ErrorCode.TOPIC_AUTHORIZATION_FAILED && topic !== undefined
    ? missingRight({ operation: 'READ', resource: 'TOPIC', name: topic })
    : missingRight({ operation: 'READ', resource: 'GROUP', name: groupId })
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
