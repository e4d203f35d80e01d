/**
 * The REST surface of a node held to its contract: every operation of links (L1–L9), mirrors (M1–M11) and our
 * own additions to them, against schemas written by hand (`test/contract/`), strict about names, types, nulls, status
 * codes and bodies of errors, lenient about further fields. Each answer is held against the node's own OpenAPI document too.
 *
 * The schemas were compared once with the OpenAPI document in the open-source Go SDK of that API (kafkarest/v3, links, mirrors,
 * topics, configs, consumer groups, ACLs) and with that of the open-source REST proxy (plain resources): names, types, required
 * fields, nulls, enumerations and status codes. Where they differ from what servers really answer, the contract follows servers:
 * values of sensitive configs are null, DEFAULT_CONFIG is a source, creating a link answers 204, 429 is JSON. All operations of that
 * SDK, built from its sources, were run against a node once, too, and decoded every answer. It is no part of the tests, since the
 * module cannot be had from the module proxy. Topics and the other plain resources are in `rest-contract-plain.suite.ts`.
 */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { bareStatus } from '../contract/bare-status.ts'
import { ContractClient, type Question } from '../contract/contract-client.ts'
import * as links from '../contract/links.ts'
import * as mirrors from '../contract/mirrors.ts'
import * as own from '../contract/own-additions.ts'
import type { Shape } from '../contract/shapes.ts'
import { eventually } from '../eventually.ts'
import { sourceVersion } from '../kafka/jars.ts'
import { skipWithout } from '../requirements.ts'
import { waitUntilInStep } from '../scenarios/equality.ts'
import { type MirrorWorld, startMirrorWorld } from '../scenarios/mirror-world.ts'

const skip = skipWithout('java')
let world: MirrorWorld
let client: ContractClient
let document: unknown

before(async () => {
  if (skip !== false) return
  world = await startMirrorWorld(sourceVersion())
  const { node, sides } = world
  document = (await node.rest.request('GET', '/openapi.json')).body
  client = new ContractClient(node.rest.origin, node.clusterId, document)
  for (const topic of ['orders', 'payments', 'kept', 'wide']) {
    await sides.source.createTopic(topic, { partitions: 2 })
    await sides.source.produce(topic, { generate: { count: 20 } })
  }
})
after(() => world?.close())

const read = (path: string, shape: Shape) => client.read(path, shape)
const ask = (question: Question, status: number, shape?: Shape) =>
  client.ask(question, { status, ...(shape ? { shape } : {}) })
const refused = (question: Question, codes: readonly [number, number], message?: string) =>
  client.refused(question, codes, message)
const L = '/links/from-kafka'
const base = () => `/kafka/v3/clusters/${world.node.clusterId}`

test('the OpenAPI document is valid', { skip }, async () => {
  const { valid, errors } = await new Validator().validate(structuredClone(document) as Record<string, unknown>)
  deepStrictEqual([valid, errors], [true, undefined])
})

test('L1–L4: links are listed, created, described and deleted', { skip }, async () => {
  const { bootstrap, clusterId } = world.cluster
  const body = { source_cluster_id: clusterId, configs: [{ name: 'bootstrap.servers', value: bootstrap }] }
  await read('/links', links.linkList)
  await ask({ method: 'POST', path: '/links?link_name=second&validate_only=true', body }, 204)
  await refused({ method: 'GET', path: '/links/second' }, [404, 40403], "^The cluster link doesn't exist")
  await ask({ method: 'POST', path: '/links?link_name=second&validate_link=true&unknown_parameter=1', body }, 204)
  await read('/links/second', links.link)
  await read('/links/second?include_tasks=true', links.linkWithTasks)
  await refused({ method: 'POST', path: '/links?link_name=second', body }, [400, 40002], 'already exists')
  await refused({ method: 'POST', path: '/links', body }, [400, 400])
  await refused({ method: 'POST', path: '/links?link_name=a%20b', body }, [400, 40002], '^Invalid Cluster Link Name')
  await ask({ method: 'DELETE', path: '/links/second?validate_only=true' }, 200)
  await read('/links/second', links.link)
  await ask({ method: 'DELETE', path: '/links/second' }, 200)
  await refused({ method: 'DELETE', path: '/links/second' }, [404, 40403], "^The cluster link doesn't exist")
})

