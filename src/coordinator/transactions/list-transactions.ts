/** Which transactions ListTransactions shows, by its filters (KIP-664, KIP-994, KIP-1152); pure, the coordinator calls it. */
import { RE2JS } from 're2js'
import { ErrorCode } from '../../protocol/errors.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'
import type { TransactionMetadata } from './transaction-metadata.ts'
import { transactionStateNamed } from './transaction-state.ts'

export interface TransactionFilters {
  /** Names of states; empty = all. Unknown ones match nothing. */
  readonly states: readonly string[]
  /** Empty = all. */
  readonly producerIds: readonly bigint[]
  /** Only transactions that began longer ago than this; negative = all. */
  readonly longerThanMs: bigint
  /** A regular expression that the whole transactional id must match; null or empty = all. */
  readonly idPattern: string | null
}

/** Names among the filters that are no states. */
export const unknownStates = (names: readonly string[]): string[] =>
  names.filter(name => transactionStateNamed(name) === undefined)

/**
 * The test for one transaction. Throws CoordinatorError INVALID_REGULAR_EXPRESSION; expressions are matched in linear time, so
 * that those with back references and look-around, which Kafka accepts, are refused.
 */
export function transactionFilter(
  filters: TransactionFilters,
  nowMs: number,
): (metadata: TransactionMetadata) => boolean {
  const states = new Set(filters.states)
  const producerIds = new Set(filters.producerIds)
  const pattern = filters.idPattern ? compile(filters.idPattern) : undefined
  return ({ state, producerId, startMs, transactionalId }) => {
    if (state === 'Dead') return false
    if (producerIds.size > 0 && !producerIds.has(producerId)) return false
    if (states.size > 0 && !states.has(state)) return false
    if (filters.longerThanMs >= 0n && BigInt(nowMs - startMs) <= filters.longerThanMs) return false
    return pattern?.matches(transactionalId) ?? true
  }
}

function compile(text: string): RE2JS {
  try {
    return RE2JS.compile(text)
  } catch {
    throw new CoordinatorError(
      ErrorCode.INVALID_REGULAR_EXPRESSION,
      `The transactional id pattern '${text}' is not a regular expression that can be used.`,
    )
  }
}
