/**
 * The plain v3 resources of a node (clusters, brokers, topics T1–T2, configs, partitions, consumer groups, ACLs), nodes and logins
 * held to the contract, as `rest-contract.suite.ts` does it with links and mirrors. Needs no other cluster.
 */
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Kafka, logLevel } from 'kafkajs'
import '../clients/kafkajs-timers.ts'
import { bareStatus } from '../contract/bare-status.ts'
import * as cluster from '../contract/cluster.ts'
import { ContractClient, type Question } from '../contract/contract-client.ts'
import { nodeList, placement } from '../contract/own-additions.ts'
import type { Shape } from '../contract/shapes.ts'
import { eventually } from '../eventually.ts'
import { LockstepNode } from '../lockstep-process.ts'

let node: LockstepNode
let client: ContractClient

before(async () => {
  node = await LockstepNode.start({
    properties: {
      'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
      'super.users': 'User:ANONYMOUS',
      'lockstep.bootstrap.scram.users': 'SCRAM-SHA-256=[name=alice,password=alice-secret]',
    },
  })
  client = new ContractClient(node.rest.origin, node.clusterId, (await node.rest.request('GET', '/openapi.json')).body)
  await node.rest.call('POST', '/topics', { topic_name: 'orders', partitions_count: 2 })
})
after(() => node?.close())

const read = (path: string, shape: Shape) => client.read(path, shape)
const ask = (question: Question, status: number, shape?: Shape) =>
  client.ask(question, { status, ...(shape ? { shape } : {}) })
const refused = (question: Question, codes: readonly [number, number], message?: string) =>
  client.refused(question, codes, message)

test('T1–T2 and topics: created, described, altered, deleted as the plain v3 resources', async () => {
  await read('/topics', cluster.topicList)
  await read('/topics/of-nobody/default-configs', cluster.topicConfigList)
  const body = {
    topic_name: 'plain',
    partitions_count: 2,
    replication_factor: 1,
    configs: [{ name: 'retention.ms', value: '1000000' }],
  }
  await ask({ method: 'POST', path: '/topics', body: { ...body, validate_only: true } }, 200, cluster.topic)
  const missing = 'does not host this topic-partition'
  await refused({ method: 'GET', path: '/topics/plain' }, [404, 40403], missing)
  await ask({ method: 'POST', path: '/topics', body }, 201, cluster.topic)
  await refused({ method: 'POST', path: '/topics', body }, [400, 40002], "^Topic 'plain' already exists\\.")
  const greedy = { topic_name: 'greedy', replication_factor: 2 }
  await refused({ method: 'POST', path: '/topics', body: greedy }, [400, 40002])
  await read('/topics/plain?include_authorized_operations=true', cluster.topic)
  const grown = await ask({ method: 'PATCH', path: '/topics/plain', body: { partitions_count: 3 } }, 200, cluster.topic)
  strictEqual((grown as { partitions_count: number }).partitions_count, 3)
  await refused({ method: 'PATCH', path: '/topics/plain', body: { partitions_count: 3 } }, [400, 40002])
  await read('/topics/plain/configs', cluster.topicConfigList)
  await read('/topics/-/configs', cluster.topicConfigList)
  const config = '/topics/plain/configs/retention.ms'
  strictEqual(((await read(config, cluster.topicConfig)) as { value: string }).value, '1000000')
  await ask({ method: 'PUT', path: config, body: { value: '2000000' } }, 204)
  strictEqual(((await read(config, cluster.topicConfig)) as { value: string }).value, '2000000')
  await refused({ method: 'PUT', path: config, body: { value: 'soon' } }, [400, 40002])
  await ask({ method: 'DELETE', path: config }, 204)
  strictEqual(((await read(config, cluster.topicConfig)) as { is_default: boolean }).is_default, true)
  await refused({ method: 'GET', path: '/topics/plain/configs/no.such' }, [404, 40403])
  const data = [
    { name: 'retention.ms', value: '5' },
    { name: 'max.message.bytes', operation: 'DELETE' },
  ]
  await ask({ method: 'POST', path: '/topics/plain/configs:alter', body: { data, validate_only: true } }, 204)
  strictEqual(((await read(config, cluster.topicConfig)) as { is_default: boolean }).is_default, true)
  await ask({ method: 'POST', path: '/topics/plain/configs:alter', body: { data } }, 204)
  await ask({ method: 'DELETE', path: '/topics/plain' }, 204)
  await refused({ method: 'DELETE', path: '/topics/plain' }, [404, 40403], missing)
})

