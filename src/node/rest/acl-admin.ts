/** ACLs of the cluster as REST tells them: Kafka's words to numbers and back, over the Controller port. */
import { type AclEntry, AclPattern, AclPatternFilter, AclPermission, ALL_OPERATIONS, ANY } from '../../metadata/acl.ts'
import { type AclFilter, aclMatches } from '../../metadata/acl-filter.ts'
import { AclOperation, AclResource, CLUSTER_NAME } from '../../metadata/authorizer.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import type { AclAdmin, AclView, AclViewFilter } from '../../rest/cluster-ports.ts'
import { kafkaRefusal, requireSuccess } from './kafka-refusal.ts'

type Words = Readonly<Record<string, number>>

const resources: Words = AclResource
const operations: Words = { ALL: ALL_OPERATIONS, ...AclOperation }
const permissions: Words = AclPermission
/** Words of entries; filters know ANY too, and MATCH as a pattern type. */
const patterns: Words = AclPattern

/** `hasAuthorizer`: without one, ACLs would have no effect and are refused, as by Kafka. */
export function localAclAdmin({
  controller,
  hasAuthorizer,
}: {
  controller: Controller
  hasAuthorizer: boolean
}): AclAdmin {
  const requireAuthorizer = () => {
    if (!hasAuthorizer) throw kafkaRefusal(ErrorCode.SECURITY_DISABLED, 'No Authorizer is configured.')
  }
  return {
    list(filter) {
      const wanted = filterOf(filter)
      requireAuthorizer()
      return [...controller.image.acls.values()].filter(acl => aclMatches(wanted, acl)).map(viewOf)
    },
    async create(acls) {
      const entries = acls.map(entryOf)
      requireAuthorizer()
      for (const result of await controller.acls.createAcls(entries)) requireSuccess(result)
    },
    async delete(filter) {
      const wanted = filterOf(filter)
      requireAuthorizer()
      const [result] = await controller.acls.deleteAcls([wanted])
      requireSuccess(result)
      return (result?.acls ?? []).map(viewOf)
    },
  }
}

function entryOf(acl: AclView): AclEntry {
  const entry = {
    resourceType: numberOf('resource_type', acl.resourceType, resources),
    resourceName: acl.resourceName,
    patternType: numberOf('pattern_type', acl.patternType, patterns),
    principal: acl.principal,
    host: acl.host,
    operation: numberOf('operation', acl.operation, operations),
    permissionType: numberOf('permission', acl.permission, permissions),
  }
  if (entry.resourceType === AclResource.CLUSTER && entry.resourceName !== CLUSTER_NAME)
    throw invalid(`The only valid name for the CLUSTER resource is ${CLUSTER_NAME}`)
  return entry
}

const filterOf = (filter: AclViewFilter): AclFilter => ({
  resourceType: numberOf('resource_type', filter.resourceType ?? 'ANY', { ANY, ...resources }),
  resourceName: filter.resourceName ?? null,
  patternType: numberOf('pattern_type', filter.patternType ?? 'ANY', { ...AclPatternFilter, ...patterns }),
  principal: filter.principal ?? null,
  host: filter.host ?? null,
  operation: numberOf('operation', filter.operation ?? 'ANY', { ANY, ...operations }),
  permissionType: numberOf('permission', filter.permission ?? 'ANY', { ANY, ...permissions }),
})

function numberOf(field: string, word: string, words: Words): number {
  const number = new Map(Object.entries(words)).get(word.toUpperCase())
  if (number === undefined) throw invalid(`${field} cannot be "${word}"; it is one of ${Object.keys(words).join(', ')}`)
  return number
}

const invalid = (message: string) => kafkaRefusal(ErrorCode.INVALID_REQUEST, message)

const viewOf = (acl: AclEntry): AclView => ({
  resourceType: wordOf(acl.resourceType, resources),
  resourceName: acl.resourceName,
  patternType: wordOf(acl.patternType, patterns),
  principal: acl.principal,
  host: acl.host,
  operation: wordOf(acl.operation, operations),
  permission: wordOf(acl.permissionType, permissions),
})

const wordOf = (number: number, words: Words): string =>
  Object.entries(words).find(([, known]) => known === number)?.[0] ?? 'UNKNOWN'
