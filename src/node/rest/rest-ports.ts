/** Everything of this node that REST answers about beside links, behind REST's ports. Called by the composition root. */

import type { ReplicaSet } from '../../replica/replica-set.ts'
import type { NodeList, NodeView } from '../../rest/cluster-ports.ts'
import type { RestContext } from '../../rest/context.ts'
import type { PlacementAdmin } from '../../rest/placement-ports.ts'
import type { Health } from '../../rest/ports.ts'
import type { Coordinators } from '../coordinators.ts'
import { type LocalClusterOptions, localClusterAdmin } from '../rest-cluster-admin.ts'
import { localAclAdmin } from './acl-admin.ts'
import { localGroupAdmin } from './group-admin.ts'

export interface RestPortsOptions extends LocalClusterOptions {
  readonly version: string
  readonly health: Health
  readonly groups: Coordinators['groups']
  readonly replicas: ReplicaSet
  readonly hasAuthorizer: boolean
  /** Where others reach REST, if the properties say so. */
  readonly advertisedUrl: string | undefined
  readonly placement: PlacementAdmin
  /** The nodes that `GET /nodes` tells of; `restUrl` is where this one answers. */
  readonly nodes: (of: { readonly restUrl: string }) => readonly NodeView[]
  readonly unregister: NodeList['unregister']
}

export type RestPorts = Pick<
  RestContext,
  'cluster' | 'groups' | 'acls' | 'nodes' | 'placement' | 'health' | 'version'
> & {
  /** To be called with the address once REST listens. */
  listensAt(url: string): void
}

export function restPorts(options: RestPortsOptions): RestPorts {
  const { version, health } = options
  let url = ''
  const restUrl = () => options.advertisedUrl ?? url
  return {
    version,
    health,
    placement: options.placement,
    cluster: localClusterAdmin(options),
    groups: localGroupAdmin(options),
    acls: localAclAdmin(options),
    nodes: { nodes: () => options.nodes({ restUrl: restUrl() }), unregister: options.unregister },
    listensAt(bound) {
      url = bound
    },
  }
}
