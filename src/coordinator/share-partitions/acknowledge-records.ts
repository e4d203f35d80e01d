/** What a member says of records that it holds: checked as a whole, then marked as about to change; SharePartition makes it durable. */
import { ErrorCode } from '../../protocol/errors.ts'
import { CoordinatorError } from '../runtime/coordinator-error.ts'
import type { StateBatch } from '../share-state/share-persister.ts'
import type { InFlight, PendingChange, Run } from './in-flight.ts'
import { nextState, type RecordEvent, type RecordState, recordStates } from './record-state.ts'

/** Of the offsets in a row, both inclusive: one event for all, or one for each. */
export interface Acknowledgement {
  readonly firstOffset: number
  readonly lastOffset: number
  readonly events: readonly RecordEvent[]
}

/** Neighbours of which the member says the same. */
interface Span {
  readonly firstOffset: number
  readonly lastOffset: number
  readonly event: RecordEvent
}

export interface AcknowledgeRules {
  readonly memberId: string
  readonly deliveryCountMax: number
  readonly mayRenew: boolean
  /** For records that are renewed. */
  readonly lockedUntilMs: number
}

/**
 * Renews what is to be renewed, and marks the rest; gives what is to be made durable. Throws CoordinatorError before anything is
 * changed: INVALID_RECORD_STATE for records that the member does not hold, INVALID_REQUEST for what was never fetched.
 */
export function beginAcknowledging(
  inFlight: InFlight,
  acknowledgements: readonly Acknowledgement[],
  rules: AcknowledgeRules,
): StateBatch[] {
  const spans = acknowledgements.flatMap(acknowledgement => spansOf(inFlight, acknowledgement))
  for (const span of spans) check(inFlight, span, rules)
  const changes: StateBatch[] = []
  const pending = new Map<RecordState, PendingChange>()
  for (const { firstOffset, lastOffset, event } of spans) {
    inFlight.update(firstOffset, lastOffset, run => {
      const to =
        nextState(run.state, event, { count: run.deliveryCount, countMax: rules.deliveryCountMax }) ?? run.state
      if (event === 'renew') return { ...run, lockedUntilMs: rules.lockedUntilMs }
      const change = pending.get(to) ?? { to }
      pending.set(to, change)
      changes.push(stateBatch(run, to))
      return { ...run, pending: change }
    })
  }
  return changes
}

export const stateBatch = ({ firstOffset, lastOffset, deliveryCount }: Run, state: RecordState): StateBatch => ({
  firstOffset,
  lastOffset,
  deliveryState: recordStates[state].id,
  deliveryCount,
})

/** What is below the start does not matter any more, unless it is all. */
function spansOf(inFlight: InFlight, { firstOffset, lastOffset, events }: Acknowledgement): Span[] {
  const { startOffset, endOffset } = inFlight
  if (lastOffset < startOffset) throw refused('the records are not in flight any more')
  if (lastOffset >= endOffset)
    throw new CoordinatorError(ErrorCode.INVALID_REQUEST, 'the records are beyond what was fetched')
  const spans: Span[] = []
  for (let offset = Math.max(firstOffset, startOffset); offset <= lastOffset; offset++) {
    const event = events.length === 1 ? events[0] : events[offset - firstOffset]
    if (event === undefined) throw new CoordinatorError(ErrorCode.INVALID_REQUEST, 'an offset without a type')
    if (events.length === 1) return [{ firstOffset: offset, lastOffset, event }]
    const last = spans.at(-1)
    if (last?.event === event) spans[spans.length - 1] = { ...last, lastOffset: offset }
    else spans.push({ firstOffset: offset, lastOffset: offset, event })
  }
  return spans
}

function check(inFlight: InFlight, { firstOffset, lastOffset, event }: Span, rules: AcknowledgeRules): void {
  if (event === 'renew' && !rules.mayRenew) throw refused('the group may not renew locks')
  for (const run of inFlight.between(firstOffset, lastOffset)) {
    if (run.state !== 'acquired' || run.memberId !== rules.memberId)
      throw refused('the member does not hold the records')
    if (run.pending) throw refused('the records are being changed')
  }
}

const refused = (message: string) => new CoordinatorError(ErrorCode.INVALID_RECORD_STATE, message)
