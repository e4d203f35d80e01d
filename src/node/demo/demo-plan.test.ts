/** What `lockstep demo` accepts. */
import { deepStrictEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { type DemoOptions, DemoUsageError, planDemo } from './demo-plan.ts'

const options = (given: Partial<DemoOptions>): DemoOptions => ({
  once: false,
  source: undefined,
  topic: undefined,
  ...given,
})

test('without options the demo is live, with --once it is 200 000 records', () => {
  deepStrictEqual(planDemo(options({})), { kind: 'live' })
  deepStrictEqual(planDemo(options({ once: true })), { kind: 'once', records: 200_000 })
  deepStrictEqual(planDemo(options({ once: true, records: 7 })), { kind: 'once', records: 7 })
})

test('a source with a topic is followed', () => {
  deepStrictEqual(planDemo(options({ source: '127.0.0.1:9092', topic: 'T' })), {
    kind: 'follow',
    bootstrap: '127.0.0.1:9092',
    topic: 'T',
  })
  deepStrictEqual(planDemo(options({ source: 'a.example:1, [::1]:65535', topic: ' T ' })), {
    kind: 'follow',
    bootstrap: 'a.example:1,[::1]:65535',
    topic: 'T',
  })
})

test('what does not go together is refused with words', () => {
  const refused: [Partial<DemoOptions>, RegExp][] = [
    [{ once: true, source: 'a:1', topic: 't' }, /--once .* cannot be combined/],
    [{ once: true, topic: 't' }, /--once .* cannot be combined/],
    [{ topic: 't' }, /add --source/],
    [{ source: 'a:1' }, /needs --topic/],
    [{ source: 'a:1', topic: '' }, /needs --topic/],
    [{ source: 'a', topic: 't' }, /HOST:PORT .* not "a"/],
    [{ source: 'a:0', topic: 't' }, /HOST:PORT/],
    [{ source: 'a:65536', topic: 't' }, /HOST:PORT/],
    [{ source: 'a:1,', topic: 't' }, /HOST:PORT/],
    [{ source: 'http://a:1', topic: 't' }, /HOST:PORT/],
    [{ once: true, records: 0 }, /whole number/],
  ]
  for (const [given, message] of refused)
    throws(
      () => planDemo(options(given)),
      error => error instanceof DemoUsageError && message.test(error.message),
      JSON.stringify(given),
    )
})
