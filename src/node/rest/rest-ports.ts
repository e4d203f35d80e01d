/** Everything of this node that REST answers about beside links, behind REST's ports. Called by the composition root. */

import type { ReplicaSet } from '../../replica/replica-set.ts'
import type { RestContext } from '../../rest/context.ts'
import type { Coordinators } from '../coordinators.ts'
import { type LocalClusterOptions, localClusterAdmin } from '../rest-cluster-admin.ts'
import { localAclAdmin } from './acl-admin.ts'
import { localGroupAdmin } from './group-admin.ts'
import { type LocalNodeOptions, localNode } from './local-node.ts'

export interface RestPortsOptions extends LocalClusterOptions, Pick<LocalNodeOptions, 'engine' | 'version'> {
  readonly groups: Coordinators['groups']
  readonly replicas: ReplicaSet
  readonly hasAuthorizer: boolean
  /** Where others reach REST, if the properties say so. */
  readonly advertisedUrl: string | undefined
}

export type RestPorts = Pick<RestContext, 'cluster' | 'groups' | 'acls' | 'nodes' | 'health' | 'version'> & {
  /** To be called with the address once REST listens. */
  listensAt(url: string): void
}

export function restPorts(options: RestPortsOptions): RestPorts {
  const { engine, brokerId: nodeId, version } = options
  const health = { notReadyReasons: () => (engine.ready ? [] : ['the link state is being replayed']) }
  let url = ''
  const restUrl = () => options.advertisedUrl ?? url
  return {
    version,
    health,
    cluster: localClusterAdmin(options),
    groups: localGroupAdmin(options),
    acls: localAclAdmin(options),
    nodes: { nodes: () => [localNode({ ...options, nodeId, health, restUrl })] },
    listensAt(bound) {
      url = bound
    },
  }
}
