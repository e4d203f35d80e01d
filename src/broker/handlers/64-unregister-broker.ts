/**
 * UnregisterBroker (64), version 0 (KIP-500); the dispatch table calls it.
 *
 * Forgets a broker that is gone. Brokers that the cluster does not know are BROKER_ID_NOT_REGISTERED; this node itself is
 * INVALID_REQUEST, where Kafka would take it out of service.
 */
import { UnregisterBrokerApi } from '../../protocol/messages/64-unregister-broker.ts'
import { requireAllowedOnCluster } from '../authorization.ts'
import { handlerOf } from '../handler.ts'

export const unregisterBroker = handlerOf(UnregisterBrokerApi, {
  versions: { min: 0, max: 0 },
  async handle(broker, { brokerId }, origin) {
    requireAllowedOnCluster(broker, origin, 'ALTER')
    return { throttleTimeMs: 0, ...(await broker.controller.cluster.unregisterBroker(brokerId)) }
  },
  failed: (_request, errorCode) => ({ throttleTimeMs: 0, errorCode, errorMessage: null }),
})
