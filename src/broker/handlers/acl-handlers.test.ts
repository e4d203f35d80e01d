/** Tests of CreateAcls, DescribeAcls and DeleteAcls on a whole broker. */
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { AclPattern, AclPatternFilter, AclPermission, ANY } from '../../metadata/acl.ts'
import { AclOperation, AclResource, CLUSTER_NAME } from '../../metadata/authorizer.ts'
import { StandardAuthorizer } from '../../metadata/standard-authorizer.ts'
import { errorName } from '../../protocol/errors.ts'
import { DescribeAclsApi } from '../../protocol/messages/29-describe-acls.ts'
import { CreateAclsApi } from '../../protocol/messages/30-create-acls.ts'
import { DeleteAclsApi } from '../../protocol/messages/31-delete-acls.ts'
import { clientOf, TestNode, type TestNodeOptions } from '../fakes/test-node.ts'

const authorizer = new StandardAuthorizer({ superUsers: new Set(['User:admin']), allowIfNoAcl: false })
const admin = clientOf('admin')

async function started(options: TestNodeOptions = { authorizer }) {
  const node = await TestNode.start(options)
  return { node, [Symbol.asyncDispose]: () => node.close() }
}

const creation = {
  resourceType: AclResource.TOPIC,
  resourceName: 'orders',
  resourcePatternType: AclPattern.LITERAL as number,
  principal: 'User:alice',
  host: '*',
  operation: AclOperation.READ,
  permissionType: AclPermission.ALLOW,
}

const filter = {
  resourceTypeFilter: ANY,
  resourceNameFilter: null,
  patternTypeFilter: AclPatternFilter.ANY as number,
  principalFilter: null,
  hostFilter: null,
  operation: ANY,
  permissionType: ANY,
}

test('what is created is described by resource and deleted by filter, in every version', async () => {
  await using scene = await started()
  const { node } = scene
  for (const version of [1, 2, 3]) {
    const options = { version, client: admin }
    const creations = [creation, { ...creation, principal: 'User:bob' }, { ...creation, resourcePatternType: 4 }]
    const created = await node.call(CreateAclsApi, { creations }, options)
    deepStrictEqual(
      created?.results.map(({ errorCode }) => errorCode),
      [0, 0, 0],
    )
    const described = await node.call(DescribeAclsApi, filter, options)
    deepStrictEqual(
      described?.resources
        .map(({ resourceName, patternType, acls }) => [resourceName, patternType, acls.length])
        .sort(),
      [
        ['orders', 3, 2],
        ['orders', 4, 1],
      ],
    )
    const filters = [{ ...filter, patternTypeFilter: AclPattern.LITERAL }, filter]
    const deleted = await node.call(DeleteAclsApi, { filters }, options)
    deepStrictEqual(
      deleted?.filterResults.map(({ matchingAcls }) => matchingAcls.length),
      [2, 3],
    )
    strictEqual(node.controller.image.acls.size, 0)
  }
})

test('without an authorizer there are no ACLs to speak of', async () => {
  await using scene = await started({})
  const { node } = scene
  const created = await node.call(CreateAclsApi, { creations: [creation, creation] })
  const described = await node.call(DescribeAclsApi, filter)
  const deleted = await node.call(DeleteAclsApi, { filters: [filter] })
  const codes = [
    ...(created?.results ?? []).map(({ errorCode }) => errorCode),
    described?.errorCode,
    ...(deleted?.filterResults ?? []).map(({ errorCode }) => errorCode),
  ]
  deepStrictEqual(
    codes.map(code => errorName(code ?? 0)),
    new Array(4).fill('SECURITY_DISABLED'),
  )
})

test('describing needs DESCRIBE and changing needs ALTER on the cluster', async () => {
  await using scene = await started()
  const { node } = scene
  const client = clientOf('alice')
  const outcomes = async () => {
    const described = await node.call(DescribeAclsApi, filter, { client })
    const created = await node.call(CreateAclsApi, { creations: [creation] }, { client })
    const deleted = await node.call(DeleteAclsApi, { filters: [{ ...filter, hostFilter: '::2' }] }, { client })
    return [described?.errorCode, created?.results[0]?.errorCode, deleted?.filterResults[0]?.errorCode].map(code =>
      errorName(code ?? -99),
    )
  }
  const refused = 'CLUSTER_AUTHORIZATION_FAILED'
  deepStrictEqual(await outcomes(), [refused, refused, refused])
  const onCluster = { ...creation, resourceType: AclResource.CLUSTER, resourceName: CLUSTER_NAME }
  const grant = (operation: number) =>
    node.call(CreateAclsApi, { creations: [{ ...onCluster, operation }] }, { client: admin })
  await grant(AclOperation.DESCRIBE)
  deepStrictEqual(await outcomes(), ['NONE', refused, refused])
  await grant(AclOperation.ALTER)
  deepStrictEqual(await outcomes(), ['NONE', 'NONE', 'NONE'])
})

test('a cluster of another name is refused, and number 0 closes the connection', async () => {
  await using scene = await started()
  const { node } = scene
  const creations = [{ ...creation, resourceType: AclResource.CLUSTER }, creation]
  const created = await node.call(CreateAclsApi, { creations }, { client: admin })
  deepStrictEqual(
    created?.results.map(({ errorCode }) => errorName(errorCode)),
    ['INVALID_REQUEST', 'NONE'],
  )
  const unknown = { ...creation, operation: 0 }
  await rejects(node.call(CreateAclsApi, { creations: [unknown] }, { client: admin }), /CreateAcls with an unknown/)
  await rejects(node.call(DescribeAclsApi, { ...filter, permissionType: 0 }, { client: admin }), /unknown/)
})
