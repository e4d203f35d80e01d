/** What the transaction coordinator has to show of itself; /metrics asks it. */
import type { TransactionMetadata } from './transaction-metadata.ts'
import type { TransactionStateName } from './transaction-state.ts'

export interface TransactionFigures {
  /** Transactional ids by state. */
  readonly byState: Readonly<Partial<Record<TransactionStateName, number>>>
  /** Transactions whose markers are being written. */
  readonly completing: number
  /** 0 if none is open. */
  readonly oldestOpenMs: number
}

/** States that are never stored are left out. */
const SHOWN: readonly TransactionStateName[] = [
  'Empty',
  'Ongoing',
  'PrepareCommit',
  'PrepareAbort',
  'CompleteCommit',
  'CompleteAbort',
]

export function figuresOf(
  transactions: Iterable<TransactionMetadata>,
  now: { readonly nowMs: number; readonly completing: number },
): TransactionFigures {
  const byState = new Map<TransactionStateName, number>(SHOWN.map(state => [state, 0]))
  let oldestOpenMs = 0
  for (const { state, startMs } of transactions) {
    byState.set(state, (byState.get(state) ?? 0) + 1)
    if (state === 'Ongoing') oldestOpenMs = Math.max(oldestOpenMs, now.nowMs - startMs)
  }
  return { byState: Object.fromEntries(byState), completing: now.completing, oldestOpenMs }
}
