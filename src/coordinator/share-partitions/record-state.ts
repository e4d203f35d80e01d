/** The states of a record in a share group (KIP-932) and what changes them; in-flight.ts keeps them, SharePartition decides. */

/** Kafka's number of a state is what `__share_group_state` holds. */
export const recordStates = {
  available: { id: 0, isDone: false, on: { acquire: 'acquired', archive: 'archived' } },
  acquired: {
    id: 1,
    isDone: false,
    on: {
      accept: 'acknowledged',
      release: 'available',
      reject: 'archived',
      gap: 'archived',
      renew: 'acquired',
      expire: 'available',
      archive: 'archived',
    },
  },
  acknowledged: { id: 2, isDone: true, on: {} },
  archived: { id: 4, isDone: true, on: {} },
} as const satisfies Record<string, RecordStateRow>

interface RecordStateRow {
  readonly id: number
  /** The group has no use for the record any more. */
  readonly isDone: boolean
  readonly on: Readonly<Partial<Record<RecordEvent, string>>>
}

/**
 * `acquire`: a member gets it. `accept`, `release`, `reject`, `gap` (there is no such record), `renew`: what its member says of it.
 * `expire`: its member kept it for too long, or is gone. `archive`: nobody is to get it.
 */
export type RecordEvent = 'acquire' | 'accept' | 'release' | 'reject' | 'gap' | 'renew' | 'expire' | 'archive'

export type RecordState = keyof typeof recordStates

/** The state after the event; undefined where it is not legal. A record that was delivered as often as it may is not available again. */
export function nextState(
  state: RecordState,
  event: RecordEvent,
  delivered: { readonly count: number; readonly countMax: number },
): RecordState | undefined {
  const next = (recordStates[state].on as Partial<Record<RecordEvent, RecordState>>)[event]
  return next === 'available' && delivered.count >= delivered.countMax ? 'archived' : next
}

/** undefined for a number that is not known. */
export const recordStateOf = (id: number): RecordState | undefined =>
  (Object.keys(recordStates) as RecordState[]).find(state => recordStates[state].id === id)

/** Types of acknowledgement on the wire; renewal came with version 2 of the requests (KIP-1222). */
const acknowledgeTypes: readonly RecordEvent[] = ['gap', 'accept', 'release', 'reject', 'renew']

/** undefined for a number that is not known. */
export const eventOfAcknowledgement = (type: number): RecordEvent | undefined => acknowledgeTypes[type]
