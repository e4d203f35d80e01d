/** ApiVersions, configs, cluster, coordinators and producer ids over the wire format, in several versions. */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { topicByName } from '../../metadata/metadata-image.ts'
import { ErrorCode, errorName } from '../../protocol/errors.ts'
import { FindCoordinatorApi } from '../../protocol/messages/10-find-coordinator.ts'
import { ApiVersionsApi } from '../../protocol/messages/18-api-versions.ts'
import { InitProducerIdApi } from '../../protocol/messages/22-init-producer-id.ts'
import { DescribeConfigsApi } from '../../protocol/messages/32-describe-configs.ts'
import { DescribeClusterApi } from '../../protocol/messages/60-describe-cluster.ts'
import { TestNode } from '../fakes/test-node.ts'
import { handlers } from './table.ts'

const allVersions = ({ min, max }: { min: number; max: number }) =>
  Array.from({ length: max - min + 1 }, (_, i) => min + i)

test('ApiVersions lists the table and the features', async () => {
  const node = await TestNode.start()
  for (const version of allVersions(ApiVersionsApi.request.versions)) {
    const request = version >= 3 ? { clientSoftwareName: 'test', clientSoftwareVersion: '1.0' } : {}
    const answer = await node.call(ApiVersionsApi, request, { version })
    strictEqual(answer?.errorCode, 0)
    deepStrictEqual(
      answer?.apiKeys.map(({ apiKey }) => apiKey),
      handlers.map(({ key }) => key),
    )
    const range = answer?.apiKeys.find(({ apiKey }) => apiKey === 0)
    deepStrictEqual([range?.minVersion, range?.maxVersion], [0, 13])
    const supported = answer?.supportedFeatures.map(({ name }) => name) ?? []
    strictEqual(supported.includes('metadata.version'), version >= 3)
    strictEqual(supported.includes('group.version'), version >= 4)
    const finalized = answer?.finalizedFeatures.find(({ name }) => name === 'metadata.version')
    strictEqual(
      finalized?.maxVersionLevel,
      version >= 3 ? node.controller.image.features.get('metadata.version') : undefined,
    )
  }
  const odd = await node.call(ApiVersionsApi, { clientSoftwareName: '-x-', clientSoftwareVersion: '1' })
  deepStrictEqual([errorName(odd?.errorCode ?? 0), odd?.apiKeys], ['INVALID_REQUEST', []])
  await node.close()
})

test('the listener is told the served versions, without the ones that are only announced', async () => {
  const node = await TestNode.start()
  deepStrictEqual(node.broker.served.get(0), { min: 3, max: 13 })
  deepStrictEqual(node.broker.served.get(22), { min: 0, max: 5 })
  await node.close()
})

test('DescribeConfigs of topics and brokers, with synonyms and documentation on request', async () => {
  const node = await TestNode.start({ file: new Map([['log.retention.hours', '48']]) })
  await node.createTopic('orders', { configs: { 'max.message.bytes': '5000' } })
  const ask = (resourceType: number, resourceName: string, keys: string[] | null) =>
    node.call(DescribeConfigsApi, {
      resources: [{ resourceType, resourceName, configurationKeys: keys }],
      includeSynonyms: true,
      includeDocumentation: true,
    })
  const topic = (await ask(2, 'orders', ['max.message.bytes', 'retention.ms']))?.results[0]
  const shown = new Map(topic?.configs.map(config => [config.name, config]))
  deepStrictEqual([shown.get('max.message.bytes')?.value, shown.get('max.message.bytes')?.configSource], ['5000', 1])
  deepStrictEqual([shown.get('retention.ms')?.value, shown.get('retention.ms')?.configSource], ['172800000', 5])
  deepStrictEqual(
    shown.get('max.message.bytes')?.synonyms.map(({ name, source }) => [name, source]),
    [
      ['max.message.bytes', 1],
      ['message.max.bytes', 5],
    ],
  )
  ok((shown.get('retention.ms')?.documentation ?? '').length > 10)
  const all = (await ask(2, 'orders', null))?.results[0]
  ok((all?.configs.length ?? 0) > 25)
  const broker = (await ask(4, '1', ['log.retention.hours']))?.results[0]
  deepStrictEqual(
    broker?.configs.map(({ name, value }) => [name, value]),
    [['log.retention.hours', '48']],
  )
  const error = async (type: number, name: string) =>
    errorName((await ask(type, name, null))?.results[0]?.errorCode ?? 0)
  deepStrictEqual(await error(2, 'none'), 'UNKNOWN_TOPIC_OR_PARTITION')
  deepStrictEqual(await error(2, 'not a name'), 'INVALID_TOPIC_EXCEPTION')
  deepStrictEqual(await error(4, '7'), 'INVALID_REQUEST')
  deepStrictEqual(await error(4, 'x'), 'INVALID_REQUEST')
  deepStrictEqual(await error(4, ''), 'NONE')
  deepStrictEqual(await error(99, 'x'), 'INVALID_REQUEST')
  await node.close()
})

