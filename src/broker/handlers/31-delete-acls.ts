/**
 * DeleteAcls (31), versions 1–3; the dispatch table calls it.
 *
 * 1: baseline, with pattern types (KIP-290). 2: flexible. 3: resources of type USER.
 *
 * Needs ALTER on the cluster; without an authorizer SECURITY_DISABLED. Each filter is answered with the entries that it matched
 * and that are gone. The number 0 (unknown) closes the connection, as in Kafka, which cannot parse such a request.
 */
import type { AclFilter } from '../../metadata/acl-filter.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { DeleteAclsApi, type DeleteAclsRequest } from '../../protocol/messages/31-delete-acls.ts'
import { refuseUnknown, requireAuthorizer } from '../acl-requests.ts'
import { requireAllowedOnCluster } from '../authorization.ts'
import { handlerOf } from '../handler.ts'

export const deleteAcls = handlerOf(DeleteAclsApi, {
  versions: { min: 1, max: 3 },
  async handle(broker, request, origin) {
    const filters = request.filters.map(filterOf)
    for (const { resourceType, patternType, operation, permissionType } of filters)
      refuseUnknown('DeleteAcls', [resourceType, patternType, operation, permissionType])
    requireAllowedOnCluster(broker, origin, 'ALTER')
    requireAuthorizer(broker)
    const deleted = await broker.controller.acls.deleteAcls(filters)
    return {
      throttleTimeMs: 0,
      filterResults: deleted.map(({ errorCode, errorMessage, acls }) => ({
        errorCode,
        errorMessage,
        matchingAcls: acls.map(({ id: _, ...acl }) => ({ errorCode: ErrorCode.NONE, errorMessage: null, ...acl })),
      })),
    }
  },
  failed: (request, errorCode) => ({
    throttleTimeMs: 0,
    filterResults: request.filters.map(() => ({ errorCode, errorMessage: null, matchingAcls: [] })),
  }),
})

const filterOf = (filter: DeleteAclsRequest['filters'][number]): AclFilter => ({
  resourceType: filter.resourceTypeFilter,
  resourceName: filter.resourceNameFilter,
  patternType: filter.patternTypeFilter,
  principal: filter.principalFilter,
  host: filter.hostFilter,
  operation: filter.operation,
  permissionType: filter.permissionType,
})