test('L5–L9: properties of a link are listed, described, set, reset and changed together', { skip }, async () => {
  await read(`${L}/configs`, links.linkConfigList)
  await read(`${L}/configs/consumer.offset.sync.ms`, links.linkConfig)
  await refused({ method: 'GET', path: `${L}/configs/no.such.config` }, [404, 40403], '^Invalid Config Name')
  const place = `${L}/configs/acl.sync.ms`
  await ask({ method: 'PUT', path: place, body: { value: '6000' } }, 204)
  const set = (await read(place, links.linkConfig)) as Record<string, unknown>
  deepStrictEqual([set['value'], set['is_default'], set['source']], ['6000', false, 'DYNAMIC_CLUSTER_LINK_CONFIG'])
  await ask({ method: 'DELETE', path: place }, 204)
  const reset = (await read(place, links.linkConfig)) as Record<string, unknown>
  deepStrictEqual([reset['value'], reset['is_default'], reset['source']], ['5000', true, 'DEFAULT_CONFIG'])
  const data = [
    { name: 'acl.sync.ms', value: '5100' },
    { name: 'consumer.offset.sync.ms', operation: 'DELETE' },
  ]
  await ask({ method: 'PUT', path: `${L}/configs:alter?validate_only=true`, body: { data } }, 204)
  await ask({ method: 'PUT', path: `${L}/configs:alter`, body: { data, validate_only: true } }, 204)
  strictEqual(((await read(place, links.linkConfig)) as Record<string, unknown>)['value'], '5000')
  await ask({ method: 'PUT', path: `${L}/configs:alter`, body: { data, validate_only: false } }, 204)
  await refused({ method: 'PUT', path: place, body: { value: 'often' } }, [400, 40002])
  await refused({ method: 'PUT', path: `${L}/configs/bootstrap.server`, body: { value: 'x' } }, [400, 40002])
})

test('M1–M4: mirrors are created, listed by link and status, and described', { skip }, async () => {
  for (const topic of ['orders', 'payments', 'kept']) {
    await ask({ method: 'POST', path: `${L}/mirrors`, body: { source_topic_name: topic } }, 204)
    await waitUntilInStep(world.sides, topic)
  }
  await read('/links/-/mirrors', mirrors.mirrorList)
  await read(`${L}/mirrors`, mirrors.mirrorList)
  const active = (await read(`${L}/mirrors?mirror_status=ACTIVE`, mirrors.mirrorList)) as { data: unknown[] }
  strictEqual(active.data.length, 3)
  const stopped = (await read('/links/-/mirrors?mirror_status=STOPPED', mirrors.mirrorList)) as { data: unknown[] }
  strictEqual(stopped.data.length, 0)
  await read(`${L}/mirrors/orders`, mirrors.mirror)
  await read(`${L}/mirrors/orders?include_state_transition_errors=true`, mirrors.mirrorWithErrors)
  const again = { method: 'POST', path: `${L}/mirrors`, body: { source_topic_name: 'orders' } } as const
  await refused(again, [400, 40002], "^Topic 'orders' already exists\\.")
  const renamed = { source_topic_name: 'wide', mirror_topic_name: 'narrow' }
  await refused({ method: 'POST', path: `${L}/mirrors`, body: renamed }, [400, 40035])
  await refused({ method: 'POST', path: `${L}/mirrors`, body: { source_topic_name: 'x'.repeat(250) } }, [400, 40002])
  await refused({ method: 'POST', path: `${L}/mirrors`, body: {} }, [400, 400])
  await refused({ method: 'POST', path: '/links/none/mirrors', body: { source_topic_name: 'wide' } }, [404, 40403])
  await refused({ method: 'GET', path: `${L}/mirrors/none` }, [404, 40403])
  await refused({ method: 'GET', path: '/links/none/mirrors' }, [404, 40403])
})

test('M5–M11: verbs answer 200 with a row per topic, dry runs change nothing', { skip }, async () => {
  const verb = (name: string, kind: string, topics: readonly string[]) =>
    ask(
      { method: 'POST', path: `${L}/mirrors:${name}`, body: { mirror_topic_names: topics } },
      200,
      mirrors.altered(kind),
    ) as Promise<{ data: { mirror_topic_name: string; error_code: number | null }[] }>
  const statusOf = async (topic: string) =>
    ((await read(`${L}/mirrors/${topic}`, mirrors.mirror)) as { mirror_status: string }).mirror_status
  await verb('promote?validate_only=true', 'KafkaPromoteMirror', ['orders'])
  await verb('failover?validate_only=true', 'KafkaFailoverMirror', ['orders'])
  strictEqual(await statusOf('orders'), 'ACTIVE')
  await verb('pause', 'KafkaPauseMirror', ['kept'])
  strictEqual(await statusOf('kept'), 'PAUSED')
  await verb('resume', 'KafkaResumeMirror', ['kept'])
  await verb('promote', 'KafkaPromoteMirror', ['orders'])
  await eventually(async () => strictEqual(await statusOf('orders'), 'STOPPED'))
  const rows = await verb('failover', 'KafkaFailoverMirror', ['payments', 'orders', 'none'])
  deepStrictEqual(
    rows.data.map(row => [row.mirror_topic_name, (row.error_code ?? 0) === 0]),
    [
      ['payments', true],
      ['orders', false],
      ['none', false],
    ],
  )
  for (const [name, kind] of [
    ['reverse-and-start-mirror', 'KafkaReverseAndStartMirror'],
    ['reverse-and-pause-mirror', 'KafkaReverseAndPauseMirror'],
    ['truncate-and-restore', 'KafkaTruncateAndRestoreMirror'],
  ] as const) {
    const { data } = await verb(`${name}?validate_only=true`, kind, ['kept'])
    ok((data[0]?.error_code ?? 0) !== 0, `${name} needs the other half of a bidirectional link, and says so`)
  }
  const pattern = { method: 'POST', path: `${L}/mirrors:pause?validate_only=true` } as const
  const byPattern = (await ask(
    { ...pattern, body: { mirror_topic_name_pattern: 'kep.' } },
    200,
    mirrors.altered('KafkaPauseMirror'),
  )) as { data: unknown[] }
  strictEqual(byPattern.data.length, 1)
  await refused({ method: 'PATCH', path: '/topics/kept', body: { partitions_count: 9 } }, [400, 40002], 'kept')
  const both = { mirror_topic_names: ['kept'], mirror_topic_name_pattern: '.*' }
  await refused({ ...pattern, body: both }, [400, 40002])
  await refused({ ...pattern, body: {} }, [400, 40002])
  await refused({ ...pattern, body: { mirror_topic_name_pattern: '(' } }, [400, 40002])
})

