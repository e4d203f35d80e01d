/** Who comes back gets what was missed while it is kept, and is told when it is not. */
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { ManualClock } from '../../core/clock.ts'
import type { LinkEngineEvent, NumberedEvent } from '../event-api.ts'
import { EventLog, keptMax } from './event-log.ts'

const event = (timeMs: number): LinkEngineEvent => ({
  ...{ type: 'link', timeMs, linkName: 'west', state: 'ACTIVE', error: 'NO_ERROR', errorMessage: null },
})

const times = (events: readonly NumberedEvent[]) => events.map(found => found.event.timeMs)

test('a listener that gives the last id it saw goes on behind it, without a gap', () => {
  const log = new EventLog('run', new ManualClock())
  const seen: NumberedEvent[] = []
  const first = log.subscribe(found => seen.push(found))
  for (const timeMs of [1, 2, 3]) log.add(event(timeMs))
  first.close()
  for (const timeMs of [4, 5]) log.add(event(timeMs))
  deepEqual(times(seen), [1, 2, 3])
  const again: NumberedEvent[] = []
  const { missed, events } = log.subscribe(found => again.push(found), seen.at(-1)?.id)
  log.add(event(6))
  deepEqual([missed, times(events), times(again)], [false, [4, 5], [6]])
  deepEqual(log.subscribe(() => {}, 'run-6').events, [])
  equal(log.subscribe(() => {}, 'run-0').events.length, 6)
})

test('an id of another run, of the future or too long ago means that events were missed', () => {
  const log = new EventLog('run', new ManualClock())
  for (let timeMs = 0; timeMs < 3 * keptMax; timeMs++) log.add(event(timeMs))
  const missed = (id: string) => log.subscribe(() => {}, id).missed
  deepEqual(['other-5', 'run-5', `run-${4 * keptMax}`, 'nonsense', ''].map(missed), [true, true, true, true, true])
  equal(missed(`run-${2 * keptMax}`), false)
})

test('samples are told to who listens, without an id, and not kept', () => {
  const log = new EventLog('run', new ManualClock())
  const seen: NumberedEvent[] = []
  log.subscribe(found => seen.push(found))
  log.tell(event(1))
  equal(seen[0]?.id, undefined)
  deepEqual(log.subscribe(() => {}, 'run-0').events, [])
})
