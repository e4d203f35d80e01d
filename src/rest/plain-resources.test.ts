/** The plain v3 resources and what requests are refused for, tried through injected requests; every answer is held against the OpenAPI document. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { InjectOptions } from 'fastify'
import type { GroupLagView, GroupView } from './cluster-ports.ts'
import type { RestContext } from './context.ts'
import { fakeGroups } from './fakes/fake-cluster.ts'
import { FAKE_CLUSTER_ID, FakeEngine, fakeContext } from './fakes/fake-engine.ts'
import { OpenApiAnswers } from './fakes/openapi-answers.ts'
import { noLogin } from './ports.ts'
import { buildRestApplication } from './server.ts'

const BASE = `/kafka/v3/clusters/${FAKE_CLUSTER_ID}`

/** Asks the application; every answer is as the document says. */
async function asking(t: TestContext, change: Partial<RestContext> = {}) {
  const app = await buildRestApplication(fakeContext(new FakeEngine(), change))
  t.after(() => app.close())
  const document = new OpenApiAnswers(app.swagger())
  return async (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, more: InjectOptions = {}) => {
    const url = path.startsWith('/kafka') ? path : `${BASE}${path}`
    const answer = await app.inject({ method, url, ...more })
    const text = answer.body
    deepStrictEqual(document.problems(method, url.split('?')[0] ?? '', { status: answer.statusCode, text }), [])
    return { status: answer.statusCode, body: text === '' ? undefined : answer.json(), headers: answer.headers }
  }
}

const member = { memberId: 'm/1', instanceId: null, clientId: 'c', assignment: [{ topic: 'orders', partition: 0 }] }
const group: GroupView = {
  groupId: 'a group',
  state: 'PreparingRebalance',
  type: 'classic',
  isSimple: false,
  assignor: '',
  members: [member],
}
const lags: GroupLagView[] = [
  { topic: 'hidden', partition: 0, currentOffset: 0, logEndOffset: 100, member: undefined },
  { topic: 'orders', partition: 0, currentOffset: 12, logEndOffset: 10, member },
  { topic: 'orders', partition: 1, currentOffset: 3, logEndOffset: 10, member: undefined },
  { topic: 'orders', partition: 2, currentOffset: 3, logEndOffset: null, member: undefined },
]

test('a topic is checked, created, grown, configured and deleted', async t => {
  const ask = await asking(t)
  const payload = { topic_name: 'orders', partitions_count: 2, configs: [{ name: 'retention.ms' }] }
  strictEqual((await ask('POST', '/topics', { payload: { ...payload, validate_only: true } })).status, 200)
  strictEqual((await ask('GET', '/topics/orders')).body.error_code, 40403)
  strictEqual((await ask('POST', '/topics', { payload })).status, 201)
  const grown = await ask('PATCH', '/topics/orders', { payload: { partitions_count: 3 } })
  deepStrictEqual([grown.status, grown.body.partitions_count], [200, 3])
  strictEqual((await ask('PUT', '/topics/orders/configs/retention.ms', { payload: { value: '5' } })).status, 204)
  const set = await ask('GET', '/topics/orders/configs/retention.ms')
  deepStrictEqual([set.body.value, set.body.is_default, set.body.synonyms.length], ['5', false, 2])
  strictEqual((await ask('GET', '/topics/orders/default-configs')).body.data[0].is_default, true)
  const nothing = { payload: { data: [{ name: 'retention.ms' }] } }
  strictEqual((await ask('POST', '/topics/orders/configs:alter', nothing)).status, 400)
  const reset = { payload: { data: [{ name: 'retention.ms', operation: 'DELETE' }] } }
  strictEqual((await ask('POST', '/topics/orders/configs:alter', reset)).status, 204)
  strictEqual((await ask('GET', '/topics/orders/configs')).body.data[0].is_default, true)
  strictEqual((await ask('GET', '/topics/orders/partitions/2/replicas/1')).body.is_leader, true)
  strictEqual((await ask('GET', '/topics/orders/partitions/3')).status, 404)
  strictEqual((await ask('GET', '/topics/orders/partitions/x')).status, 400)
  strictEqual((await ask('GET', '/brokers/1/partition-replicas')).body.data.length, 3)
  strictEqual((await ask('DELETE', '/topics/orders')).status, 204)
  strictEqual((await ask('GET', '/topics')).body.data.length, 0)
})

test('names of groups and members may hold anything, and links to them lead back', async t => {
  const ask = await asking(t, { groups: fakeGroups([group], () => lags) })
  const { body } = await ask('GET', '/consumer-groups')
  strictEqual(body.data[0].state, 'PREPARING_REBALANCE')
  const consumers = await ask('GET', new URL(body.data[0].consumers.related).pathname)
  const assignments = await ask('GET', new URL(consumers.body.data[0].assignments.related).pathname)
  const lag = await ask('GET', new URL(assignments.body.data[0].lag.related).pathname)
  strictEqual(lag.body.consumer_id, 'm/1')
})

