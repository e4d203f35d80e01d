/**
 * InitProducerId (22), versions 0–5 (6 is unstable in Kafka 4.3 and not offered); the dispatch table calls it.
 *
 * 0, 1: the same. 2: flexible. 3: the producer names the id and epoch it has (KIP-360). 4: PRODUCER_FENCED.
 * 5: TRANSACTION_ABORTABLE (KIP-890).
 *
 * Needs WRITE on the transactional id; without one IDEMPOTENT_WRITE on the cluster, or WRITE on any topic.
 *
 * Without a transactional id: a fresh producer id with epoch 0, never one that a mirrored log has seen. With one: there is no
 * transaction coordinator yet, COORDINATOR_NOT_AVAILABLE (an empty one is INVALID_REQUEST).
 */
import { ErrorCode } from '../../protocol/errors.ts'
import { InitProducerIdApi } from '../../protocol/messages/22-init-producer-id.ts'
import { handlerOf } from '../handler.ts'
import { requireProducerAccess } from '../producer-access.ts'

export const initProducerId = handlerOf(InitProducerIdApi, {
  versions: { min: 0, max: 5 },
  async handle(broker, request, origin) {
    const { transactionalId, producerId, producerEpoch } = request
    requireProducerAccess(broker, origin, transactionalId)
    if ((producerId === -1n) !== (producerEpoch === -1)) return refused(ErrorCode.INVALID_REQUEST)
    if (transactionalId === '') return refused(ErrorCode.INVALID_REQUEST)
    if (transactionalId !== null) return refused(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return {
      throttleTimeMs: 0,
      errorCode: ErrorCode.NONE,
      producerId: await broker.producerIds.next(),
      producerEpoch: 0,
    }
  },
  failed: (_request, errorCode) => refused(errorCode),
})

const refused = (errorCode: number) => ({ throttleTimeMs: 0, errorCode, producerId: -1n, producerEpoch: -1 })
