// CreateAcls, DescribeAcls and DeleteAcls: who may, what is refused and what filters match; asked by users of the scene in this order.
import { AclPattern, AclPatternFilter, AclPermission, ANY } from '../../../src/metadata/acl.ts'
import { AclOperation, AclResource, CLUSTER_NAME } from '../../../src/metadata/authorizer.ts'
import { errorName } from '../../../src/protocol/errors.ts'
import { DescribeAclsApi, type DescribeAclsResponse } from '../../../src/protocol/messages/29-describe-acls.ts'
import { CreateAclsApi, type CreateAclsRequestInput } from '../../../src/protocol/messages/30-create-acls.ts'
import {
  DeleteAclsApi,
  type DeleteAclsRequestInput,
  type DeleteAclsResponse,
} from '../../../src/protocol/messages/31-delete-acls.ts'
import { type AccessCase, accessCase } from './access-case.ts'
import type { User } from './scene.ts'

type Creation = CreateAclsRequestInput['creations'][number]
type Filter = DeleteAclsRequestInput['filters'][number]

const creation = (changes: Partial<Creation> = {}): Creation => ({
  resourceType: AclResource.TOPIC,
  resourceName: 'orders',
  resourcePatternType: AclPattern.LITERAL,
  principal: 'User:zoe',
  host: '*',
  operation: AclOperation.READ,
  permissionType: AclPermission.ALLOW,
  ...changes,
})

/** Of zoe only, about whom nothing else is said. */
const filter = (changes: Partial<Filter> = {}): Filter => ({
  resourceTypeFilter: ANY,
  resourceNameFilter: null,
  patternTypeFilter: AclPatternFilter.ANY,
  principalFilter: 'User:zoe',
  hostFilter: null,
  operation: ANY,
  permissionType: ANY,
  ...changes,
})

/** What is valid, and is there afterwards; `acl-cases` are asked once all of it is in force. */
export const zoesAcls: readonly Creation[] = [
  creation(),
  creation({ resourcePatternType: AclPattern.PREFIXED, resourceName: 'ord' }),
  creation({ resourcePatternType: AclPattern.PREFIXED, resourceName: 'orders' }),
  creation({ resourceName: '*', operation: AclOperation.DESCRIBE }),
  creation({ host: '127.0.0.1', permissionType: AclPermission.DENY }),
  creation({ resourceType: AclResource.GROUP, resourceName: 'readers' }),
  creation({ resourceType: AclResource.CLUSTER, resourceName: CLUSTER_NAME, operation: AclOperation.DESCRIBE }),
  creation({ resourceType: AclResource.USER, resourceName: 'User:x', operation: AclOperation.CREATE_TOKENS }),
]

const KAFKA_FAILS = 'Kafka runs into an unexpected error; Lockstep says INVALID_REQUEST'

const invalid: readonly (readonly [what: string, Creation, differs?: string])[] = [
  ['of any type', creation({ resourceType: ANY }), KAFKA_FAILS],
  ['of a type that does not exist', creation({ resourceType: 99 })],
  ['with a pattern for filters', creation({ resourcePatternType: AclPatternFilter.MATCH }), KAFKA_FAILS],
  ['with a pattern that does not exist', creation({ resourcePatternType: 99 })],
  ['of any operation', creation({ operation: ANY }), KAFKA_FAILS],
  ['of an operation that does not exist', creation({ operation: 99 })],
  ['of two-phase commits', creation({ operation: AclOperation.TWO_PHASE_COMMIT, principal: 'User:yves' })],
  ['of any permission', creation({ permissionType: ANY }), KAFKA_FAILS],
  ['without a name', creation({ resourceName: '' })],
  ['of another cluster', creation({ resourceType: AclResource.CLUSTER })],
  ['of a principal without type', creation({ principal: 'zoe' })],
  ['of an empty principal', creation({ principal: '' })],
  ['of a principal without name', creation({ principal: 'User:' })],
  ['of a principal of another type', creation({ principal: 'Group:zoe', host: 'h' })],
  ['of no host', creation({ principal: 'User:yves', host: '' })],
  ['of an unknown type', creation({ resourceType: 0 })],
  ['of an unknown pattern', creation({ resourcePatternType: 0 })],
  ['of an unknown operation', creation({ operation: 0 })],
  ['of an unknown permission', creation({ permissionType: 0 })],
]

