/** What a joined node passes on to the controller, what it answers itself, and what ApiVersions says about it. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { joinedError } from '../../controller/joined/joined-errors.ts'
import { topicByName } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { MetadataApi } from '../../protocol/messages/03-metadata.ts'
import { ApiVersionsApi } from '../../protocol/messages/18-api-versions.ts'
import { CreateTopicsApi } from '../../protocol/messages/19-create-topics.ts'
import { CreatePartitionsApi } from '../../protocol/messages/37-create-partitions.ts'
import { IncrementalAlterConfigsApi } from '../../protocol/messages/44-incremental-alter-configs.ts'
import { AlterClientQuotasApi } from '../../protocol/messages/49-alter-client-quotas.ts'
import { StreamsGroupHeartbeatApi } from '../../protocol/messages/88-streams-group-heartbeat.ts'
import { type ClientWrite, openWriteGate, type WriteGate } from '../../replica/write-gate.ts'
import { FakeCluster } from '../fakes/fake-cluster.ts'
import { clientOf, TestNode } from '../fakes/test-node.ts'

/** A node, and the one that plays its controller. */
async function joined(t: TestContext, file: Record<string, string> = {}, writeGate: WriteGate = openWriteGate) {
  const controller = await TestNode.start()
  const cluster = new FakeCluster(controller)
  const node = await TestNode.start({ joined: cluster, file: new Map(Object.entries(file)), writeGate })
  t.after(async () => {
    await node.close()
    await controller.close()
  })
  return { node, cluster, controller }
}

const newTopic = { name: 'orders', numPartitions: 2, replicationFactor: 1, assignments: [], configs: [] }

test('what the controller decides is passed on as the client sent it, with who the client is', async t => {
  const { node, cluster, controller } = await joined(t)
  const answer = await node.call(CreateTopicsApi, { topics: [newTopic], timeoutMs: 1 }, { client: clientOf('alice') })
  deepStrictEqual([answer?.topics[0]?.errorCode, answer?.topics[0]?.numPartitions], [0, 2])
  ok(topicByName(controller.controller.image, 'orders'))
  strictEqual(topicByName(node.controller.image, 'orders'), undefined)
  const [request] = cluster.forwarded
  deepStrictEqual(
    [request?.apiKey, request?.apiVersion, request?.principal.name, request?.remoteAddress, request?.clientId],
    [19, 7, 'alice', '127.0.0.1', 'test'],
  )
})

test('a controller that is not there is a reason to come again, one that refuses us is none of the client', async t => {
  const { node, cluster } = await joined(t)
  const create = async () =>
    (await node.call(CreateTopicsApi, { topics: [newTopic], timeoutMs: 1 }))?.topics[0]?.errorCode
  cluster.failure = joinedError('CONTROLLER_UNREACHABLE', { tried: [] })
  strictEqual(await create(), ErrorCode.NOT_CONTROLLER)
  cluster.failure = joinedError('ANSWER_LOST', { api: 'CreateTopics', reason: 'closed' })
  strictEqual(await create(), ErrorCode.REQUEST_TIMED_OUT)
  const detail = { address: 'c', api: 'Envelope', error: 'CLUSTER_AUTHORIZATION_FAILED' }
  cluster.failure = joinedError('CONTROLLER_REFUSED', detail)
  strictEqual(await create(), ErrorCode.UNKNOWN_SERVER_ERROR)
})

test('of config changes only those of this process, and of other brokers, are judged here', async t => {
  const { node, cluster } = await joined(t)
  const change = (resourceType: number, resourceName: string, [name, value]: [string, string]) => ({
    resourceType,
    resourceName,
    configs: [{ name, configOperation: 0, value }],
  })
  const answer = await node.call(IncrementalAlterConfigsApi, {
    resources: [
      change(8, '1', ['root', 'DEBUG']),
      change(4, '2', ['log.cleaner.threads', '2']),
      change(4, '', ['log.retention.ms', '1000']),
    ],
    validateOnly: false,
  })
  const codes = new Map(answer?.responses.map(one => [`${one.resourceType} ${one.resourceName}`, one.errorCode]))
  strictEqual(codes.get('4 2'), ErrorCode.INVALID_REQUEST)
  strictEqual(codes.get('4 '), ErrorCode.NONE)
  strictEqual(codes.size, 3)
  strictEqual(cluster.forwarded.length, 1)
  const sent = cluster.forwarded.map(({ body }) => IncrementalAlterConfigsApi.request.decode(body, 1).resources)
  deepStrictEqual(
    sent.flat().map(resource => resource.resourceName),
    [''],
  )
})

