/** Verbs on mirrors from the command line: what they send, ask and print. */
import { doesNotMatch, match, partialDeepStrictEqual, strictEqual } from 'node:assert/strict'
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

type Row = FakeEngine['rows'][number]

const accepted = (topic: string, change: Partial<Row> = {}): Row => ({
  ...{ mirrorTopicName: topic, errorCode: null, errorMessage: null, lags: [], partitions: [], openTransactions: 0 },
  ...change,
})

// It said that no topic had matched, and failed since there was no mirror that is STOPPED.
test('a failover that gives the source of a reverse back ends with an ordinary topic', async () => {
  const engine = new FakeEngine()
  engine.rows = [accepted('orders', { warnings: ['This copy is writable again.'] })]
  const { code, out, err } = await lockstep(engine, ['mirror', 'failover', 'orders', '--link', 'west', '--wait'])
  strictEqual(code, 0, err)
  match(out, /^orders +-1 /m)
  match(out, /This copy is writable again\./)
  match(err, /orders: an ordinary topic/)
})

test('a failover of what is about to become a mirror asks with what becomes of both copies, not with a lag', async () => {
  const engine = new FakeEngine()
  const { lags } = fakeMirror('orders')
  engine.rows = [accepted('orders', { lags, warnings: ['This copy ends writable, and the mirror follows it again.'] })]
  const { asked } = await lockstep(engine, ['mirror', 'failover', 'orders', '--link', 'west'], 'n')
  match(
    asked[0] ?? '',
    /^1 topic of link "west" of which nothing follows will be ordinary ones\. This copy ends writable, and .* again\. Continue\?/,
  )
})

test('nobody waits for what was given up meanwhile, nor for a link that is in trouble', async () => {
  const engine = new FakeEngine()
  engine.rows = [accepted('orders')]
  const waited = (verb: string, status: FakeEngine['mirrors'][number]['status']) => {
    engine.mirrors = [fakeMirror('orders', { status })]
    return lockstep(engine, ['mirror', verb, 'orders', '--link', 'west', '--wait=2s'])
  }
  for (const { code, err } of [
    await waited('reverse-and-start', 'ACTIVE'),
    await waited('truncate-and-restore', 'PENDING_MIRROR'),
  ]) {
    strictEqual(code, 1)
    doesNotMatch(err, /after 2 s/)
  }
  strictEqual((await waited('truncate-and-restore', 'SOURCE_UNAVAILABLE')).code, 0)
})

test('mirror describe tells of both sides that change roles, or have', async () => {
  const engine = new FakeEngine()
  const told = async (change: Partial<NonNullable<FakeEngine['mirrors'][number]['reversal']>>) => {
    const reversal = { peerReason: null, readOnlyMs: null, abortedTransactions: 0, ...change }
    engine.mirrors = [fakeMirror('orders', { reversal: { role: 'SOURCE', peerStatus: 'ACTIVE', ...reversal } })]
    return (await lockstep(engine, ['mirror', 'describe', 'orders', '--link', 'west'])).out
  }
  match(await told({ peerStatus: null, peerReason: 'closing' }), /^Other side: an ordinary topic \(closing\)$/m)
  match(
    await told({ readOnlyMs: 812, abortedTransactions: 1 }),
    /^Other side: ACTIVE\. Nobody could write for 812 ms; 1 transaction aborted\.$/m,
  )
})
