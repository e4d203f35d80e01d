/** DescribeConfigs about a mirror that a fence keeps from clients: what its configs are meant to be. */
import { deepStrictEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { topicByName } from '../metadata/metadata-image.ts'
import { DescribeConfigsApi } from '../protocol/messages/32-describe-configs.ts'
import { FakeCluster } from './fakes/fake-cluster.ts'
import { TestNode } from './fakes/test-node.ts'

test('what a config of a mirror is meant to be is shown in place of the value that keeps clients out', async t => {
  const cluster = new FakeCluster()
  const node = await TestNode.start({ joined: cluster })
  t.after(() => node.close())
  await node.createTopic('orders', { configs: { 'max.message.bytes': '78', 'retention.ms': '-1' } })
  const keys = ['max.message.bytes', 'retention.ms']
  const shown = async () => {
    const resources = [{ resourceType: 2, resourceName: 'orders', configurationKeys: keys }]
    const answer = await node.call(DescribeConfigsApi, { resources })
    const configs = new Map(answer?.results[0]?.configs.map(config => [config.name, config]))
    return keys.map(key => [configs.get(key)?.value, configs.get(key)?.configSource])
  }
  deepStrictEqual(await shown(), [
    ['78', 1],
    ['-1', 1],
  ])
  const topic = topicByName(node.controller.image, 'orders')
  if (topic)
    cluster.trueConfigs.set(
      topic.id,
      new Map([
        ['max.message.bytes', '5000'],
        ['retention.ms', null],
      ]),
    )
  deepStrictEqual(await shown(), [
    ['5000', 1],
    ['604800000', 5],
  ])
})
