/**
 * DescribeAcls (29), versions 1–3; the dispatch table calls it.
 *
 * 1: baseline, with pattern types (KIP-290). 2: flexible. 3: resources of type USER.
 *
 * Needs DESCRIBE on the cluster; without an authorizer SECURITY_DISABLED. A filter with the number 0 (unknown) in it closes the
 * connection, as in Kafka, which cannot parse such a request.
 */
import type { AclImage } from '../../metadata/acl.ts'
import { type AclFilter, aclMatches } from '../../metadata/acl-filter.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { DescribeAclsApi, type DescribeAclsResponseInput } from '../../protocol/messages/29-describe-acls.ts'
import { refuseUnknown, requireAuthorizer } from '../acl-requests.ts'
import { requireAllowedOnCluster } from '../authorization.ts'
import { handlerOf } from '../handler.ts'

export const describeAcls = handlerOf(DescribeAclsApi, {
  versions: { min: 1, max: 3 },
  handle(broker, request, origin) {
    const { resourceTypeFilter: resourceType, patternTypeFilter: patternType, operation, permissionType } = request
    refuseUnknown('DescribeAcls', [resourceType, patternType, operation, permissionType])
    requireAllowedOnCluster(broker, origin, 'DESCRIBE')
    requireAuthorizer(broker)
    const filter: AclFilter = {
      resourceType,
      resourceName: request.resourceNameFilter,
      patternType,
      principal: request.principalFilter,
      host: request.hostFilter,
      operation,
      permissionType,
    }
    const acls = [...origin.image.acls.values()].filter(acl => aclMatches(filter, acl))
    return { throttleTimeMs: 0, errorCode: ErrorCode.NONE, errorMessage: null, resources: byResource(acls) }
  },
  failed: (_request, errorCode) => ({ throttleTimeMs: 0, errorCode, errorMessage: null, resources: [] }),
})

/** In the answer's form: entries below the resource that they are about. */
function byResource(acls: readonly AclImage[]): DescribeAclsResponseInput['resources'] {
  const groups = Map.groupBy(acls, acl => `${acl.resourceType}:${acl.patternType}:${acl.resourceName}`)
  return [...groups.values()].flatMap(group => {
    const [first] = group
    if (!first) return []
    const { resourceType, resourceName, patternType } = first
    const entries = group.map(({ principal, host, operation, permissionType }) => ({
      principal,
      host,
      operation,
      permissionType,
    }))
    return [{ resourceType, resourceName, patternType, acls: entries }]
  })
}
