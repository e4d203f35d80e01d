/** What an event does to a mirror record beyond its state. */
import { deepEqual, equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import type { OperationalError } from '../../core/errors.ts'
import { sampleMirror } from '../fakes/sample-records.ts'
import { entryState, transition, withHistory } from './transition.ts'

const detail = { linkName: 'west', reason: 'because', timeMs: 42 } as const
const code = (expected: string) => (error: unknown) => (error as OperationalError).code === expected

test('Active-Failed-Active keeps where it failed from and forgets the failures at resume', () => {
  const failed = transition(sampleMirror({ state: 'ACTIVE', stateEpoch: 4 }), { ...detail, event: 'fail' })
  equal(failed?.state, 'FAILED')
  equal(failed?.failedFrom, 'ACTIVE')
  equal(failed?.stateEpoch, 5)
  equal(failed?.stateTimeMs, 42)
  deepEqual(failed?.history.at(-1), { state: 'FAILED', event: 'fail', reason: 'because', timeMs: 42 })
  const failure = { partition: 0, error: 'CORRUPT_BATCH', reason: 'bad', timeMs: 1 }
  const resumed = failed && transition({ ...failed, failures: [failure] }, { ...detail, event: 'resume' })
  equal(resumed?.state, 'ACTIVE')
  deepEqual(resumed?.failures, [])
})

test('PendingStopped-Failed resumes as Active, a paused one as Paused', () => {
  const promoting = sampleMirror({ state: 'FAILED', failedFrom: 'PENDING_STOPPED' })
  equal(transition(promoting, { ...detail, event: 'resume' })?.state, 'ACTIVE')
  const paused = sampleMirror({ state: 'FAILED', failedFrom: 'PAUSED' })
  equal(transition(paused, { ...detail, event: 'resume' })?.state, 'PAUSED')
})

test('PendingMirror returns to what it was', () => {
  const fresh = sampleMirror({ state: 'PENDING_MIRROR', stopPoints: [] })
  equal(transition(fresh, { ...detail, event: 'failover' }), undefined)
  equal(transition(fresh, { ...detail, event: 'caughtUp', paused: true })?.state, 'PAUSED')
  const before = sampleMirror({ state: 'PENDING_MIRROR' })
  equal(before.stopPoints.length > 0, true)
  equal(transition(before, { ...detail, event: 'failover' })?.state, 'STOPPED')
})

test('asking twice changes nothing, and a hold is a flag', () => {
  const paused = sampleMirror({ state: 'PAUSED' })
  equal(transition(paused, { ...detail, event: 'pause' }), paused)
  const held = transition(sampleMirror({ state: 'PENDING_SYNCHRONIZE' }), { ...detail, event: 'pause' })
  equal(held?.held, true)
  equal(held?.state, 'PENDING_SYNCHRONIZE')
  equal(held && transition(held, { ...detail, event: 'resume' })?.held, false)
})

test('a refusal names the state, the verb and the legal verbs', () => {
  const stopped = sampleMirror({ state: 'STOPPED' })
  throws(() => transition(stopped, { ...detail, event: 'failover' }), code('MIRROR_ALREADY_STOPPED'))
  throws(() => transition(stopped, { ...detail, event: 'pause' }), {
    message: "Mirror topic 'orders' is STOPPED, where pause is not possible; possible: truncate-and-restore, delete.",
  })
})

test('once a stop was accepted only failover and deletion are possible', () => {
  const stopping = sampleMirror({
    state: 'ACTIVE',
    stopping: { verb: 'failover', sinceMs: 1, keepsRetention: false, handOver: undefined },
  })
  for (const event of ['pause', 'promote', 'reverse', 'fail'] as const)
    throws(() => transition(stopping, { ...detail, event }), code('MIRROR_TRANSITION_REFUSED'))
  const stopped = transition(stopping, { ...detail, event: 'failover' })
  equal(stopped?.state, 'STOPPED')
  equal(stopped?.stopping, undefined)
  equal(transition(stopping, { ...detail, event: 'delete' }), undefined)
})

test('the history is bounded', () => {
  let record = sampleMirror({ ...entryState('create', { reason: 'new', timeMs: 0 }) })
  for (let i = 0; i < 150; i++) record = withHistory(record, { event: 'out_of_range', reason: String(i), timeMs: i })
  equal(record.history.length, 100)
  equal(record.history.at(-1)?.reason, '149')
})
