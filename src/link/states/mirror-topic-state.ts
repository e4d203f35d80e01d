/** The life of one mirror topic as a table: API checks, `allowed_actions`, the write gate and the docs are read from it. */
import type { MirrorState, MirrorVerb } from '../engine-api.ts'

/** `none` = an ordinary topic or no topic at all; it is never stored. */
export type MirrorTopicState = MirrorState | 'none'

/**
 * What can happen to a mirror topic. `caughtUp` and `fail` come from the engine, the rest is asked for by somebody.
 * `peerReverses`: the cluster that mirrors this topic turns the direction round;
 * `peerWithdraws`: the source of a reverse is to stay it.
 */
export type MirrorTopicEvent =
  | 'create'
  | 'pause'
  | 'resume'
  | 'promote'
  | 'caughtUp'
  | 'failover'
  | 'fail'
  | 'reverse'
  | 'restore'
  | 'peerReverses'
  | 'peerWithdraws'
  | 'delete'

/** What one (state, event) pair leads to; a pair that is not in the table is refused. */
export type Outcome =
  | { readonly kind: 'to'; readonly state: MirrorTopicState }
  /** Accepted without any effect: asking twice is no error. */
  | { readonly kind: 'same' }
  /** The flag `held` of the record is set; the state stays. */
  | { readonly kind: 'hold' }
  /** The flag `held` is cleared; the state stays and continues. */
  | { readonly kind: 'unhold' }
  /** ACTIVE, or PAUSED where the verb that led here asked for it. */
  | { readonly kind: 'active-or-paused' }
  /** STOPPED where the topic had been a mirror before, else none. */
  | { readonly kind: 'as-before' }
  /** Back to the state that it failed from; a promote resumes as ACTIVE. */
  | { readonly kind: 'failed-from' }
  /** Refused, because the verb has already done its work. */
  | { readonly kind: 'already-stopped' }

const to = <const S extends MirrorTopicState>(state: S) => ({ kind: 'to', state }) as const satisfies Outcome
const same: Outcome = { kind: 'same' }

export const mirrorTopicTable = {
  none: {
    create: to('ACTIVE'),
    peerReverses: to('PENDING_MIRROR'),
    restore: to('PENDING_SETUP_FOR_RESTORE'),
  },
  ACTIVE: {
    pause: to('PAUSED'),
    promote: to('PENDING_STOPPED'),
    failover: to('STOPPED'),
    fail: to('FAILED'),
    reverse: to('PENDING_SYNCHRONIZE'),
    delete: to('none'),
  },
  PAUSED: {
    pause: same,
    resume: to('ACTIVE'),
    promote: to('PENDING_STOPPED'),
    failover: to('STOPPED'),
    fail: to('FAILED'),
    delete: to('none'),
  },
  PENDING_SYNCHRONIZE: {
    pause: { kind: 'hold' },
    resume: { kind: 'unhold' },
    peerWithdraws: to('ACTIVE'),
    caughtUp: to('PENDING_STOPPED'),
    failover: to('STOPPED'),
    fail: to('FAILED'),
    delete: to('none'),
  },
  PENDING_STOPPED: {
    promote: same,
    /** Of a reverse that is not decided yet. */
    peerWithdraws: to('ACTIVE'),
    caughtUp: to('STOPPED'),
    failover: to('STOPPED'),
    fail: to('FAILED'),
    delete: to('none'),
  },
  PENDING_MIRROR: {
    caughtUp: { kind: 'active-or-paused' },
    failover: { kind: 'as-before' },
    /** The mirror was failed over before it had everything. */
    restore: to('PENDING_SETUP_FOR_RESTORE'),
    fail: to('FAILED'),
    delete: to('none'),
  },
  PENDING_SETUP_FOR_RESTORE: {
    caughtUp: to('PENDING_RESTORE'),
    /** It came from PENDING_MIRROR and cannot be restored: it stays closed. */
    peerReverses: to('PENDING_MIRROR'),
    failover: { kind: 'as-before' },
    fail: to('FAILED'),
    delete: to('none'),
  },
  PENDING_RESTORE: {
    caughtUp: { kind: 'active-or-paused' },
    failover: to('STOPPED'),
    fail: to('FAILED'),
    delete: to('none'),
  },
  FAILED: {
    resume: { kind: 'failed-from' },
    failover: to('STOPPED'),
    delete: to('none'),
  },
  STOPPED: {
    promote: { kind: 'already-stopped' },
    failover: { kind: 'already-stopped' },
    restore: to('PENDING_SETUP_FOR_RESTORE'),
    peerReverses: to('PENDING_MIRROR'),
    /** The topic goes, the record stays listed until its link is deleted. */
    delete: same,
  },
} as const satisfies Record<MirrorTopicState, Partial<Record<MirrorTopicEvent, Outcome>>>

/** The event that a REST verb raises. */
export const eventOfVerb = {
  promote: 'promote',
  failover: 'failover',
  pause: 'pause',
  resume: 'resume',
  'reverse-and-start-mirror': 'reverse',
  'reverse-and-pause-mirror': 'reverse',
  'truncate-and-restore': 'restore',
} as const satisfies Record<MirrorVerb, MirrorTopicEvent>

export const mirrorVerbs = Object.keys(eventOfVerb) as readonly MirrorVerb[]

/** undefined = the pair is refused. */
export function outcomeOf(state: MirrorTopicState, event: MirrorTopicEvent): Outcome | undefined {
  const row: Partial<Record<MirrorTopicEvent, Outcome>> = mirrorTopicTable[state]
  return row[event]
}

/** The verbs that a mirror in this state accepts, `delete` (of the topic) included. */
export function allowedVerbs(state: MirrorTopicState): (MirrorVerb | 'delete')[] {
  const legal = (event: MirrorTopicEvent) => {
    const outcome = outcomeOf(state, event)
    return outcome !== undefined && outcome.kind !== 'already-stopped'
  }
  const verbs: (MirrorVerb | 'delete')[] = mirrorVerbs.filter(verb => legal(eventOfVerb[verb]))
  if (legal('delete')) verbs.push('delete')
  return verbs
}

/** May ordinary clients write a topic in this state? */
export const isWritable = (state: MirrorTopicState): boolean => state === 'STOPPED' || state === 'none'

/** Do the partitions of a topic in this state follow their source? */
export function followsSource(state: MirrorTopicState): boolean {
  return state === 'ACTIVE' || state === 'PENDING_STOPPED' || state === 'PENDING_SYNCHRONIZE'
}

/** Does nobody write the topic any more, while its log is still that of an ordinary one? Transactions in it are ended by their coordinator. */
export const isOrdinaryLog = (state: MirrorTopicState): boolean =>
  state === 'PENDING_MIRROR' || state === 'PENDING_SETUP_FOR_RESTORE'

/** Is the local log that of a mirror, so that open transactions in it are the source's and ours to abort at failover? */
export function holdsMirrorLog(state: MirrorTopicState): boolean {
  switch (state) {
    case 'ACTIVE':
    case 'PAUSED':
    case 'FAILED':
    case 'PENDING_STOPPED':
    case 'PENDING_SYNCHRONIZE':
    case 'PENDING_RESTORE':
      return true
    case 'PENDING_MIRROR':
    case 'PENDING_SETUP_FOR_RESTORE':
    case 'STOPPED':
    case 'none':
      return false
  }
}