test('a commit ahead of the log end is no negative lag, an unknown end is left out, hidden topics too', async t => {
  const access: RestContext['access'] = {
    firstDenied: (_client, needs) => needs.find(({ name }) => name === 'hidden'),
  }
  const ask = await asking(t, { access, groups: fakeGroups([group], () => lags) })
  const { body } = await ask('GET', '/consumer-groups/a%20group/lags')
  deepStrictEqual(
    body.data.map((row: { partition_id: number; lag: number }) => [row.partition_id, row.lag]),
    [
      [0, 0],
      [1, 7],
    ],
  )
  const summary = await ask('GET', '/consumer-groups/a%20group/lag-summary')
  deepStrictEqual(
    [summary.body.max_lag, summary.body.total_lag, summary.body.max_lag_partition_id, summary.body.max_lag_consumer_id],
    [7, 7, 1, ''],
  )
  strictEqual((await ask('GET', '/consumer-groups/a%20group/lags/hidden/partitions/0')).status, 403)
  strictEqual((await ask('GET', '/consumer-groups/a%20group/lags/orders/partitions/2')).status, 404)
  strictEqual((await ask('GET', '/consumer-groups/none/lag-summary')).body.error_code, 40403)
})

test('ACLs are created, found and deleted by filters that say what they mean', async t => {
  const ask = await asking(t)
  const payload = {
    resource_type: 'TOPIC',
    resource_name: 'orders',
    pattern_type: 'LITERAL',
    principal: 'User:alice',
    host: '*',
    operation: 'READ',
    permission: 'ALLOW',
  }
  strictEqual((await ask('POST', '/acls', { payload })).status, 201)
  strictEqual((await ask('POST', '/acls:batch', { payload: { data: [{ ...payload, host: '::1' }] } })).status, 201)
  const { body } = await ask('GET', '/acls?principal=User%3Aalice')
  strictEqual(body.data.length, 2)
  const { pathname, search } = new URL(body.data[0].metadata.self)
  strictEqual((await ask('GET', `${pathname}${search}`)).body.data.length, 1)
  strictEqual((await ask('DELETE', '/acls')).status, 400)
  strictEqual((await ask('DELETE', `${pathname}${search}`)).body.data.length, 1)
  strictEqual((await ask('GET', '/acls')).body.data.length, 1)
})

test('nodes tell what they lead and whether they are well', async t => {
  const { body } = await (await asking(t))('GET', '/nodes')
  deepStrictEqual([body.kind, body.data[0].mode, body.data[0].health], ['KafkaNodeDataList', 'STANDALONE', 'HEALTHY'])
})

test('only a node that has joined the cluster can be removed from it', async t => {
  const ask = await asking(t)
  deepStrictEqual((await ask('DELETE', '/nodes/1')).body.error_code, 40002)
  deepStrictEqual((await ask('DELETE', '/nodes/7')).status, 404)
  deepStrictEqual((await ask('DELETE', '/nodes/1001')).status, 204)
})

test('what is wrong with a body is named; another media type is 415; an empty one is none', async t => {
  const ask = await asking(t)
  const json = { 'content-type': 'application/json' }
  const malformed = await ask('POST', '/topics', { headers: json, payload: '{"topic_name": }' })
  deepStrictEqual([malformed.status, malformed.body.error_code], [400, 400])
  match(malformed.body.message, /^the body is not JSON: Unexpected token/)
  const unknown = await ask('POST', '/topics', { payload: { topic_name: 't', partitions: 2 } })
  match(unknown.body.message, /"partitions" is not known/)
  const polluting = await ask('POST', '/topics', { headers: json, payload: '{"topic_name":"t","__proto__":{}}' })
  strictEqual(polluting.status, 400)
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/xml']) {
    const other = await ask('POST', '/topics', { headers: { 'content-type': type }, payload: 'a=b' })
    deepStrictEqual([other.status, other.body.error_code], [415, 415])
  }
  const large = await ask('POST', '/topics', { headers: json, payload: `{"topic_name":"${'x'.repeat(5_000_000)}"}` })
  deepStrictEqual([large.status, large.body.error_code], [413, 413])
  strictEqual((await ask('POST', '/links/west/tasks/AclSync:run', { headers: json, payload: '' })).status, 204)
  const undecodable = await ask('GET', '/topics/%ff')
  deepStrictEqual([undecodable.status, undecodable.body.error_code], [400, 400])
})

test('without a login a name that is not this node’s is refused, with one it is not looked at', async t => {
  const isTrustedHost = (host: string) => host === 'localhost'
  const ask = await asking(t, { login: { ...noLogin, isTrustedHost } })
  const foreign = await ask('GET', '/topics', { headers: { host: 'evil.example' } })
  deepStrictEqual([foreign.status, foreign.body.error_code], [403, 40301])
  match(foreign.body.hint, /rest\.advertised\.listeners/)
  strictEqual((await ask('GET', '/topics', { headers: { host: 'localhost' } })).status, 200)
  const principal = { type: 'User', name: 'alice' } as const
  const known = { ...noLogin, isTrustedHost, identify: async () => ({ kind: 'known', principal }) as const }
  const askKnown = await asking(t, { login: known })
  const answer = await askKnown('GET', '/topics', { headers: { host: 'evil.example' } })
  ok(answer.status === 200)
})
