/** The access port of REST over the same authorizer that Kafka clients are judged by. Made by the node. */
import { aclHost } from '../../metadata/acl-host.ts'
import { type AclAction, type Authorizer, allowAll } from '../../metadata/authorizer.ts'
import type { Controller } from '../../metadata/controller-port.ts'
import { type AccessCheck, type Need, openAccess } from '../../rest/ports.ts'

export function restAccess(controller: Pick<Controller, 'image'>, authorizer: Authorizer): AccessCheck {
  if (authorizer === allowAll) return openAccess
  return {
    firstDenied({ principal, host }, needs) {
      const requester = { principal: `${principal.type}:${principal.name}`, host: aclHost(host) }
      return needs.find(need => !authorizer.allows(controller.image, requester, actionOf(need)))
    },
  }
}

const actionOf = ({ operation, resource, name }: Need): AclAction => ({
  operation: operation.toUpperCase() as Uppercase<Need['operation']>,
  resource: resource.toUpperCase() as Uppercase<Need['resource']>,
  name,
})
