/**
 * DeleteGroups (42), versions 0–2; the dispatch table calls it.
 *
 * 1: the same. 2: flexible.
 *
 * DELETE on each group. A group with members is NON_EMPTY_GROUP, one that does not exist GROUP_ID_NOT_FOUND. Answered when group
 * and offsets are durably gone.
 */
import { ErrorCode } from '../../protocol/errors.ts'
import { DeleteGroupsApi } from '../../protocol/messages/42-delete-groups.ts'
import { allowedNames } from '../authorization.ts'
import { handlerOf } from '../handler.ts'

export const deleteGroups = handlerOf(DeleteGroupsApi, {
  versions: { min: 0, max: 2 },
  async handle(broker, { groupsNames }, origin) {
    const names = [...new Set(groupsNames)]
    const deletable = allowedNames(broker, origin, { operation: 'DELETE', resource: 'GROUP', names })
    const deleted = await Promise.all(
      names
        .filter(name => deletable.has(name))
        .map(async groupId => ({ groupId, errorCode: await broker.groups.deleteGroup(groupId) })),
    )
    const refused = names
      .filter(name => !deletable.has(name))
      .map(groupId => ({ groupId, errorCode: ErrorCode.GROUP_AUTHORIZATION_FAILED }))
    return { throttleTimeMs: 0, results: [...deleted, ...refused] }
  },
  failed: ({ groupsNames }, errorCode) => ({
    throttleTimeMs: 0,
    results: groupsNames.map(groupId => ({ groupId, errorCode })),
  }),
})
