/** Calls of other nodes over REST: answered to who signs, to nobody else, and no part of the API. */
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { FakeEngine, fakeContext } from './fakes/fake-engine.ts'
import type { Forwarding } from './ports.ts'
import { peerCallPath } from './ports.ts'
import { buildRestApplication } from './server.ts'

/** Believes what is signed `1002 good`. */
const forwarding: Forwarding = {
  coordinator: () => undefined,
  vouch: () => '1001 good',
  nodeOf: header => Number(header.split(' ')[0]),
  clientOf: () => ({ principal: { type: 'User', name: 'lockstep' }, host: '', loggedIn: true }),
  problemOf: header => (header.endsWith('good') ? undefined : 'another key'),
  send: () => Promise.reject(new Error('nobody is asked')),
}

test('a call is answered to a node that signs it, and told who that is', async t => {
  const asked: unknown[] = []
  const peerCalls = {
    answer: async (...of: unknown[]) => {
      asked.push(of)
      return { kind: 'done', answer: 7 }
    },
  }
  const app = await buildRestApplication(fakeContext(new FakeEngine(), { forwarding, peerCalls }))
  t.after(() => app.close())
  const post = (headers: Record<string, string>) =>
    app.inject({ method: 'POST', url: peerCallPath('reports'), headers, payload: { term: 3 } })
  const answer = await post({ 'x-lockstep-forwarded': '1002 good' })
  deepStrictEqual([answer.statusCode, answer.json()], [200, { kind: 'done', answer: 7 }])
  deepStrictEqual(asked, [['reports', { term: 3 }, 1002]])
  const forged = await post({ 'x-lockstep-forwarded': '1002 bad' })
  strictEqual(forged.statusCode, 401)
  const unsigned = await post({})
  strictEqual(unsigned.statusCode, 401)
  match(unsigned.json().message, /only nodes of this cluster/)
  strictEqual(asked.length, 1)
  const { paths = {} } = app.swagger() as { paths?: object }
  strictEqual(
    Object.keys(paths).some(path => path.startsWith('/lockstep/')),
    false,
  )
})

test('a node without others answers no calls', async t => {
  const app = await buildRestApplication(fakeContext(new FakeEngine()))
  t.after(() => app.close())
  const { statusCode } = await app.inject({ method: 'POST', url: peerCallPath('reports'), payload: {} })
  strictEqual(statusCode, 404)
})
