/** The REST surface tried through injected requests: paths, codes, envelopes and refusals of rest-and-cli §1. */
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import type { TSchema } from 'typebox'
import { Value } from 'typebox/value'
import { OperationalError } from '../core/errors.ts'
import { ZERO_UUID } from '../core/uuid.ts'
import { FAKE_CLUSTER_ID, FakeEngine, fakeContext, fakeLink, fakeMirror } from './fakes/fake-engine.ts'
import type { AccessCheck } from './ports.ts'
import { LinkConfigDataList, LinkData, LinkDataList } from './schemas/links.ts'
import { AlterMirrorsAnswer, MirrorData, MirrorDataList } from './schemas/mirrors.ts'
import { buildRestApplication } from './server.ts'

const BASE = `/kafka/v3/clusters/${FAKE_CLUSTER_ID}`

async function withApp(engine: FakeEngine, change: Parameters<typeof fakeContext>[1] = {}) {
  const app = await buildRestApplication(fakeContext(engine, change))
  return Object.assign(app, { [Symbol.asyncDispose]: () => app.close() })
}

/** Holds an answer against the schema that documents it. */
function matches(schema: TSchema, value: unknown): void {
  deepStrictEqual(
    [...Value.Errors(schema, value)].map(error => error.message),
    [],
  )
}

test('a link is created with 204 and the engine receives what the body said', async () => {
  const engine = new FakeEngine()
  await using app = await withApp(engine)
  const answer = await app.inject({
    method: 'POST',
    url: `${BASE}/links?link_name=west&validate_link=false&foreign_parameter=1`,
    payload: { source_cluster_id: 'abc', configs: [{ name: 'bootstrap.servers', value: 'a:1' }] },
  })
  strictEqual(answer.statusCode, 204)
  strictEqual(answer.body, '')
  const [request, options] = (engine.calls[0]?.arguments ?? []) as [
    { name: string; configs: Map<string, string> },
    object,
  ]
  strictEqual(request.name, 'west')
  deepStrictEqual([...request.configs], [['bootstrap.servers', 'a:1']])
  deepStrictEqual(options, { validateOnly: false, validateLink: false })
})

test('with report=true create answers 200 with the link id', async () => {
  await using app = await withApp(new FakeEngine())
  const answer = await app.inject({ method: 'POST', url: `${BASE}/links?link_name=w&report=true`, payload: {} })
  strictEqual(answer.statusCode, 200)
  strictEqual(answer.json().cluster_link_id.length, 22)
})

test('an unknown JSON field is refused with 400 and nothing is created', async () => {
  const engine = new FakeEngine()
  await using app = await withApp(engine)
  const answer = await app.inject({
    method: 'POST',
    url: `${BASE}/links?link_name=west`,
    payload: { sourceClusterId: 'x' },
  })
  strictEqual(answer.statusCode, 400)
  strictEqual(answer.json().error_code, 400)
  match(answer.json().message, /additional properties/)
  strictEqual(engine.calls.length, 0)
})

test('malformed JSON is refused with the message of the parser', async () => {
  await using app = await withApp(new FakeEngine())
  const answer = await app.inject({
    method: 'POST',
    url: `${BASE}/links?link_name=west`,
    headers: { 'content-type': 'application/json' },
    payload: '{"configs": [',
  })
  strictEqual(answer.statusCode, 400)
  strictEqual(answer.json().error_code, 400)
  match(answer.json().message, /JSON/)
})

test('links are listed and described in their envelopes, tasks only when asked', async () => {
  const engine = new FakeEngine()
  engine.links = [fakeLink('west', ZERO_UUID)]
  await using app = await withApp(engine)
  const list = (await app.inject(`${BASE}/links`)).json()
  matches(LinkDataList, list)
  strictEqual(list.kind, 'KafkaLinkDataList')
  strictEqual(list.data[0].tasks, undefined)
  strictEqual(list.data[0].link_id, '00000000-0000-0000-0000-000000000000')
  const one = (await app.inject(`${BASE}/links/west?include_tasks=true`)).json()
  matches(LinkData, one)
  const task = { task_name: 'AclSync', state: 'NOT_CONFIGURED', errors: [], last_success_ms: null, reason: 'off' }
  deepStrictEqual(one.tasks, [task])
  match(one.metadata.self, /\/kafka\/v3\/clusters\/[^/]+\/links\/west$/)
})

