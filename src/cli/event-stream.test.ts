/** Tests of server-sent events as they come in pieces. */
import { deepStrictEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { serverEvents } from './event-stream.ts'

async function eventsOf(...pieces: string[]) {
  const found = []
  const chunks = (async function* () {
    for (const piece of pieces) yield Buffer.from(piece, 'latin1')
  })()
  for await (const event of serverEvents(chunks)) found.push(event)
  return found
}

const latin = (text: string) => Buffer.from(text).toString('latin1')

test('events are put together whatever the pieces', async () => {
  const text = latin(': beat\n\nid: 7\nevent: state\ndata: {"a":\ndata: "ü"}\n\ndata:x\r\n\r\nevent: none\n\n')
  const expected = [
    { id: '7', event: 'state', data: '{"a":\n"ü"}' },
    { id: '', event: 'message', data: 'x' },
  ]
  deepStrictEqual(await eventsOf(text), expected)
  deepStrictEqual(await eventsOf(...text), expected)
})

test('an event that is not finished is not given out, and one without an end is refused', async () => {
  deepStrictEqual(await eventsOf('data: x\n'), [])
  await rejects(eventsOf('data: ', 'x'.repeat(5_000_000)), /no end/)
})
