/**
 * CreateAcls (30), versions 1–3; the dispatch table calls it.
 *
 * 1: baseline, with pattern types (KIP-290). 2: flexible. 3: resources of type USER.
 *
 * Needs ALTER on the cluster; without an authorizer SECURITY_DISABLED. Entries are decided one by one; one that exists already
 * is no error. The number 0 (unknown) closes the connection, as in Kafka, which cannot parse such a request.
 */
import type { AclEntry } from '../../metadata/acl.ts'
import { AclResource } from '../../metadata/authorizer.ts'
import type { ApiError } from '../../metadata/controller-port.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { CreateAclsApi, type CreateAclsRequest } from '../../protocol/messages/30-create-acls.ts'
import { refuseUnknown, requireAuthorizer } from '../acl-requests.ts'
import { CLUSTER_NAME, requireAllowedOnCluster } from '../authorization.ts'
import { handlerOf } from '../handler.ts'

export const createAcls = handlerOf(CreateAclsApi, {
  versions: { min: 1, max: 3 },
  async handle(broker, request, origin) {
    const entries = request.creations.map(entryOf)
    for (const { resourceType, patternType, operation, permissionType } of entries)
      refuseUnknown('CreateAcls', [resourceType, patternType, operation, permissionType])
    requireAllowedOnCluster(broker, origin, 'ALTER')
    requireAuthorizer(broker)
    const problems = entries.map(problemOf)
    const created = await broker.controller.acls.createAcls(entries.filter((_, index) => !problems[index]))
    const outcomes = created.values()
    const results = problems.map(problem => problem ?? outcomes.next().value ?? INTERNAL)
    return { throttleTimeMs: 0, results }
  },
  failed: (request, errorCode) => ({
    throttleTimeMs: 0,
    results: request.creations.map(() => ({ errorCode, errorMessage: null })),
  }),
})

const INTERNAL: ApiError = { errorCode: ErrorCode.UNKNOWN_SERVER_ERROR, errorMessage: null }

const entryOf = ({ resourcePatternType: patternType, ...entry }: CreateAclsRequest['creations'][number]): AclEntry => ({
  ...entry,
  patternType,
})

function problemOf({ resourceType, resourceName }: AclEntry): ApiError | undefined {
  if (resourceType !== AclResource.CLUSTER || resourceName === CLUSTER_NAME) return undefined
  const errorMessage = `The only valid name for the CLUSTER resource is ${CLUSTER_NAME}`
  return { errorCode: ErrorCode.INVALID_REQUEST, errorMessage }
}