test('a sensitive config value is never shown', async () => {
  const engine = new FakeEngine()
  engine.links = [fakeLink('west', ZERO_UUID)]
  await using app = await withApp(engine)
  const answer = await app.inject(`${BASE}/links/west/configs`)
  matches(LinkConfigDataList, answer.json())
  strictEqual(answer.body.includes('secret'), false)
})

test('deleting a link answers 200 with an empty body, and with report=true what was failed over', async () => {
  const engine = new FakeEngine()
  await using app = await withApp(engine)
  const plain = await app.inject({ method: 'DELETE', url: `${BASE}/links/west` })
  deepStrictEqual([plain.statusCode, plain.body], [200, ''])
  const forced = await app.inject({ method: 'DELETE', url: `${BASE}/links/west?force=true&report=true` })
  deepStrictEqual(forced.json(), { warnings: [], failed_over: ['orders'] })
  deepStrictEqual(engine.calls[1]?.arguments, ['west', { force: true, validateOnly: false }])
})

test('mirrors are listed over all links with "-" and filtered by status', async () => {
  const engine = new FakeEngine()
  engine.mirrors = [fakeMirror('orders'), fakeMirror('old', { linkName: 'east', status: 'STOPPED' })]
  await using app = await withApp(engine)
  const all = (await app.inject(`${BASE}/links/-/mirrors`)).json()
  matches(MirrorDataList, all)
  strictEqual(all.data.length, 2)
  const stopped = (await app.inject(`${BASE}/links/-/mirrors?mirror_status=STOPPED`)).json()
  deepStrictEqual(
    stopped.data.map((mirror: { mirror_topic_name: string }) => mirror.mirror_topic_name),
    ['old'],
  )
  const one = (await app.inject(`${BASE}/links/west/mirrors/orders?include_state_transition_errors=true`)).json()
  matches(MirrorData, one)
  deepStrictEqual(one.mirror_state_transition_errors, [])
})

test('a mirror is created with 204', async () => {
  const engine = new FakeEngine()
  await using app = await withApp(engine)
  const answer = await app.inject({
    method: 'POST',
    url: `${BASE}/links/west/mirrors`,
    payload: { source_topic_name: 'orders', replication_factor: 1 },
  })
  strictEqual(answer.statusCode, 204)
  strictEqual(engine.calls[0]?.method, 'createMirror')
})

test('every verb of the table is routed and the kind of its answer names it', async () => {
  const engine = new FakeEngine()
  engine.rows = [
    { mirrorTopicName: 'orders', errorCode: 400, errorMessage: 'no', lags: [], partitions: [], openTransactions: 0 },
  ]
  await using app = await withApp(engine)
  const kinds: string[] = []
  for (const verb of ['promote', 'failover', 'pause', 'resume', 'reverse-and-start-mirror', 'truncate-and-restore']) {
    const answer = await app.inject({
      method: 'POST',
      url: `${BASE}/links/west/mirrors:${verb}?validate_only=true`,
      payload: { mirror_topic_names: ['orders'] },
    })
    strictEqual(answer.statusCode, 200, verb)
    matches(AlterMirrorsAnswer, answer.json())
    kinds.push(answer.json().kind)
  }
  strictEqual(new Set(kinds).size, 6)
  deepStrictEqual(engine.calls[1]?.arguments, [
    'west',
    'failover',
    { selection: { names: ['orders'] }, validateOnly: true, together: false },
  ])
})

test('names and a pattern together are refused', async () => {
  await using app = await withApp(new FakeEngine())
  const answer = await app.inject({
    method: 'POST',
    url: `${BASE}/links/west/mirrors:failover`,
    payload: { mirror_topic_names: ['a'], mirror_topic_name_pattern: '.*' },
  })
  deepStrictEqual([answer.statusCode, answer.json().error_code], [400, 40002])
})

test("an engine's error gives its row's status and code, with a hint for the person", async () => {
  const engine = new FakeEngine()
  engine.failure = new OperationalError(
    'X',
    { status: 400, restCode: 40002, kafka: 'INVALID_REQUEST', retriable: false, message: () => '' },
    { message: 'link "west" already exists', hint: 'choose another name' },
  )
  await using app = await withApp(engine)
  const answer = await app.inject({ method: 'POST', url: `${BASE}/links?link_name=west`, payload: {} })
  strictEqual(answer.statusCode, 400)
  deepStrictEqual(answer.json(), {
    error_code: 40002,
    message: 'link "west" already exists',
    hint: 'choose another name',
  })
})

