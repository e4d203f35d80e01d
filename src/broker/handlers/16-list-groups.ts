/**
 * ListGroups (16), versions 0–5; the dispatch table calls it.
 *
 * 3: flexible. 4: states, as filter and in the answer. 5: types likewise (KIP-848).
 *
 * The groups that this node coordinates: all for who may describe the cluster, otherwise those that the client may describe.
 * COORDINATOR_LOAD_IN_PROGRESS until all of them are known.
 */
import { ListGroupsApi } from '../../protocol/messages/16-list-groups.ts'
import { allowedNames, allowedOnCluster } from '../authorization.ts'
import { handlerOf } from '../handler.ts'

export const listGroups = handlerOf(ListGroupsApi, {
  versions: { min: 0, max: 5 },
  handle(broker, { statesFilter, typesFilter }, origin) {
    const { errorCode, groups } = broker.groups.listGroups({ states: statesFilter, types: typesFilter })
    if (allowedOnCluster(broker, origin, 'DESCRIBE')) return { throttleTimeMs: 0, errorCode, groups }
    const names = groups.map(({ groupId }) => groupId)
    const describable = allowedNames(broker, origin, { operation: 'DESCRIBE', resource: 'GROUP', names })
    return { throttleTimeMs: 0, errorCode, groups: groups.filter(({ groupId }) => describable.has(groupId)) }
  },
  failed: (_request, errorCode) => ({ throttleTimeMs: 0, errorCode, groups: [] }),
})
