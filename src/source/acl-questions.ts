/** The ACLs of a source cluster; the source cluster exposes the question. */
import type { ClusterAcls } from '../link/ports.ts'
import { ErrorCode } from '../protocol/errors.ts'
import { DescribeAclsApi } from '../protocol/messages/29-describe-acls.ts'
import type { BrokerPool } from './broker-pool.ts'
import { sourceErrorForCode } from './source-error-of.ts'

const ANY = 1

/** All of them. Needs DESCRIBE on the cluster there. */
export function describeAcls(pool: BrokerPool, signal?: AbortSignal): Promise<ClusterAcls> {
  const names = { resourceNameFilter: null, principalFilter: null, hostFilter: null }
  const everything = { resourceTypeFilter: ANY, patternTypeFilter: ANY, operation: ANY, permissionType: ANY, ...names }
  return pool.askAny(async (connection): Promise<ClusterAcls> => {
    const { response } = await connection.send(DescribeAclsApi, everything, { signal })
    if (response.errorCode === ErrorCode.SECURITY_DISABLED) return { kind: 'security-disabled' }
    if (response.errorCode !== ErrorCode.NONE) throw sourceErrorForCode(response.errorCode, 'describing the ACLs')
    const acls = response.resources.flatMap(({ acls: entries, ...resource }) =>
      entries.map(entry => ({ ...resource, ...entry })),
    )
    return { kind: 'acls', acls }
  }, signal)
}
