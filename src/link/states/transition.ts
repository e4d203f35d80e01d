/** One event on one mirror record: the only way in which its state changes. Pure; the caller makes the result durable. */

import type { MirrorState } from '../engine-api.ts'
import { linkError } from '../errors.ts'
import { historyMax, type MirrorRecord, type StateChange, type StoppingRecord } from '../state-records/mirror-record.ts'
import {
  allowedVerbs,
  type MirrorTopicEvent,
  type MirrorTopicState,
  mirrorTopicTable,
  outcomeOf,
} from './mirror-topic-state.ts'

export interface TransitionDetail {
  readonly event: MirrorTopicEvent
  readonly linkName: string
  readonly reason: string
  readonly timeMs: number
  /** Where an `active-or-paused` outcome leads. */
  readonly paused?: boolean
}

/**
 * The record after the event; the same object if nothing changes; undefined if the topic is no mirror any more.
 * Throws OperationalError MIRROR_TRANSITION_REFUSED or MIRROR_ALREADY_STOPPED.
 */
export function transition(record: MirrorRecord, detail: TransitionDetail): MirrorRecord | undefined {
  const { event } = detail
  if (record.stopping !== undefined && !mayFollowStop(record.stopping, event)) throw refused(record, detail)
  const outcome = outcomeOf(record.state, event)
  switch (outcome?.kind) {
    case undefined:
      throw refused(record, detail)
    case 'already-stopped':
      throw linkError('MIRROR_ALREADY_STOPPED', { topic: record.mirrorTopic, link: detail.linkName })
    case 'same':
      return record
    case 'hold':
      return { ...record, held: true, reason: detail.reason }
    case 'unhold':
      return { ...record, held: false, reason: undefined }
    case 'to':
      return entered(record, outcome.state, detail)
    case 'active-or-paused':
      return entered(record, detail.paused === true ? 'PAUSED' : 'ACTIVE', detail)
    case 'as-before':
      return entered(record, record.stopPoints.length > 0 ? 'STOPPED' : 'none', detail)
    case 'failed-from':
      return entered(record, resumedState(record.failedFrom), detail)
  }
}

/** Once a stop has been accepted nothing may turn it back. */
const mayFollowStop = ({ verb }: StoppingRecord, event: MirrorTopicEvent): boolean =>
  event === 'failover' || event === 'delete' || (verb === 'promote' && (event === 'caughtUp' || event === 'promote'))

/** The state fields of a topic that becomes a mirror, by an event of the row `none`. */
export function entryState(
  event: 'create' | 'peerReverses' | 'restore',
  { reason, timeMs }: { reason: string; timeMs: number },
) {
  const { state } = mirrorTopicTable.none[event]
  if (state === 'none') throw new TypeError('the row none leads to a stored state')
  return {
    state,
    stateEpoch: 0,
    stateTimeMs: timeMs,
    reason,
    held: false,
    failedFrom: undefined,
    failures: [],
    troubles: [],
    stopping: undefined,
    restore: undefined,
    reversal: undefined,
    together: [],
    stopPoints: [],
    trueConfigs: new Map(),
    history: [{ state, event, reason, timeMs }],
  } satisfies Partial<MirrorRecord>
}

/** Adds an event that changes no state, such as an incident, to the history. */
export function withHistory(record: MirrorRecord, change: Omit<StateChange, 'state'>): MirrorRecord {
  const history = [...record.history, { ...change, state: record.state }].slice(-historyMax)
  return { ...record, history }
}

function entered(record: MirrorRecord, state: MirrorTopicState, detail: TransitionDetail): MirrorRecord | undefined {
  if (state === 'none') return undefined
  const { event, reason, timeMs } = detail
  return {
    ...record,
    state,
    stateEpoch: record.stateEpoch + 1,
    stateTimeMs: timeMs,
    reason,
    held: false,
    failedFrom: state === 'FAILED' ? record.state : undefined,
    failures: state === 'FAILED' || state === 'STOPPED' ? record.failures : [],
    troubles: [],
    stopping: undefined,
    restore: state === 'PENDING_RESTORE' ? record.restore : undefined,
    reversal: keepsReversal(record, event) ? record.reversal : undefined,
    together: [],
    history: [...record.history, { state, event, reason, timeMs }].slice(-historyMax),
  }
}

/** Roles that change, or have changed, are remembered on the way, and until something else is asked for. */
function keepsReversal({ state, failedFrom }: MirrorRecord, event: MirrorTopicEvent): boolean {
  switch (event) {
    case 'caughtUp':
    case 'failover':
    case 'fail':
    case 'peerReverses':
      return true
    case 'restore':
      return state === 'PENDING_MIRROR'
    case 'resume':
      return failedFrom === 'PENDING_SYNCHRONIZE'
    default:
      return false
  }
}

/** A promote that failed has to be asked for again. */
const resumedState = (failedFrom: MirrorState | undefined): MirrorState =>
  failedFrom === undefined || failedFrom === 'PENDING_STOPPED' ? 'ACTIVE' : failedFrom

function refused(record: MirrorRecord, { event }: TransitionDetail) {
  const legal = record.stopping === undefined ? allowedVerbs(record.state) : ['failover', 'delete']
  const state =
    record.stopping === undefined ? record.state : `${record.state} and being stopped (${record.stopping.verb})`
  return linkError('MIRROR_TRANSITION_REFUSED', { topic: record.mirrorTopic, state, verb: event, legal })
}
