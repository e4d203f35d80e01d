/** Properties of links, histories of mirrors and incident metrics through injected requests. */
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { Value } from 'typebox/value'
import { ZERO_UUID } from '../../core/uuid.ts'
import { FAKE_CLUSTER_ID, FakeEngine, fakeContext, fakeLink, fakeMirror } from '../fakes/fake-engine.ts'
import { LinkConfigData } from '../schemas/links.ts'
import { MirrorStateChangeList } from '../schemas/mirrors.ts'
import { buildRestApplication } from '../server.ts'

const BASE = `/kafka/v3/clusters/${FAKE_CLUSTER_ID}`

async function withApp() {
  const engine = new FakeEngine()
  engine.links = [fakeLink('west', ZERO_UUID)]
  engine.mirrors = [fakeMirror('orders')]
  const app = await buildRestApplication(fakeContext(engine))
  return { engine, app, [Symbol.asyncDispose]: () => app.close() }
}

test('many properties are altered in one request, with SET as the default operation', async () => {
  await using scene = await withApp()
  const data = [
    { name: 'acl.sync.ms', value: '5100' },
    { name: 'acl.filters', operation: 'DELETE' },
  ]
  const url = `${BASE}/links/west/configs:alter`
  const answer = await scene.app.inject({ method: 'PUT', url, payload: { data, validate_only: true } })
  deepStrictEqual([answer.statusCode, answer.body], [204, ''])
  await scene.app.inject({ method: 'PUT', url: `${url}?validate_only=true`, payload: { data: [] } })
  await scene.app.inject({ method: 'PUT', url, payload: { data: [] } })
  deepStrictEqual(
    scene.engine.calls.map(call => call.arguments),
    [
      [
        'west',
        [
          { name: 'acl.sync.ms', operation: 'SET', value: '5100' },
          { name: 'acl.filters', operation: 'DELETE', value: null },
        ],
        { validateOnly: true },
      ],
      ['west', [], { validateOnly: true }],
      ['west', [], { validateOnly: false }],
    ],
  )
  const wrong = { data: [{ name: 'x', value: '1', operation: 'ADD' }] }
  strictEqual((await scene.app.inject({ method: 'PUT', url, payload: wrong })).statusCode, 400)
})

test('a report says what was cleared with a change', async () => {
  await using scene = await withApp()
  const payload = { data: [{ name: 'acl.sync.enable', value: 'false' }] }
  const url = `${BASE}/links/west/configs:alter?report=true`
  const answer = await scene.app.inject({ method: 'PUT', url, payload })
  deepStrictEqual(answer.json(), { warnings: [], cleared_configs: ['acl.filters'] })
})

test('one property is described, set and reset under its own address', async () => {
  await using scene = await withApp()
  const url = `${BASE}/links/west/configs/bootstrap.servers`
  const described = (await scene.app.inject(url)).json()
  strictEqual(Value.Check(LinkConfigData, described), true)
  strictEqual(described.source, 'DYNAMIC_CLUSTER_LINK_CONFIG')
  strictEqual((await scene.app.inject({ method: 'PUT', url, payload: { value: 'a:1' } })).statusCode, 204)
  strictEqual((await scene.app.inject({ method: 'DELETE', url })).statusCode, 204)
  deepStrictEqual(
    scene.engine.calls.map(call => call.arguments[1]),
    [
      [{ name: 'bootstrap.servers', operation: 'SET', value: 'a:1' }],
      [{ name: 'bootstrap.servers', operation: 'DELETE', value: null }],
    ],
  )
  const missing = await scene.app.inject(`${BASE}/links/west/configs/bootstrap.server`)
  strictEqual(missing.statusCode, 404)
  match(missing.json().message, /Invalid Config Name/)
})

test('the history of a mirror is listed, newest first', async () => {
  await using scene = await withApp()
  const answer = (await scene.app.inject(`${BASE}/links/west/mirrors/orders/history`)).json()
  strictEqual(Value.Check(MirrorStateChangeList, answer), true)
  deepStrictEqual(
    answer.data.map((entry: { mirror_status: string; event: string }) => [entry.mirror_status, entry.event]),
    [
      ['PAUSED', 'pause'],
      ['ACTIVE', 'create'],
    ],
  )
})

test('incidents are counted by kind in the metrics', async () => {
  await using scene = await withApp()
  const answer = await scene.app.inject('/metrics')
  match(answer.body, /# TYPE lockstep_incidents_total counter\nlockstep_incidents_total\{kind="truncation"\} 2/)
})
