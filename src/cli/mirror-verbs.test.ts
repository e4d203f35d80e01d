/** Verbs on mirrors from the command line: what they send, ask and print. */
import { match, partialDeepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { FakeEngine, fakeMirror } from '../rest/fakes/fake-engine.ts'
import { lockstep } from './fakes/run-command.ts'

test('mirror pause and resume send their verb, and a refused topic is part of the failure', async () => {
  const engine = new FakeEngine()
  const row = { lags: [], partitions: [], openTransactions: 0, mirrorTopicName: 'orders' }
  engine.rows = [{ ...row, errorCode: null, errorMessage: null }]
  strictEqual((await lockstep(engine, ['mirror', 'pause', 'orders', '--link', 'west'])).code, 0)
  engine.rows.push({ ...row, mirrorTopicName: 'payments', errorCode: 400, errorMessage: 'no' })
  const args = ['mirror', 'resume', 'orders', 'payments', '--link', 'west', '--dry-run']
  strictEqual((await lockstep(engine, args)).code, 3)
  partialDeepStrictEqual(
    engine.calls.map(call => call.arguments),
    [
      ['west', 'pause', { selection: { names: ['orders'] }, validateOnly: false, together: false }],
      ['west', 'resume', { selection: { names: ['orders', 'payments'] }, validateOnly: true, together: false }],
    ],
  )
})

test('promote takes a pattern, asks with the number of topics it means, and passes --together', async () => {
  const engine = new FakeEngine()
  const waiting = { partition: 0, endOffset: 5, stopOffset: null, lastKnownLag: null, waitingFor: '3 offsets behind' }
  const lags = fakeMirror('orders').lags
  engine.rows = [
    {
      mirrorTopicName: 'orders',
      errorCode: null,
      errorMessage: null,
      lags,
      partitions: [waiting],
      openTransactions: 0,
    },
  ]
  const args = ['mirror', 'promote', '--pattern', 'ord.*', '--link', 'west', '--together']
  const { code, out, asked } = await lockstep(engine, args, 'y')
  strictEqual(code, 0)
  match(asked[0] ?? '', /^Promoting 1 mirror topic of link "west": .*\(5 records behind now\)/)
  match(out, /3 offsets behind/)
  const selection = { pattern: 'ord.*' }
  partialDeepStrictEqual(
    engine.calls.map(call => call.arguments[2]),
    [
      { selection, validateOnly: true, together: true },
      { selection, validateOnly: false, together: true },
    ],
  )
  strictEqual((await lockstep(engine, ['mirror', 'promote', '--link', 'west'])).code, 2)
})
