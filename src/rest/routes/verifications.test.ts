/** Verify through REST: begun, polled, cancelled, streamed; held against its schemas. */
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { Value } from 'typebox/value'
import { FAKE_CLUSTER_ID, FakeEngine, fakeContext } from '../fakes/fake-engine.ts'
import { VerificationData, VerificationDataList } from '../schemas/verification.ts'
import { buildRestApplication } from '../server.ts'

const BASE = `/kafka/v3/clusters/${FAKE_CLUSTER_ID}/links/west`

async function withApp() {
  const engine = new FakeEngine()
  const app = await buildRestApplication(fakeContext(engine))
  return { engine, app, [Symbol.asyncDispose]: () => app.close() }
}

const begin = { method: 'POST', url: `${BASE}/mirrors:verify` } as const

test('a verification is accepted with 202, polled, listed and cancelled', async () => {
  await using scene = await withApp()
  const payload = { mirror_topic_name_pattern: '.*', from_offset: 5, partitions: [0], max_bytes_per_second: 1000 }
  const accepted = await scene.app.inject({ ...begin, payload })
  strictEqual(accepted.statusCode, 202)
  const data = accepted.json()
  deepStrictEqual([...Value.Errors(VerificationData, data)], [])
  deepStrictEqual([data.state, data.total_offsets, data.done_offsets, data.compared_bytes], ['RUNNING', 20, 10, 200])
  deepStrictEqual(scene.engine.verifications.requests, [
    {
      ...{ selection: { pattern: '.*' }, partitions: [0], fromOffset: 5, toOffset: undefined },
      maxBytesPerSecond: 1000,
    },
  ])
  const url = `${BASE}/verifications/${data.verification_id}`
  strictEqual((await scene.app.inject(url)).json().state, 'RUNNING')
  const listed = (await scene.app.inject(`${BASE}/verifications`)).json()
  deepStrictEqual([...Value.Errors(VerificationDataList, listed)], [])
  strictEqual((await scene.app.inject({ method: 'DELETE', url })).json().state, 'CANCELLED')
  strictEqual((await scene.app.inject(`${BASE}/verifications/unknown`)).statusCode, 404)
})

test('a selection is needed, and fields that are not known are refused', async () => {
  await using scene = await withApp()
  strictEqual((await scene.app.inject({ ...begin, payload: {} })).statusCode, 400)
  const payload = { mirror_topic_names: ['orders'], from: 5 }
  strictEqual((await scene.app.inject({ ...begin, payload })).statusCode, 400)
})

test('streamed, progress names what is at work and the result names everything', async () => {
  await using scene = await withApp()
  const streamed = scene.app.inject({
    ...begin,
    payload: { mirror_topic_names: ['orders'] },
    headers: { accept: 'text/event-stream' },
  })
  while (scene.engine.verifications.requests.length === 0) await new Promise(resolve => setImmediate(resolve))
  await new Promise(resolve => setImmediate(resolve))
  scene.engine.verifications.end('verification-0')
  const answer = await streamed
  match(String(answer.headers['content-type']), /^text\/event-stream/)
  const events = answer.body.split('\n\n').flatMap(text => {
    const [, event, json] = /^event: (\w+)\ndata: (.*)$/.exec(text) ?? []
    return event === undefined ? [] : [{ event, data: JSON.parse(json ?? '') }]
  })
  for (const { data } of events) deepStrictEqual([...Value.Errors(VerificationData, data)], [])
  deepStrictEqual(
    events.map(({ event, data }) => [event, data.topics[0].partitions.map((one: { state: string }) => one.state)]),
    [
      ['progress', ['RUNNING']],
      ['result', ['EQUAL', 'RUNNING']],
    ],
  )
  strictEqual(events.at(-1)?.data.outcome, 'DIFFERENT')
})
