/** Source topics, explanations and what comes back after a deletion, as REST answers. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { Value } from 'typebox/value'
import { FAKE_CLUSTER_ID, FakeEngine, fakeContext } from '../fakes/fake-engine.ts'
import { MirrorExplanation, SourceTopicDataList, TopicDeletionReport } from '../schemas/source-topics.ts'
import { buildRestApplication } from '../server.ts'

const BASE = `/kafka/v3/clusters/${FAKE_CLUSTER_ID}`

async function withApp() {
  const engine = new FakeEngine()
  const app = await buildRestApplication(fakeContext(engine))
  return { engine, app, [Symbol.asyncDispose]: async () => await app.close() }
}

test('topics of a source are listed with the code and the message of what is in the way', async () => {
  await using scene = await withApp()
  const reason = { reason: 'NOT_INCLUDED', message: 'No INCLUDE filter matches it.' }
  const shown = { numPartitions: 2, mirrored: false, mirrorStatus: null, ...reason }
  scene.engine.topics.rows = [{ sourceTopicName: 'orders', mirrorTopicName: 'west-orders', ...shown }]
  const answer = (await scene.app.inject(`${BASE}/links/west/source-topics`)).json()
  strictEqual(Value.Check(SourceTopicDataList, answer), true)
  const { kind, metadata, ...row } = answer.data[0]
  deepStrictEqual(row, {
    link_name: 'west',
    source_topic_name: 'orders',
    mirror_topic_name: 'west-orders',
    num_partitions: 2,
    mirrored: false,
    mirror_status: null,
    ...reason,
  })
})

test('a topic is explained by its name at the source, and by the name of its mirror', async () => {
  await using scene = await withApp()
  for (const path of ['explain?topic=orders', 'mirrors/orders/explain']) {
    const answer = (await scene.app.inject(`${BASE}/links/west/${path}`)).json()
    strictEqual(Value.Check(MirrorExplanation, answer), true, path)
    strictEqual(answer.source_topic_name, 'orders')
    deepStrictEqual(answer.conditions[0].answer, 'NO')
  }
  strictEqual((await scene.app.inject(`${BASE}/links/west/explain`)).statusCode, 400)
})

test('the report of a deletion says that the topic comes back', async () => {
  await using scene = await withApp()
  const topic = { topic_name: 'orders', partitions_count: 1 }
  for (const url of [`${BASE}/topics/orders?report=true`, `${BASE}/topics/orders`]) {
    await scene.app.inject({ method: 'POST', url: `${BASE}/topics`, payload: topic })
    scene.engine.topics.comingBack = [{ linkName: 'west', sourceTopicName: 'orders', withinMs: 300_000 }]
    const answer = await scene.app.inject({ method: 'DELETE', url })
    if (!url.endsWith('report=true')) {
      strictEqual(answer.statusCode, 204)
      continue
    }
    strictEqual(answer.statusCode, 200)
    strictEqual(Value.Check(TopicDeletionReport, answer.json()), true)
    deepStrictEqual(answer.json().comes_back, [{ link_name: 'west', source_topic_name: 'orders', within_ms: 300_000 }])
    deepStrictEqual(answer.json().warnings, [
      "Link 'west' still includes the topic by its filters: it comes back as a mirror within 300 s.",
    ])
  }
})
