/** Walks every (state, event) pair of the mirror topic table against the semantics written out by hand. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { test } from 'node:test'
import {
  allowedVerbs,
  followsSource,
  holdsMirrorLog,
  isWritable,
  type MirrorTopicEvent,
  type MirrorTopicState,
  mirrorTopicTable,
  outcomeOf,
} from './mirror-topic-state.ts'

const states = Object.keys(mirrorTopicTable) as MirrorTopicState[]

const events: MirrorTopicEvent[] = [
  'pause',
  'resume',
  'promote',
  'caughtUp',
  'failover',
  'fail',
  'create',
  'reverse',
  'restore',
  'peerReverses',
  'delete',
  'peerWithdraws',
]

/** One row per state, one word per event in the order above; "-" = refused. */
const expected: Record<MirrorTopicState, string> = {
  none: '- - - - - - ACTIVE - PENDING_SETUP_FOR_RESTORE PENDING_MIRROR - -',
  ACTIVE: 'PAUSED - PENDING_STOPPED - STOPPED FAILED - PENDING_SYNCHRONIZE - - none -',
  PAUSED: 'same ACTIVE PENDING_STOPPED - STOPPED FAILED - - - - none -',
  PENDING_SYNCHRONIZE: 'hold unhold - PENDING_STOPPED STOPPED FAILED - - - - none ACTIVE',
  PENDING_STOPPED: '- - same STOPPED STOPPED FAILED - - - - none ACTIVE',
  PENDING_MIRROR: '- - - active-or-paused as-before FAILED - - PENDING_SETUP_FOR_RESTORE - none -',
  PENDING_SETUP_FOR_RESTORE: '- - - PENDING_RESTORE as-before FAILED - - - PENDING_MIRROR none -',
  PENDING_RESTORE: '- - - active-or-paused STOPPED FAILED - - - - none -',
  FAILED: '- failed-from - - STOPPED - - - - - none -',
  STOPPED: '- - already-stopped - already-stopped - - - PENDING_SETUP_FOR_RESTORE PENDING_MIRROR same -',
}

for (const state of states)
  test(`every event in ${state} leads where the semantics say, or is refused`, () => {
    const words = events.map(event => {
      const outcome = outcomeOf(state, event)
      return outcome === undefined ? '-' : outcome.kind === 'to' ? outcome.state : outcome.kind
    })
    equal(words.join(' '), expected[state])
  })

test('the table walk covers every state and every event of the table', () => {
  equal(states.length, 10)
  const known = new Set<string>(events)
  for (const row of Object.values(mirrorTopicTable)) for (const event of Object.keys(row)) ok(known.has(event), event)
})

test('only STOPPED and none are writable', () => {
  deepEqual(states.filter(isWritable), ['none', 'STOPPED'])
})

test('fetching states are those that are not at rest, and they all hold a mirror log', () => {
  deepEqual(states.filter(followsSource), ['ACTIVE', 'PENDING_SYNCHRONIZE', 'PENDING_STOPPED'])
  for (const state of states.filter(followsSource)) ok(holdsMirrorLog(state))
  deepEqual(
    states.filter(state => !holdsMirrorLog(state)),
    ['none', 'PENDING_MIRROR', 'PENDING_SETUP_FOR_RESTORE', 'STOPPED'],
  )
})

test('allowed verbs come from the table and leave out what has already happened', () => {
  deepEqual(allowedVerbs('STOPPED'), ['truncate-and-restore', 'delete'])
  deepEqual(allowedVerbs('FAILED'), ['failover', 'resume', 'delete'])
  deepEqual(allowedVerbs('ACTIVE'), [
    'promote',
    'failover',
    'pause',
    'reverse-and-start-mirror',
    'reverse-and-pause-mirror',
    'delete',
  ])
  for (const state of states) if (state !== 'none' && state !== 'STOPPED') ok(allowedVerbs(state).includes('failover'))
})

test('every state but none can be deleted', () => {
  for (const state of states) equal(outcomeOf(state, 'delete') !== undefined, state !== 'none')
})
