/** What a decision of the transaction coordinator may come to; the pure decisions beside it answer one, the coordinator carries it out. */
import type { TransactionMetadata } from './transaction-metadata.ts'

export type Decision =
  /** Nothing changes; answer this code. */
  | { readonly kind: 'refuse'; readonly errorCode: number }
  /** Nothing changes, it is done already: a repeated request. */
  | { readonly kind: 'done' }
  /** Decide again with a producer id that was never handed out. */
  | { readonly kind: 'needs-producer-id' }
  /** These values follow; answer when they are durable. */
  | { readonly kind: 'change'; readonly to: TransactionMetadata }
  /** Abort the open transaction with a higher epoch first; the client comes again. */
  | { readonly kind: 'fence' }

export const refuse = (errorCode: number): Decision => ({ kind: 'refuse', errorCode })
export const change = (to: TransactionMetadata): Decision => ({ kind: 'change', to })
