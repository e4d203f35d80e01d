/**
 * EndTxn (26), versions 0–5; the dispatch table calls it.
 *
 * 2: PRODUCER_FENCED instead of INVALID_PRODUCER_EPOCH. 3: flexible. 4: TRANSACTION_ABORTABLE. 5: transaction version 2
 * (KIP-890): every end bumps the epoch, and the answer has the producer id and epoch of the next transaction.
 *
 * Needs WRITE on the transactional id. Answered when the end is durable; the markers are written behind the answer.
 */
import { EndTxnApi } from '../../protocol/messages/26-end-txn.ts'
import { requireAllowed } from '../authorization.ts'
import { handlerOf } from '../handler.ts'
import { knownFencing } from '../producer-fencing.ts'

const FENCED_VERSION = 2
const BUMPING_VERSION = 5

export const endTxn = handlerOf(EndTxnApi, {
  versions: { min: 0, max: 5 },
  async handle(broker, request, origin) {
    const { transactionalId, committed } = request
    requireAllowed(broker, origin, { operation: 'WRITE', resource: 'TRANSACTIONAL_ID', name: transactionalId })
    const clientVersion = origin.version >= BUMPING_VERSION ? 2 : 0
    const answer = await broker.transactions.endTransaction(request, { committed, clientVersion })
    const errorCode = knownFencing(answer.errorCode, origin.version >= FENCED_VERSION)
    return { throttleTimeMs: 0, ...answer, errorCode }
  },
  failed: (_request, errorCode) => ({ throttleTimeMs: 0, errorCode }),
})
