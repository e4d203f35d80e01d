/**
 * ListTransactions (66), versions 0–2 (KIP-664); the dispatch table calls it.
 *
 * 1: only those that run for longer than a time (KIP-994). 2: only ids that match a regular expression (KIP-1152), which is
 * matched in linear time here.
 *
 * Shows the ids that the client may DESCRIBE.
 */
import { CoordinatorError } from '../../coordinator/runtime/coordinator-error.ts'
import { unknownStates } from '../../coordinator/transactions/list-transactions.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { ListTransactionsApi } from '../../protocol/messages/66-list-transactions.ts'
import { allowedNames } from '../authorization.ts'
import { handlerOf, RequestFailure } from '../handler.ts'

export const listTransactions = handlerOf(ListTransactionsApi, {
  versions: { min: 0, max: 2 },
  handle(broker, request, origin) {
    try {
      const found = broker.transactions.list({
        states: request.stateFilters,
        producerIds: request.producerIdFilters,
        longerThanMs: request.durationFilter,
        idPattern: request.transactionalIdPattern,
      })
      const names = found.map(({ transactionalId }) => transactionalId)
      const visible = allowedNames(broker, origin, { operation: 'DESCRIBE', resource: 'TRANSACTIONAL_ID', names })
      return {
        throttleTimeMs: 0,
        errorCode: ErrorCode.NONE,
        unknownStateFilters: unknownStates(request.stateFilters),
        transactionStates: found
          .filter(({ transactionalId }) => visible.has(transactionalId))
          .map(({ transactionalId, producerId, state }) => ({ transactionalId, producerId, transactionState: state })),
      }
    } catch (error) {
      if (error instanceof CoordinatorError) throw new RequestFailure(error.errorCode, error.message)
      throw error
    }
  },
  failed: (_request, errorCode) => ({
    throttleTimeMs: 0,
    errorCode,
    unknownStateFilters: [],
    transactionStates: [],
  }),
})