test('an unexpected error gives 500 without its details', async () => {
  const engine = new FakeEngine()
  engine.failure = new Error('password=hunter2')
  await using app = await withApp(engine)
  const answer = await app.inject({ method: 'POST', url: `${BASE}/links?link_name=west`, payload: {} })
  strictEqual(answer.statusCode, 500)
  strictEqual(answer.body.includes('hunter2'), false)
})

test('a foreign cluster id and an unknown path are 404 with an error body', async () => {
  await using app = await withApp(new FakeEngine())
  const foreign = await app.inject('/kafka/v3/clusters/other/links')
  deepStrictEqual([foreign.statusCode, foreign.json().error_code], [404, 40403])
  const unknown = await app.inject('/kafka/v3/nothing')
  deepStrictEqual([unknown.statusCode, unknown.json().error_code], [404, 404])
})

test('until the state is replayed links answer 503 with Retry-After and /readyz says why', async () => {
  const engine = new FakeEngine()
  engine.ready = false
  await using app = await withApp(engine)
  const links = await app.inject(`${BASE}/links`)
  deepStrictEqual([links.statusCode, links.json().error_code, links.headers['retry-after']], [503, 50003, '1'])
  const ready = await app.inject('/readyz')
  deepStrictEqual([ready.statusCode, ready.json().reasons], [503, ['the link state is being replayed']])
  strictEqual((await app.inject('/healthz')).statusCode, 200)
})

test('a node that is ready but does not coordinate the links says why', async () => {
  const engine = new FakeEngine()
  engine.ready = false
  engine.whyNotReady = 'it lacks a key'
  await using app = await withApp(engine, { health: { notReadyReasons: () => [] } })
  const { statusCode, body } = await app.inject(`${BASE}/links`)
  deepStrictEqual(
    [statusCode, JSON.parse(body).message],
    [503, 'this node cannot answer for links yet: it lacks a key'],
  )
})

test('the access port is asked before anything is done', async () => {
  const engine = new FakeEngine()
  engine.links = [fakeLink('west', ZERO_UUID)]
  const access: AccessCheck = { firstDenied: (_principal, needs) => needs.find(need => need.operation !== 'describe') }
  await using app = await withApp(engine, { access })
  strictEqual((await app.inject(`${BASE}/links`)).statusCode, 200)
  const refused = await app.inject({ method: 'POST', url: `${BASE}/links?link_name=x`, payload: {} })
  deepStrictEqual([refused.statusCode, refused.json().error_code], [403, 40301])
  const failover = await app.inject({
    method: 'POST',
    url: `${BASE}/links/west/mirrors:failover`,
    payload: { mirror_topic_names: ['orders'] },
  })
  strictEqual(failover.statusCode, 403)
  strictEqual(engine.calls.length, 0)
})

test('/metrics renders link and mirror families with escaped labels', async () => {
  const engine = new FakeEngine()
  engine.mirrors = [fakeMirror('orders')]
  engine.links = [fakeLink('we"st', ZERO_UUID)]
  await using app = await withApp(engine)
  const answer = await app.inject('/metrics')
  match(answer.headers['content-type'] as string, /^text\/plain; version=0\.0\.4/)
  ok(answer.body.includes('lockstep_mirror_lag_records{link="west",topic="orders",partition="0"} 5\n'))
  ok(answer.body.includes('lockstep_mirror_state{link="west",topic="orders",state="ACTIVE"} 1\n'))
  ok(answer.body.includes('lockstep_link_state{link="we\\"st",state="ACTIVE"} 1\n'))
})

test('/openapi.json describes every served path with the colon of the verbs', async () => {
  await using app = await withApp(new FakeEngine())
  const paths = Object.keys((await app.inject('/openapi.json')).json().paths)
  ok(paths.includes('/kafka/v3/clusters/{cluster_id}/links/{link_name}/mirrors:failover'), paths.join('\n'))
  ok(paths.includes('/kafka/v3/clusters/{cluster_id}/topics/{topic_name}/configs'))
})