const described = ({ errorCode, resources }: DescribeAclsResponse) => ({
  errorCode,
  acls: resources
    .flatMap(({ acls, ...resource }) => acls.map(acl => Object.values({ ...resource, ...acl }).join(' ')))
    .sort(),
})

const deleted = ({ filterResults }: DeleteAclsResponse) =>
  filterResults.map(({ errorCode, matchingAcls }) => ({
    errorCode,
    acls: matchingAcls.map(({ errorMessage: _, ...acl }) => Object.values(acl).join(' ')).sort(),
  }))

const filters: readonly (readonly [what: string, Filter])[] = [
  ['of zoe', filter()],
  ['literal', filter({ patternTypeFilter: AclPattern.LITERAL })],
  ['literal by name', filter({ patternTypeFilter: AclPattern.LITERAL, resourceNameFilter: 'orders' })],
  ['prefixed by name', filter({ patternTypeFilter: AclPattern.PREFIXED, resourceNameFilter: 'orders' })],
  ['that match a name', filter({ patternTypeFilter: AclPatternFilter.MATCH, resourceNameFilter: 'orders' })],
  [
    'that match a name of topics',
    filter({ resourceTypeFilter: AclResource.TOPIC, patternTypeFilter: 2, resourceNameFilter: 'orderly' }),
  ],
  ['by name of any pattern', filter({ resourceNameFilter: 'orders' })],
  ['by host', filter({ hostFilter: '127.0.0.1' })],
  ['by operation', filter({ operation: AclOperation.DESCRIBE })],
  ['by permission', filter({ permissionType: AclPermission.DENY })],
  ['by type', filter({ resourceTypeFilter: AclResource.USER })],
  ['of a type that does not exist', filter({ resourceTypeFilter: 99 })],
  ['of a pattern that does not exist', filter({ patternTypeFilter: 99 })],
  ['of an operation that does not exist', filter({ operation: 99 })],
  ['of an unknown operation', filter({ operation: 0 })],
  ['of an unknown type', filter({ resourceTypeFilter: 0 })],
]

const ASKERS: readonly User[] = ['bob', 'carol', 'dave']
const admin: readonly User[] = ['admin']

export const aclCases: readonly AccessCase[] = [
  ...invalid.map(([what, one, differs]) =>
    accessCase(what, CreateAclsApi, {
      users: admin,
      differs,
      request: { creations: [one] },
      show: ({ results }) => results.map(({ errorCode }) => errorName(errorCode)),
    }),
  ),
  accessCase('again', CreateAclsApi, {
    version: 2,
    users: ASKERS,
    request: { creations: [creation(), creation(), creation({ resourceName: '' })] },
    show: ({ results }) => results.map(({ errorCode }) => errorName(errorCode)),
  }),
  ...filters.map(([what, one]) =>
    accessCase(what, DescribeAclsApi, { users: ['carol', 'admin'], request: one, show: described }),
  ),
  accessCase('in version 1', DescribeAclsApi, { version: 1, request: filter(), show: described }),
  accessCase('by many filters', DeleteAclsApi, {
    users: ASKERS,
    request: { filters: filters.filter(([what]) => !what.includes('unknown')).map(([, one]) => one) },
    show: deleted,
  }),
  accessCase('by an unknown permission', DeleteAclsApi, {
    users: admin,
    request: { filters: [filter({ permissionType: 0 })] },
    show: deleted,
  }),
  accessCase('again', DeleteAclsApi, { users: admin, request: { filters: [filter()] }, show: deleted }),
]
