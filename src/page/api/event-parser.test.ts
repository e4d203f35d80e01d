/** Server-sent events in any pieces. */
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { EventParser } from './event-parser.ts'

const TEXT = ': lockstep\n\nid: run-1\nevent: state\ndata: {"a":1}\n\n: heartbeat\n\nevent: lag\ndata: {"b":2}\n\n'

test('events are the same in whatever pieces they come', () => {
  const expected = [
    { id: 'run-1', event: 'state', data: '{"a":1}' },
    { id: undefined, event: 'lag', data: '{"b":2}' },
  ]
  for (let size = 1; size <= TEXT.length; size++) {
    const parser = new EventParser()
    const pieces = Array.from({ length: Math.ceil(TEXT.length / size) }, (_, at) =>
      TEXT.slice(at * size, (at + 1) * size),
    )
    deepEqual(
      pieces.flatMap(piece => parser.push(piece)),
      expected,
    )
  }
})