test('errors: status, code and message are those of the contract', { skip }, async () => {
  const post = { method: 'POST', path: '/links?link_name=x' } as const
  await refused({ ...post, rawBody: '{"configs": [' }, [400, 400], 'JSON')
  await refused({ ...post, rawBody: '{"configs": 5}' }, [400, 400])
  await refused({ ...post, body: { sourceClusterId: 'x' } }, [400, 400], '"sourceClusterId"')
  await refused({ ...post, rawBody: 'a=b', headers: { 'content-type': 'text/plain' } }, [415, 415])
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  await refused({ ...post, rawBody: 'a=b', headers: form }, [415, 415])
  // Answered before the body comes: whoever still writes it may find the connection closed.
  const length = { 'content-type': 'application/json', 'content-length': '5000000' }
  strictEqual(
    await bareStatus(`${world.node.rest.origin}${base()}/links?link_name=x`, { method: 'POST', headers: length }),
    413,
  )
  await refused({ method: 'GET', path: '/kafka/v3/clusters/foreign' }, [404, 40403])
  await refused({ method: 'GET', path: '/kafka/v3/clusters/foreign/links' }, [404, 40403])
  await refused({ method: 'GET', path: '/no-such-resource' }, [404, 404])
  const empty = { configs: [{ name: 'bootstrap.servers', value: '127.0.0.1:1' }] }
  await refused({ ...post, body: empty }, [400, 40002])
  await refused({ ...post, body: { configs: [{ name: 'bootstrap.server', value: 'a:1' }] } }, [400, 40002])
  const wrong = { ...empty, source_cluster_id: 'wrong' }
  wrong.configs = [{ name: 'bootstrap.servers', value: world.cluster.bootstrap }]
  await refused({ ...post, body: wrong }, [400, 40002])
  await refused({ method: 'DELETE', path: L }, [403, 40301])
})

test('our own additions: groups, ACLs and history of a link, preflight, tasks, reports', { skip }, async () => {
  await read(`${L}/groups`, own.linkGroupList)
  await read(`${L}/acls`, own.linkAclList)
  await read(`${L}/mirrors/orders/history`, own.historyList)
  await refused({ method: 'POST', path: `${L}/groups/none:adopt` }, [400, 40002])
  await ask({ method: 'POST', path: `${L}/tasks/PartitionSync:run` }, 204)
  await refused({ method: 'POST', path: `${L}/tasks/NoSuchTask:run` }, [400, 40002])
  const { bootstrap } = world.cluster
  const body = { configs: [{ name: 'bootstrap.servers', value: bootstrap }] }
  await ask({ method: 'POST', path: '/links:preflight', body }, 200, own.preflight)
  await ask({ method: 'POST', path: '/links?link_name=third&report=true', body }, 200, own.report)
  await ask({ method: 'DELETE', path: '/links/third?report=true' }, 200, own.report)
  const names = { mirror_topic_names: ['kept'] }
  const move = { ...names, node_id: 1 }
  await refused({ method: 'POST', path: `${L}/mirrors:move`, body: move }, [409, 40902], 'standalone')
  const verification = await ask({ method: 'POST', path: `${L}/mirrors:verify`, body: names }, 202, own.verification)
  const { verification_id: id } = verification as { verification_id: string }
  await read(`${L}/verifications/${id}`, own.verification)
})

test('our own additions: why a topic is mirrored or not, and the topics of the source', { skip }, async () => {
  await read(`${L}/mirrors/orders/explain`, own.explanation)
  await read(`${L}/explain?topic=wide`, own.explanation)
  await read(`${L}/source-topics`, own.sourceTopicList)
})

test('a link with mirrors is deleted with force, and every operation of links in the document was asked', {
  skip,
}, async () => {
  const { failed_over } = (await ask({ method: 'DELETE', path: `${L}?force=true&report=true` }, 200, own.report)) as {
    failed_over: string[]
  }
  deepStrictEqual(failed_over, ['kept'])
  deepStrictEqual(
    client.unseen.filter(name => name.includes('/links') && !name.includes('/verifications')),
    [],
  )
})
