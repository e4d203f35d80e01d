/** How the operator's page is served, and that pages of others change nothing. */
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { FAKE_CLUSTER_ID, FakeEngine, fakeContext } from '../fakes/fake-engine.ts'
import { noLogin, type PageFile } from '../ports.ts'
import { buildRestApplication } from '../server.ts'

const file = (contentType: string, text: string): PageFile => ({
  contentType,
  bytes: Buffer.from(text),
  gzipped: gzipSync(text),
})

const page = new Map([
  ['index.html', file('text/html; charset=utf-8', '<!doctype html>')],
  ['assets/index-1.js', file('text/javascript; charset=utf-8', 'render()')],
])

async function withApp(change: Parameters<typeof fakeContext>[1] = {}) {
  const engine = new FakeEngine()
  const app = await buildRestApplication(fakeContext(engine, { page, ...change }))
  return Object.assign(app, { engine, [Symbol.asyncDispose]: () => app.close() })
}

/** Refuses whoever shows nothing. */
const closed = { ...noLogin, anonymousAllowed: false }

test('the page and its files are served to anybody, with a policy that allows no other host', async () => {
  await using app = await withApp({ login: closed })
  const index = await app.inject('/')
  deepStrictEqual([index.statusCode, index.body], [200, '<!doctype html>'])
  const policy = String(index.headers['content-security-policy'])
  match(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; .*frame-ancestors 'none'$/)
  strictEqual(/unsafe|https?:|\*/.test(policy), false)
  strictEqual(index.headers['x-content-type-options'], 'nosniff')
  strictEqual(index.headers['cache-control'], 'no-cache')
  const script = await app.inject({ url: '/assets/index-1.js', headers: { 'accept-encoding': 'gzip, br' } })
  strictEqual(script.headers['content-encoding'], 'gzip')
  match(String(script.headers['cache-control']), /immutable/)
  strictEqual((await app.inject('/assets/other.js')).statusCode, 404)
  strictEqual((await app.inject('/assets/..%2findex.html')).statusCode, 404)
})

test('without a built page / says how to build one', async () => {
  await using app = await withApp({ page: undefined })
  const answer = await app.inject('/')
  strictEqual(answer.statusCode, 404)
  match(answer.body, /npm start/)
})

test('the page is told to log in without a window of the browser’s own', async () => {
  await using app = await withApp({ login: closed })
  const plain = await app.inject('/kafka/v3/clusters')
  const byPage = await app.inject({ url: '/kafka/v3/clusters', headers: { 'x-lockstep-page': '1' } })
  deepStrictEqual([plain.statusCode, byPage.statusCode], [401, 401])
  match(String(plain.headers['www-authenticate']), /^Basic/)
  strictEqual(byPage.headers['www-authenticate'], undefined)
})

test('a page of another site changes nothing, whoever the browser says is logged in', async () => {
  await using app = await withApp()
  const url = `/kafka/v3/clusters/${FAKE_CLUSTER_ID}/links/west/tasks/AclSync:run`
  const statusOf = async (headers: Record<string, string>) =>
    (await app.inject({ method: 'POST', url, headers: { host: 'node:8090', ...headers } })).statusCode
  strictEqual(await statusOf({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }), 403)
  strictEqual(await statusOf({ 'sec-fetch-site': 'same-site', origin: 'http://node:1' }), 403)
  strictEqual(await statusOf({ origin: 'http://evil.example' }), 403)
  strictEqual(await statusOf({ origin: 'null' }), 403)
  strictEqual(app.engine.calls.length, 0)
  strictEqual(await statusOf({ 'sec-fetch-site': 'same-origin', origin: 'http://node:8090' }), 204)
  strictEqual(await statusOf({ origin: 'http://node:8090' }), 204)
  strictEqual(await statusOf({}), 204)
})

test('the dry run of a deletion tells the same, and deletes nothing', async () => {
  await using app = await withApp()
  const topics = `/kafka/v3/clusters/${FAKE_CLUSTER_ID}/topics`
  await app.inject({ method: 'POST', url: topics, payload: { topic_name: 'orders', partitions_count: 1 } })
  const url = `${topics}/orders?report=true`
  const dry = await app.inject({ method: 'DELETE', url: `${url}&validate_only=true` })
  strictEqual(dry.statusCode, 200)
  strictEqual((await app.inject(`${topics}/orders`)).statusCode, 200)
  deepStrictEqual((await app.inject({ method: 'DELETE', url })).json(), dry.json())
  strictEqual((await app.inject(`${topics}/orders`)).statusCode, 404)
})
