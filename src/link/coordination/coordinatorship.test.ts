/** When a node is the link coordinator: terms, what comes first, what keeps it out. */
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import { silentLogger } from '../../core/logger.ts'
import { seededRandom } from '../../core/random.ts'
import { sampleLink } from '../fakes/sample-records.ts'
import type { SecretBox, StateLog, StateRecord } from '../ports.ts'
import { DesiredState } from '../replay/desired-state.ts'
import { coordinatorStateRecord, decodeStateRecord, linkStateRecord } from '../state-records/record-codec.ts'
import { Coordinatorship } from './coordinatorship.ts'
import { secretKeyObstacle } from './secret-key-obstacle.ts'
import { StateJournal } from './state-journal.ts'

function scene(how: { term?: number; obstacle?: () => string | undefined } = {}) {
  const clock = new ManualClock()
  const told: string[] = []
  const listeners = new Set<() => void>()
  const state = { term: how.term, failure: undefined as Error | undefined, handOver: true }
  const stateLog: StateLog = {
    open: async () => {
      if (state.failure) throw state.failure
    },
    append: async records => {
      if (state.failure) throw state.failure
      told.push(`append ${records.length}`)
    },
    close: async () => {},
    leadership: {
      get term() {
        return state.term
      },
      vacancy: undefined,
      onChanged: listener => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      },
      lateRequestsMs: 10_000,
      position: 0,
      reached: async () => {},
      handOver: async () => {
        told.push('hand over')
        return state.handOver
      },
    },
  }
  const coordinatorship = new Coordinatorship({
    stateLog,
    journal: new StateJournal(stateLog),
    obstacle: how.obstacle ?? (() => undefined),
    onRecords: () => {},
    replayed: () => told.push('replayed'),
    began: () => told.push('began'),
    ended: () => told.push('ended'),
    clock,
    random: seededRandom(1),
    logger: silentLogger,
  })
  const change = async (term: number | undefined) => {
    state.term = term
    for (const listener of listeners) listener()
    for (let turn = 0; turn < 20; turn++) await Promise.resolve()
  }
  return { coordinatorship, clock, told, state, change }
}

test('a node replays first, and coordinates once its own no-op is durable in the term that it was offered', async () => {
  const { coordinatorship, told, change } = scene()
  await coordinatorship.start()
  deepEqual([told, coordinatorship.isReplayed, coordinatorship.isHeld], [['replayed'], true, false])
  await change(4)
  deepEqual([told.slice(1), coordinatorship.isHeld], [['append 1', 'began'], true])
  await coordinatorship.stop()
  equal(coordinatorship.isHeld, false)
})

test('another term ends the one before, also where the same node has it', async () => {
  const { coordinatorship, told, change } = scene({ term: 1 })
  await coordinatorship.start()
  told.length = 0
  await change(3)
  deepEqual(told, ['ended', 'append 1', 'began'])
  await change(undefined)
  deepEqual([told.slice(3), coordinatorship.isHeld], [['ended'], false])
  await coordinatorship.stop()
})

test('what cannot be taken over now is tried again', async () => {
  const { coordinatorship, clock, told, state } = scene({ term: 1 })
  state.failure = new Error('no replica is in sync')
  await coordinatorship.start()
  equal(coordinatorship.isReplayed, false)
  state.failure = undefined
  await clock.advance(60_000)
  deepEqual(told, ['replayed', 'append 1', 'began'])
  await coordinatorship.stop()
})

test('nothing of a predecessor can be on its way once the node has coordinated for long enough', async () => {
  const { coordinatorship, clock } = scene({ term: 1 })
  await coordinatorship.start()
  let isOver = false
  const waited = coordinatorship.undisturbed().then(() => {
    isOver = true
  })
  await clock.advance(9999)
  equal(isOver, false)
  await clock.advance(1)
  await waited
  await coordinatorship.undisturbed()
  await coordinatorship.stop()
  const another = scene({ term: 1 })
  await another.coordinatorship.start()
  const stopped = rejects(another.coordinatorship.undisturbed())
  await another.coordinatorship.stop()
  await stopped
})

test('a node that must not coordinate says why, asks another one to, and does not begin', async () => {
  let obstacle: string | undefined = 'the key is another one'
  const { coordinatorship, clock, told, change } = scene({ obstacle: () => obstacle })
  await coordinatorship.start()
  equal(coordinatorship.obstacle, undefined)
  await change(2)
  deepEqual([told.slice(1), coordinatorship.isHeld], [['hand over'], false])
  equal(coordinatorship.obstacle, 'the key is another one')
  obstacle = undefined
  await clock.advance(60_000)
  deepEqual([told.at(-1), coordinatorship.isHeld, coordinatorship.obstacle], ['began', true, undefined])
  await coordinatorship.stop()
})

test('what other keys have sealed, or a coordinator with another key, is in the way', () => {
  const knowing = (...ids: string[]): Pick<SecretBox, 'knows'> => ({ knows: id => ids.includes(id) })
  const state = (...records: StateRecord[]) => {
    const desired = new DesiredState()
    for (const record of records) desired.apply(decodeStateRecord(record))
    return desired
  }
  const sealing = (keyId: string) =>
    linkStateRecord(sampleLink({ configs: new Map([['sasl.jaas.config', `sealed:1:${keyId}:AAAA`]]) }))
  equal(secretKeyObstacle(state(), undefined), undefined)
  equal(secretKeyObstacle(state(coordinatorStateRecord()), knowing()), undefined)
  equal(secretKeyObstacle(state(coordinatorStateRecord('new'), sealing('old')), knowing('new', 'old')), undefined)
  match(secretKeyObstacle(state(coordinatorStateRecord('new'), sealing('old')), knowing('new')) ?? '', /key old,/)
  match(secretKeyObstacle(state(coordinatorStateRecord('new')), knowing('old')) ?? '', /key new,/)
  // A no-op that names none leaves it as it was.
  match(secretKeyObstacle(state(coordinatorStateRecord('new'), coordinatorStateRecord()), knowing()) ?? '', /new/)
})
