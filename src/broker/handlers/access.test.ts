/** Tests of ACLs that change while clients are connected, and of answers that must not tell what is hidden. */
import { deepStrictEqual, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { ZERO_UUID } from '../../core/uuid.ts'
import { AclPattern, AclPermission } from '../../metadata/acl.ts'
import { AclOperation, type AclOperationName, AclResource } from '../../metadata/authorizer.ts'
import { StandardAuthorizer } from '../../metadata/standard-authorizer.ts'
import { errorName } from '../../protocol/errors.ts'
import { FetchApi } from '../../protocol/messages/01-fetch.ts'
import { MetadataApi } from '../../protocol/messages/03-metadata.ts'
import { DeleteTopicsApi } from '../../protocol/messages/20-delete-topics.ts'
import { IncrementalAlterConfigsApi } from '../../protocol/messages/44-incremental-alter-configs.ts'
import { clientOf, TestNode } from '../fakes/test-node.ts'

const alice = clientOf('alice')

async function started(file = new Map<string, string>()) {
  const authorizer = new StandardAuthorizer({ superUsers: new Set(['User:admin']), allowIfNoAcl: false })
  const node = await TestNode.start({ authorizer, file })
  for (const topic of ['orders', 'payments']) await node.createTopic(topic)
  const entry = (topic: string, operation: AclOperationName) => ({
    resourceType: AclResource.TOPIC,
    resourceName: topic,
    patternType: AclPattern.LITERAL,
    principal: 'User:alice',
    host: '127.0.0.1',
    operation: AclOperation[operation],
    permissionType: AclPermission.ALLOW,
  })
  return {
    node,
    grant: (topic: string, operation: AclOperationName) => node.controller.acls.createAcls([entry(topic, operation)]),
    revoke: (topic: string, operation: AclOperationName) => node.controller.acls.deleteAcls([entry(topic, operation)]),
    [Symbol.asyncDispose]: () => node.close(),
  }
}

test('a fetch session loses and regains a partition with the ACL, and its other partitions go on', async () => {
  await using scene = await started()
  const { node, grant, revoke } = scene
  await grant('orders', 'READ')
  await grant('payments', 'READ')
  const partition = { partition: 0, fetchOffset: 0n, partitionMaxBytes: 1000 }
  const fetch = async (sessionId: number, sessionEpoch: number, names: readonly string[]) => {
    const topics = names.map(topic => ({ topic, topicId: ZERO_UUID, partitions: [partition] }))
    const request = { maxWaitMs: 0, minBytes: 0, sessionId, sessionEpoch, topics, forgottenTopicsData: [] }
    return await node.call(FetchApi, request, { version: 12, client: alice })
  }
  const errors = (answer: Awaited<ReturnType<typeof fetch>>) =>
    answer?.responses.map(({ topic, partitions }) => `${topic} ${errorName(partitions[0]?.errorCode ?? -1)}`).sort()
  const first = await fetch(0, 0, ['orders', 'payments'])
  const session = first?.sessionId ?? 0
  deepStrictEqual(errors(first), ['orders NONE', 'payments NONE'])
  await revoke('payments', 'READ')
  deepStrictEqual(errors(await fetch(session, 1, [])), ['payments TOPIC_AUTHORIZATION_FAILED'])
  deepStrictEqual(errors(await fetch(session, 2, [])), ['payments TOPIC_AUTHORIZATION_FAILED'])
  await grant('payments', 'READ')
  // Told once that the error is gone, as after any error; then there is nothing new.
  deepStrictEqual(errors(await fetch(session, 3, [])), ['payments NONE'])
  deepStrictEqual(errors(await fetch(session, 4, [])), [])
})

test('auto-creation needs CREATE, and a topic that may not be described looks the same whether it exists or not', async () => {
  await using scene = await started(new Map([['auto.create.topics.enable', 'true']]))
  const { node, grant } = scene
  await grant('new', 'DESCRIBE')
  const ask = async (...names: string[]) => {
    const request = { topics: names.map(name => ({ name })), allowAutoTopicCreation: true }
    const answer = await node.call(MetadataApi, request, { version: 12, client: alice })
    return answer?.topics.map(({ name, errorCode, topicId }) => [name, errorName(errorCode), topicId === ZERO_UUID])
  }
  deepStrictEqual(await ask('orders', 'absent', 'new'), [
    ['orders', 'TOPIC_AUTHORIZATION_FAILED', true],
    ['absent', 'TOPIC_AUTHORIZATION_FAILED', true],
    ['new', 'TOPIC_AUTHORIZATION_FAILED', true],
  ])
  strictEqual(node.controller.image.topicIds.has('new'), false)
  await grant('new', 'CREATE')
  deepStrictEqual(await ask('new'), [['new', 'NONE', false]])
  await using open = await started()
  const answer = await open.node.call(
    DeleteTopicsApi,
    { topicNames: ['orders', 'absent'], timeoutMs: 1000 },
    { version: 5, client: alice },
  )
  deepStrictEqual(
    answer?.responses.map(({ errorCode }) => errorName(errorCode)),
    ['TOPIC_AUTHORIZATION_FAILED', 'TOPIC_AUTHORIZATION_FAILED'],
  )
})

test('of another broker who has no rights is told that of its loggers, and whose it is of its configs, as by Kafka', async () => {
  await using scene = await started()
  const configs = [{ name: 'root', configOperation: 0, value: 'WARN' }]
  const resources = [4, 8].map(resourceType => ({ resourceType, resourceName: '7', configs }))
  const request = { resources, validateOnly: true }
  const answer = await scene.node.call(IncrementalAlterConfigsApi, request, { client: alice })
  deepStrictEqual(
    answer?.responses.map(({ errorCode }) => errorName(errorCode)),
    ['INVALID_REQUEST', 'CLUSTER_AUTHORIZATION_FAILED'],
  )
})
