// Waits until brokers have heard of ACLs: each judges by what it knows, and whoever grants is answered before; used by the secured cluster.
import { strictEqual } from 'node:assert/strict'
import { ANY } from '../../src/metadata/acl.ts'
import {
  AclOperation,
  type AclOperationName,
  AclResource,
  type AclResourceName,
} from '../../src/metadata/authorizer.ts'
import { DescribeAclsApi } from '../../src/protocol/messages/29-describe-acls.ts'
import type { ClientSecurity } from '../clients/client-record.ts'
import { askBroker } from '../clients/direct.ts'
import { eventually } from '../eventually.ts'

/** `[resource type, name, pattern type, principal, host, operation, permission]` */
export type Acl = readonly [string, string, string, string, string, string, string]

/** `addresses`: `host:port` of each; `login` of somebody who may see all ACLs. */
export async function areInForce(acls: readonly Acl[], addresses: readonly string[], login: ClientSecurity) {
  const anyOf = { patternTypeFilter: ANY, hostFilter: null, permissionType: ANY }
  const isKnownAt = (address: string) =>
    askBroker(
      address,
      async connection => {
        for (const [type, resourceNameFilter, , principalFilter, , operation] of acls) {
          const filter = { ...anyOf, resourceTypeFilter: AclResource[type as AclResourceName], resourceNameFilter }
          const request = { ...filter, principalFilter, operation: AclOperation[operation as AclOperationName] }
          const { response } = await connection.send(DescribeAclsApi, request)
          strictEqual(response.resources.length, 1, `${address}: ${principalFilter} ${operation} ${resourceNameFilter}`)
        }
      },
      login,
    )
  for (const address of addresses) await eventually(() => isKnownAt(address))
}
