/** Calls of other nodes of this cluster, which are no part of the API: only who signs with the cluster's key is answered. */
import { Type } from 'typebox'
import type { RestApp, RestContext } from '../context.ts'
import { restError } from '../errors.ts'
import { vouchingNode } from '../forwarding.ts'
import { peerCallPath } from '../ports.ts'

export function peerCallRoutes(app: RestApp, { peerCalls, forwarding }: RestContext): void {
  if (!peerCalls || !forwarding) return
  app.post(
    peerCallPath(':call'),
    { schema: { hide: true, params: Type.Object({ call: Type.String() }) } },
    async request => {
      const nodeId = vouchingNode(request, forwarding)
      if (nodeId === undefined) throw restError('LOGIN_REFUSED', { reason: 'only nodes of this cluster may ask this' })
      return await peerCalls.answer(request.params.call, request.body, nodeId)
    },
  )
}