test('what a link keeps for itself is refused here, and the rest of the request is passed on', async t => {
  const refusal = { errorCode: ErrorCode.POLICY_VIOLATION, message: 'a mirror' }
  const isKept = (write: ClientWrite) =>
    typeof write === 'string' ? write === 'create-partitions' : write.alterConfigs.includes('cleanup.policy')
  const { node, cluster } = await joined(
    t,
    {},
    {
      refusal: (_topicId, topic, write) => (topic === 'mirror' && isKept(write) ? refusal : undefined),
    },
  )
  for (const name of ['mirror', 'plain']) await node.createTopic(name)
  const change = (resourceName: string, name: string) => ({
    ...{ resourceType: 2, resourceName },
    configs: [{ name, configOperation: 0, value: '1' }],
  })
  const configs = async (...resources: ReturnType<typeof change>[]) => {
    const answer = await node.call(IncrementalAlterConfigsApi, { resources, validateOnly: true })
    return answer?.responses.find(({ resourceName }) => resourceName === 'mirror')?.errorCode
  }
  strictEqual(await configs(change('mirror', 'cleanup.policy'), change('plain', 'cleanup.policy')), refusal.errorCode)
  strictEqual(cluster.forwarded.length, 1)
  ok((await configs(change('mirror', 'min.insync.replicas'))) !== refusal.errorCode)
  strictEqual(cluster.forwarded.length, 2)
  const topics = ['mirror', 'plain'].map(name => ({ name, count: 3, assignments: null }))
  const grown = await node.call(CreatePartitionsApi, { topics, timeoutMs: 1000, validateOnly: true })
  strictEqual(grown?.results.find(({ name }) => name === 'mirror')?.errorCode, refusal.errorCode)
  const [request] = cluster.forwarded.slice(2)
  deepStrictEqual(
    CreatePartitionsApi.request.decode(request?.body ?? Buffer.alloc(0), 3).topics.map(({ name }) => name),
    ['plain'],
  )
})

test('ApiVersions tells what is served in a joined cluster, of the controller no more than it takes', async t => {
  const { node, cluster } = await joined(t)
  const announced = async () => {
    const answer = await node.call(ApiVersionsApi, { clientSoftwareName: 'a', clientSoftwareVersion: '1' })
    return new Map(answer?.apiKeys.map(({ apiKey, minVersion, maxVersion }) => [apiKey, [minVersion, maxVersion]]))
  }
  const all = await announced()
  for (const key of [38, 39, 40, 41, 49, 76, 77, 78, 79, 88, 89, 90, 91, 92]) ok(all.has(key), `api ${key}`)
  for (const telemetry of [71, 72]) ok(!all.has(telemetry))
  cluster.versions.set(19, { min: 2, max: 5 })
  cluster.versions.set(45, { min: 5, max: 6 })
  const limited = await announced()
  deepStrictEqual(limited.get(19), [2, 5])
  ok(!limited.has(45))
  deepStrictEqual(limited.get(1), all.get(1))
})

test('APIs that only the controller has are passed on, groups of other kinds have their coordinators elsewhere', async t => {
  const { node, cluster } = await joined(t)
  cluster.failure = joinedError('CONTROLLER_UNREACHABLE', { tried: [] })
  const entity = [{ entityType: 'user', entityName: 'alice' }]
  const quotas = await node.call(AlterClientQuotasApi, { entries: [{ entity, ops: [] }], validateOnly: true })
  strictEqual(quotas?.entries[0]?.errorCode, ErrorCode.NOT_CONTROLLER)
  const streams = { groupId: 'g', memberId: 'm', memberEpoch: 0, endpointInformationEpoch: 0 }
  strictEqual((await node.call(StreamsGroupHeartbeatApi, streams))?.errorCode, ErrorCode.NOT_COORDINATOR)
})

test('a topic that a client asks about is created under the rights of that client, with the defaults of the file', async t => {
  const { node, cluster } = await joined(t, { 'auto.create.topics.enable': 'true', 'num.partitions': '3' })
  const asked = { topics: [{ name: 'fresh' }], allowAutoTopicCreation: true }
  const answer = await node.call(MetadataApi, asked, { client: clientOf('bob') })
  strictEqual(answer?.topics[0]?.errorCode, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
  strictEqual(cluster.forwarded[0]?.principal.name, 'bob')
  const [created] = cluster.forwarded.flatMap(({ body }) => CreateTopicsApi.request.decode(body, 7).topics)
  deepStrictEqual([created?.name, created?.numPartitions, created?.replicationFactor], ['fresh', 3, -1])
  cluster.failure = joinedError('CONTROLLER_UNREACHABLE', { tried: [] })
  const later = await node.call(MetadataApi, { topics: [{ name: 'later' }], allowAutoTopicCreation: true })
  strictEqual(later?.topics[0]?.errorCode, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
})
