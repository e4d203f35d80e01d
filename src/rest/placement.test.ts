/** Routes about where partitions live in a joined cluster; every answer is held against the OpenAPI document. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { InjectOptions } from 'fastify'
import { FAKE_CLUSTER_ID, FakeEngine, fakeContext, fakeMirror } from './fakes/fake-engine.ts'
import { OpenApiAnswers } from './fakes/openapi-answers.ts'
import { buildRestApplication } from './server.ts'

test('mirrors are moved, nodes drained and resumed, and what is out of place is told', async t => {
  const engine = new FakeEngine()
  engine.mirrors = [fakeMirror('orders', { linkName: 'west' })]
  const app = await buildRestApplication(fakeContext(engine))
  t.after(() => app.close())
  const document = new OpenApiAnswers(app.swagger())
  const ask = async (method: 'GET' | 'POST', path: string, more: InjectOptions = {}) => {
    const url = `/kafka/v3/clusters/${FAKE_CLUSTER_ID}${path}`
    const { statusCode: status, body: text } = await app.inject({ method, url, ...more })
    deepStrictEqual(document.problems(method, url.split('?')[0] ?? '', { status, text }), [])
    return { status, body: text === '' ? undefined : JSON.parse(text) }
  }
  const { body: placement } = await ask('GET', '/placement')
  deepStrictEqual(
    [placement.foreign_partitions[0].state, placement.misplaced_partitions[0].condition],
    ['waiting', 'LED_BY_KAFKA'],
  )
  const payload = { mirror_topic_names: ['orders'], node_id: 1002 }
  const moved = await ask('POST', '/links/west/mirrors:move?validate_only=true', { payload })
  deepStrictEqual([moved.status, moved.body.data[0].target_replicas], [200, [1002, 1001, 1]])
  const drained = await ask('POST', '/nodes/1001:drain', { payload: {} })
  deepStrictEqual([drained.status, drained.body.node_id, drained.body.data.length], [200, 1001, 1])
  strictEqual((await ask('POST', '/nodes/1001:resume', { payload: {} })).status, 204)
  strictEqual((await ask('POST', '/links/west/mirrors:move', { payload: { node_id: 1002 } })).status, 400)
})