test('the cluster, its brokers, partitions and replicas are told as the plain v3 resources', async () => {
  await read('/kafka/v3/clusters', cluster.clusterList)
  await read('', cluster.cluster)
  await read('/brokers', cluster.brokerList)
  await read('/brokers/1', cluster.broker)
  await refused({ method: 'GET', path: '/brokers/99' }, [404, 404])
  await read('/brokers/1/configs', cluster.brokerConfigList)
  await read('/brokers/1/partition-replicas', cluster.replicaList)
  await read('/broker-configs', cluster.clusterConfigList)
  await read('/topics/orders/partitions', cluster.partitionList)
  await read('/topics/orders/partitions/1', cluster.partition)
  await refused({ method: 'GET', path: '/topics/orders/partitions/7' }, [404, 40403])
  await read('/topics/orders/partitions/1/replicas', cluster.replicaList)
  await read('/topics/orders/partitions/1/replicas/1', cluster.replica)
  await refused({ method: 'GET', path: '/topics/orders/partitions/1/replicas/9' }, [404, 40403])
  await read('/topics/-/partitions/-/reassignment', cluster.reassignmentList)
  await read('/topics/orders/partitions/-/reassignment', cluster.reassignmentList)
  await refused({ method: 'GET', path: '/topics/orders/partitions/0/reassignment' }, [404, 404])
})

test('consumer groups are told with their members, assignments and lags', async () => {
  const kafka = new Kafka({ clientId: 'contract', brokers: [node.bootstrap], logLevel: logLevel.NOTHING })
  const producer = kafka.producer()
  await producer.connect()
  await producer.send({
    topic: 'orders',
    messages: [
      { partition: 0, value: 'a' },
      { partition: 0, value: 'b' },
    ],
  })
  await producer.disconnect()
  await refused({ method: 'GET', path: '/consumer-groups/none' }, [404, 40403])
  await read('/consumer-groups', cluster.groupList)
  const consumer = kafka.consumer({ groupId: 'readers/of orders' })
  try {
    await consumer.connect()
    await consumer.subscribe({ topics: ['orders'], fromBeginning: true })
    await consumer.run({ eachMessage: async () => {} })
    const group = `/consumer-groups/${encodeURIComponent('readers/of orders')}`
    // Where nothing is written, KafkaJS commits nothing.
    const partition = await eventually(async () => {
      const { data } = (await read(`${group}/lags`, cluster.lagList)) as {
        data: { partition_id: number; lag: number; consumer_id: string }[]
      }
      ok(data.length > 0 && data.every(({ lag, consumer_id: id }) => lag === 0 && id !== ''))
      return data[0]?.partition_id
    })
    await read('/consumer-groups', cluster.groupList)
    const told = (await read(group, cluster.group)) as { state: string; partition_assignor: string }
    deepStrictEqual([told.state, told.partition_assignor], ['STABLE', 'RoundRobinAssigner'])
    const { data } = (await read(`${group}/consumers`, cluster.consumerList)) as { data: { consumer_id: string }[] }
    const member = `${group}/consumers/${encodeURIComponent(data[0]?.consumer_id ?? '')}`
    await read(member, cluster.consumer)
    await read(`${member}/assignments`, cluster.assignmentList)
    await read(`${member}/assignments/orders/partitions/0`, cluster.assignment)
    await refused({ method: 'GET', path: `${group}/consumers/none` }, [404, 40403])
    await read(`${group}/lags/orders/partitions/${partition}`, cluster.lag)
    await refused({ method: 'GET', path: `${group}/lags/orders/partitions/9` }, [404, 40403])
    const summary = (await read(`${group}/lag-summary`, cluster.lagSummary)) as { total_lag: number }
    strictEqual(summary.total_lag, 0)
  } finally {
    await consumer.disconnect()
  }
})