test('changed topic configs reach the partition', async () => {
  const node = await TestNode.start()
  await node.createTopic('orders')
  const changes = [{ key: 'max.message.bytes', operation: 'set' as const, value: '77' }]
  await node.controller.incrementalAlterConfigs([{ resource: { type: 2, name: 'orders' }, changes }], {
    validateOnly: false,
  })
  strictEqual(node.partition('orders').settings.maxMessageBytes, 77)
  await node.close()
})

test('DescribeCluster describes brokers and nothing else', async () => {
  const node = await TestNode.start()
  for (const version of allVersions(DescribeClusterApi.request.versions)) {
    const answer = await node.call(DescribeClusterApi, { includeClusterAuthorizedOperations: true }, { version })
    deepStrictEqual(
      [answer?.errorCode, answer?.clusterId, answer?.controllerId, answer?.brokers.length],
      [0, node.controller.image.clusterId, 1, 1],
    )
    strictEqual(answer?.clusterAuthorizedOperations, 8096)
  }
  const of = async (endpointType: number) =>
    errorName(
      (await node.call(DescribeClusterApi, { includeClusterAuthorizedOperations: false, endpointType }))?.errorCode ??
        0,
    )
  deepStrictEqual([await of(2), await of(9)], ['MISMATCHED_ENDPOINT_TYPE', 'UNSUPPORTED_ENDPOINT_TYPE'])
  await node.close()
})

test('InitProducerId hands out each id once, and none below the barrier', async () => {
  const node = await TestNode.start()
  const init = async (
    request: { transactionalId?: string | null; producerId?: bigint; producerEpoch?: number },
    version: number,
  ) => {
    const answer = await node.call(
      InitProducerIdApi,
      { transactionalId: null, transactionTimeoutMs: 1, ...request },
      { version },
    )
    return answer?.errorCode ? errorName(answer.errorCode) : answer?.producerId
  }
  const ids = await Promise.all([0, 1, 2, 3, 4, 5].map(version => init({}, version)))
  strictEqual(new Set(ids).size, 6)
  await node.producerIds.raiseAbove(50_000n)
  const next = await init({}, 5)
  ok(typeof next === 'bigint' && next > 50_000n)
  strictEqual(await init({ transactionalId: 'tx' }, 5), 'NOT_COORDINATOR')
  strictEqual(await init({ transactionalId: '' }, 5), 'INVALID_REQUEST')
  strictEqual(await init({ producerId: 5n }, 5), 'INVALID_REQUEST')
  await node.close()
})

test('FindCoordinator tells the leader of the partition that holds the key, and creates the topic when it is first asked', async () => {
  const node = await TestNode.start()
  for (const keyType of [0, 1])
    for (const version of allVersions(FindCoordinatorApi.request.versions)) {
      if (keyType > 0 && version < 1) continue
      const request = version >= 4 ? { coordinatorKeys: ['a', 'b'], keyType } : { key: 'a', keyType }
      const answer = await node.call(FindCoordinatorApi, request, { version })
      const found = version >= 4 ? (answer?.coordinators ?? []) : [answer]
      strictEqual(found.length, version >= 4 ? 2 : 1)
      for (const one of found)
        deepStrictEqual([one?.errorCode, one?.nodeId, one?.host, one?.port], [ErrorCode.NONE, 1, '127.0.0.1', 9092])
    }
  strictEqual(topicByName(node.controller.image, '__consumer_offsets')?.partitions.length, 50)
  strictEqual(topicByName(node.controller.image, '__transaction_state')?.partitions.length, 50)
  const share = await node.call(FindCoordinatorApi, { coordinatorKeys: ['a'], keyType: 2 }, { version: 5 })
  strictEqual(share?.coordinators[0]?.errorCode, ErrorCode.INVALID_REQUEST)
  await node.close()
})
