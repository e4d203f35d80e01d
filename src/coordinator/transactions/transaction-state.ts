/** The states of a transaction as a table: their number in the log, their name, what may come before; transaction-entry.ts holds every change to it. */

export type TransactionStateName =
  | 'Empty'
  | 'Ongoing'
  | 'PrepareCommit'
  | 'PrepareAbort'
  | 'CompleteCommit'
  | 'CompleteAbort'
  | 'Dead'
  | 'PrepareEpochFence'

interface StateRow {
  /** As stored in `__transaction_state`. */
  readonly id: number
  /** States from which this one may be entered. */
  readonly from: readonly TransactionStateName[]
  /** May the transactional id be forgotten in this state, once it has been idle for long enough? */
  readonly expires: boolean
}

/**
 * Kafka's TransactionState. PrepareAbort comes behind Empty and the complete states since KIP-890: an abort without any
 * partition bumps the epoch too. PrepareEpochFence is never stored: it names the intent to abort with a higher epoch. Dead is
 * the state of an id whose tombstone is being written.
 */
export const transactionStates: Readonly<Record<TransactionStateName, StateRow>> = {
  Empty: { id: 0, from: ['Empty', 'CompleteCommit', 'CompleteAbort'], expires: true },
  Ongoing: { id: 1, from: ['Ongoing', 'Empty', 'CompleteCommit', 'CompleteAbort'], expires: false },
  PrepareCommit: { id: 2, from: ['Ongoing'], expires: false },
  PrepareAbort: {
    id: 3,
    from: ['Ongoing', 'PrepareEpochFence', 'Empty', 'CompleteCommit', 'CompleteAbort'],
    expires: false,
  },
  CompleteCommit: { id: 4, from: ['PrepareCommit'], expires: true },
  CompleteAbort: { id: 5, from: ['PrepareAbort'], expires: true },
  Dead: { id: 6, from: ['Empty', 'CompleteAbort', 'CompleteCommit'], expires: false },
  PrepareEpochFence: { id: 7, from: ['Ongoing'], expires: false },
}

const names = Object.keys(transactionStates) as TransactionStateName[]

/** The state with that number; undefined for one that this version does not know. */
export const transactionStateOf = (id: number): TransactionStateName | undefined =>
  names.find(name => transactionStates[name].id === id)

/** The state with that name as clients write it (`CompleteCommit`); undefined for no state. */
export const transactionStateNamed = (text: string): TransactionStateName | undefined =>
  names.find(name => name === text)

/** Its end is decided and durable, its markers are being written. */
export const isEnding = (state: TransactionStateName): state is 'PrepareCommit' | 'PrepareAbort' =>
  state === 'PrepareCommit' || state === 'PrepareAbort'