test('ACLs are created, found by filters and deleted', async () => {
  const acl = {
    resource_type: 'TOPIC',
    resource_name: 'orders',
    pattern_type: 'LITERAL',
    principal: 'User:bob',
    host: '*',
    operation: 'READ',
    permission: 'ALLOW',
  }
  await ask({ method: 'POST', path: '/acls', body: acl }, 201)
  await ask({ method: 'POST', path: '/acls:batch', body: { data: [{ ...acl, operation: 'WRITE' }] } }, 201)
  const { data } = (await read('/acls?resource_type=TOPIC&principal=User%3Abob', cluster.aclList)) as { data: object[] }
  strictEqual(data.length, 2)
  const cluster_ = { ...acl, resource_type: 'CLUSTER', resource_name: 'mine' }
  const only = 'The only valid name for the CLUSTER resource is kafka-cluster'
  await refused({ method: 'POST', path: '/acls', body: cluster_ }, [400, 40002], only)
  await refused({ method: 'POST', path: '/acls', body: { ...acl, operation: 'FLY' } }, [400, 40002], 'FLY')
  await refused({ method: 'DELETE', path: '/acls' }, [400, 400])
  const query = 'resource_type=TOPIC&pattern_type=ANY&operation=ANY&permission=ANY&principal=User%3Abob'
  await ask({ method: 'DELETE', path: `/acls?${query}` }, 200, cluster.deletedAcls)
  strictEqual(((await read('/acls?principal=User%3Abob', cluster.aclList)) as { data: object[] }).data.length, 0)
})

test('who is not known is asked to log in with 401, who may not is refused with 403', async () => {
  const as = (user: string, password: string) => ({
    authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`,
  })
  const wrong = { method: 'GET', path: '/topics', headers: as('alice', 'guessed') } as const
  await refused(wrong, [401, 40101])
  await refused({ ...wrong, headers: as('nobody', 'guessed') }, [401, 40101])
  const headers = as('alice', 'alice-secret')
  await ask({ method: 'GET', path: '/kafka/v3/clusters', headers }, 200, cluster.clusterList)
  await refused({ method: 'GET', path: '/topics', headers }, [403, 40301], 'DESCRIBE')
  await refused({ method: 'POST', path: '/links?link_name=x', headers, body: {} }, [403, 40301], 'ALTER')
  await refused({ method: 'GET', path: '/consumer-groups/readers', headers }, [403, 40301])
  await refused({ method: 'GET', path: '/acls', headers }, [403, 40301])
})

test('a page whose name leads here is not answered, since nobody logs in', async () => {
  const statusOf = (host: string) =>
    bareStatus(`${node.rest.origin}/kafka/v3/clusters`, { method: 'GET', headers: { host } })
  const hosts = ['evil.example', 'evil.example:8090', 'localhost:1', '127.0.0.1', '[::1]:8090']
  deepStrictEqual(await Promise.all(hosts.map(statusOf)), [403, 403, 200, 200, 200])
})

test('a standalone node keeps its partitions and cannot be removed', async () => {
  await read('/nodes', nodeList)
  await read('/placement', placement)
  await refused({ method: 'POST', path: '/nodes/1:drain' }, [409, 40902], 'standalone')
  await refused({ method: 'POST', path: '/nodes/1:resume' }, [409, 40902], 'standalone')
  await refused({ method: 'DELETE', path: '/nodes/1' }, [400, 40002], 'standalone')
})

test('every operation of the document beside links was asked', async () => {
  deepStrictEqual(
    client.unseen.filter(name => !name.includes('/links') && !name.includes('/events')),
    [],
  )
})
