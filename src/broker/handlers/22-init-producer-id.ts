/**
 * InitProducerId (22), versions 0–5 (6 is unstable in Kafka 4.3 and not offered); the dispatch table calls it.
 *
 * 0, 1: the same. 2: flexible. 3: the producer names the id and epoch it has (KIP-360). 4: PRODUCER_FENCED instead of
 * INVALID_PRODUCER_EPOCH. 5: TRANSACTION_ABORTABLE (KIP-890).
 *
 * Needs WRITE on the transactional id; without one IDEMPOTENT_WRITE on the cluster, or WRITE on any topic.
 *
 * Without a transactional id: a fresh producer id with epoch 0, never one that a mirrored log has seen. With one: the next
 * epoch of its producer, which fences the one before; a transaction that is open is aborted first (CONCURRENT_TRANSACTIONS, and
 * the client comes again).
 */
import { ErrorCode } from '../../protocol/errors.ts'
import { InitProducerIdApi } from '../../protocol/messages/22-init-producer-id.ts'
import { handlerOf } from '../handler.ts'
import { requireProducerAccess } from '../producer-access.ts'
import { knownFencing } from '../producer-fencing.ts'

const FENCED_VERSION = 4

export const initProducerId = handlerOf(InitProducerIdApi, {
  versions: { min: 0, max: 5 },
  async handle(broker, request, origin) {
    const { transactionalId, producerId, producerEpoch, transactionTimeoutMs } = request
    requireProducerAccess(broker, origin, transactionalId)
    if ((producerId === -1n) !== (producerEpoch === -1)) return refused(ErrorCode.INVALID_REQUEST)
    if (transactionalId === null) {
      const fresh = await broker.producerIds.next()
      return { throttleTimeMs: 0, errorCode: ErrorCode.NONE, producerId: fresh, producerEpoch: 0 }
    }
    const answer = await broker.transactions.initProducer(transactionalId, {
      timeoutMs: transactionTimeoutMs,
      expected: producerId === -1n ? null : { producerId, producerEpoch },
    })
    const errorCode = knownFencing(answer.errorCode, origin.version >= FENCED_VERSION)
    return { throttleTimeMs: 0, ...answer, errorCode }
  },
  failed: (_request, errorCode) => refused(errorCode),
})

const refused = (errorCode: number) => ({ throttleTimeMs: 0, errorCode, producerId: -1n, producerEpoch: -1 })
