/** Commands that watch: events, waiting, verification, live views; and what happens when nobody reads any more. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type TestContext, test } from 'node:test'
import { fakeTerminal } from './fakes/fake-terminal.ts'
import { startFixedNode } from './fakes/fixed-node.ts'
import { lockstepAt } from './fakes/run-command.ts'
import { lengthOfTime } from './number-option.ts'
import { Program } from './program.ts'
import type { Terminal } from './terminal.ts'

async function fixedNode(t: TestContext) {
  const node = await startFixedNode()
  t.after(() => node.close())
  return node
}

const run = (terminal: Terminal, url: string, args: string) =>
  new Program({ terminal, env: { LOCKSTEP_URL: url, HOME: '/nonexistent' } }, '1').run(args.split(' '))

/** Answers events with one stream after the other, and tells what came as Last-Event-ID. */
async function eventNode(t: TestContext, streams: readonly string[]) {
  const asked: (string | undefined)[] = []
  const server = createServer((request, response) => {
    if (!request.url?.endsWith('/events')) {
      response.end('{"data":[{"cluster_id":"c"}]}')
      return
    }
    const stream = streams[asked.length] ?? ''
    asked.push(request.headers['last-event-id'] as string | undefined)
    if (stream === notReady) {
      response.writeHead(503, { 'content-type': 'application/json' }).end(notReady)
      return
    }
    response.write(stream)
    // Not an end: the connection breaks.
    response.flushHeaders()
    setImmediate(() => response.destroy())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  return { asked, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }
}

const link = (id: number) =>
  `id: ${id}\nevent: link\ndata: {"type":"link","time_ms":0,"link_name":"w","link_state":"ACTIVE","link_error":"NO_ERROR","link_error_message":null}\n\n`

// A node that comes back answers before it has its state.
const notReady = '{"error_code":50003,"message":"not ready"}'

test('events go on behind the last one when the connection was lost', async t => {
  const { asked, url } = await eventNode(t, [link(4), notReady, link(5)])
  const { code, out } = await lockstepAt(url, ['events', '--max', '2', '--after', '3', '-o', 'json'])
  deepStrictEqual(
    [
      code,
      out
        .split('\n')
        .filter(Boolean)
        .map(line => JSON.parse(line).id),
      asked,
    ],
    [0, ['4', '5'], ['3', '4', '4']],
  )
})

test('events of a node that never answers are a failure', async () => {
  strictEqual((await lockstepAt('http://127.0.0.1:1', ['events'])).code, 4)
})

test('waiting ends with the topics that fail, and says so', async t => {
  const { url } = await fixedNode(t)
  const late = await lockstepAt(url, ['mirror', 'failover', 'orders', '--link', 'west', '--force', '--wait=1ms'])
  strictEqual(late.code, 1)
  match(late.err, /^orders: ACTIVE\nError: after 0.001 s these topics are not STOPPED: orders\n$/)
  strictEqual((await lockstepAt(url, ['mirror', 'failover', 'x', '--link', 'west', '--wait=soon'])).code, 2)
})

test('waiting goes on while the node is away', async t => {
  const looks = ['gone', 'not ready', 'STOPPED']
  const server = createServer((request, response) => {
    const path = request.url ?? ''
    const json = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    }
    if (path.endsWith('/clusters')) return json(200, { data: [{ cluster_id: 'c' }] })
    const mirror = { mirror_topic_name: 'orders', mirror_lags: [], partitions: [], reason: null }
    const row = { ...mirror, error_code: null, open_transactions: 0, groups_behind: [], groups_in_use: [] }
    if (request.method === 'POST') return json(200, { data: [row] })
    const look = looks.shift()
    if (look === 'gone') response.destroy()
    else if (look === 'not ready') json(503, { error_code: 50003, message: 'not ready' })
    else json(200, { data: [{ ...mirror, mirror_status: look }] })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { code, err } = await lockstepAt(url, ['mirror', 'promote', 'orders', '--link', 'west', '--force', '--wait'])
  deepStrictEqual([code, looks], [0, []])
  match(err, /^The node does not answer; .*\norders: STOPPED\n$/)
})

test('waiting for a reverse shows both sides, ends when both are there, and says how long nobody could write', async t => {
  const walk = { role: 'MIRROR', peer_status: 'PENDING_MIRROR', peer_reason: 'closed at 5', read_only_ms: null }
  const looks = [
    { mirror_status: 'PENDING_SYNCHRONIZE', reversal: { ...walk, aborted_transactions: 0 } },
    { mirror_status: 'STOPPED', reversal: { ...walk, aborted_transactions: 0 } },
    {
      mirror_status: 'STOPPED',
      reversal: { ...walk, peer_status: 'ACTIVE', read_only_ms: 812, aborted_transactions: 1 },
    },
  ]
  const server = createServer((request, response) => {
    const mirror = { mirror_topic_name: 'orders', mirror_lags: [], partitions: [], reason: null }
    const row = { ...mirror, error_code: null, open_transactions: 0, groups_behind: [], groups_in_use: [] }
    const clusters = (request.url ?? '').endsWith('/clusters')
    const data = clusters ? { cluster_id: 'c' } : request.method === 'POST' ? row : { ...mirror, ...looks.shift() }
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ data: [data] }))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const args = ['mirror', 'reverse-and-start', 'orders', '--link', 'west', '--force', '--wait']
  const { code, err } = await lockstepAt(url, args)
  deepStrictEqual([code, looks], [0, []])
  match(err, /^orders: PENDING_SYNCHRONIZE; other side: PENDING_MIRROR \(closed at 5\)\n/)
  match(err, /\nNobody could write for 812 ms; 1 transaction aborted\.\n$/)
})

test('Ctrl-C ends the waiting only, with its own exit code', async t => {
  const { url } = await fixedNode(t)
  const terminal = { ...fakeTerminal(), interruptible: aborted }
  strictEqual(await run(terminal, url, 'mirror promote orders --link west --force --wait'), 130)
  match(terminal.written.err, /Stopped waiting; the node goes on/)
})

const aborted: Terminal['interruptible'] = work => work(AbortSignal.abort())

test('a bare --wait takes no topic for its time', async t => {
  const { url, requests } = await fixedNode(t)
  const terminal = { ...fakeTerminal(), interruptible: aborted }
  await run(terminal, url, 'mirror promote --force --link west --wait orders')
  deepStrictEqual(requests.find(({ request }) => request.endsWith(':promote'))?.body, {
    mirror_topic_names: ['orders'],
  })
})

test('top draws one picture after the other without clearing, and leaves the screen as it was', async t => {
  const { url } = await fixedNode(t)
  const keys: ((key: string) => void)[] = []
  const terminal = {
    ...fakeTerminal({ columns: 80 }),
    onKeys: (listener: (key: string) => void) => {
      keys.push(listener)
      setImmediate(() => {
        for (const key of ['p', '?', 'q']) listener(key)
      })
      return () => keys.pop()
    },
  }
  strictEqual(await run(terminal, url, 'top'), 0)
  const { out } = terminal.written
  ok(out.startsWith('\u001b[?1049h\u001b[?25l\u001b[H'))
  ok(out.endsWith('\u001b[?25h\u001b[?1049l'))
  strictEqual(out.includes('\u001b[2J'), false)
  strictEqual(out.split('\u001b[H').length - 1, 3)
  strictEqual(keys.length, 0)
})

test('what has no end stops when nobody reads any more', async t => {
  const { url } = await fixedNode(t)
  const closed = new AbortController()
  const fake = fakeTerminal()
  const terminal = {
    ...fake,
    outClosed: closed.signal,
    out: (text: string) => {
      fake.out(text)
      closed.abort()
    },
  }
  strictEqual(await run(terminal, url, 'top --interval 1ms'), 0)
  strictEqual(await run(terminal, url, 'events'), 0)
})

test('lengths of time have units', () => {
  deepStrictEqual(
    ['500ms', '30s', '5m', '1h', '90'].map(text => lengthOfTime('--wait', text)),
    [500, 30_000, 300_000, 3_600_000, 90_000],
  )
})
