/** Preflights of links through injected requests. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { FAKE_CLUSTER_ID, FakeEngine, fakeContext } from '../fakes/fake-engine.ts'
import { buildRestApplication } from '../server.ts'

const url = `/kafka/v3/clusters/${FAKE_CLUSTER_ID}/links:preflight`

test('a preflight answers every check, and is ok while none has failed', async t => {
  const engine = new FakeEngine()
  const app = await buildRestApplication(fakeContext(engine))
  t.after(() => app.close())
  const post = async (query: string, payload: object) => {
    const answer = await app.inject({ method: 'POST', url: `${url}${query}`, payload })
    return { status: answer.statusCode, body: answer.json() }
  }
  engine.checks = [{ name: 'LOGIN', state: 'WARNING', message: 'Hm.', hint: null }]
  const configs = [{ name: 'bootstrap.servers', value: 'a:1' }]
  const warned = await post('?link_name=west', { configs, source_cluster_id: 'abc' })
  strictEqual(warned.status, 200)
  deepStrictEqual(warned.body, { kind: 'KafkaLinkPreflight', ok: true, results: engine.checks })
  engine.checks = [{ name: 'LOGIN', state: 'FAILED', message: 'No.', hint: 'Do.' }]
  strictEqual((await post('', { configs })).body.ok, false)
  const [named, unnamed] = engine.calls.map(call => call.arguments[0] as { name: string; sourceClusterId: string })
  strictEqual(named?.name, 'west')
  strictEqual(named?.sourceClusterId, 'abc')
  strictEqual(unnamed?.name, 'unnamed-preflight')
  strictEqual((await post('', { config: [] })).status, 400)
})
