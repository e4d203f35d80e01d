/** A node is only removed when it is gone and holds nothing. */
import { deepStrictEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { randomUuid } from '../../core/uuid.ts'
import { lockstepEndpoint } from '../../metadata/lockstep-nodes.ts'
import { type BrokerImage, emptyImage, type MetadataImage, type TopicImage } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { unregisterNode } from './unregister-node.ts'

const NODE = 1001

function imageWith({ fenced, holds }: { fenced: boolean; holds: boolean }): MetadataImage {
  const rest = lockstepEndpoint('http://h:1')
  const broker: BrokerImage = {
    id: NODE,
    epoch: 7,
    incarnationId: randomUuid(),
    listeners: new Map([[rest.name, rest]]),
    features: new Map(),
    rack: null,
    fenced,
    inControlledShutdown: false,
    logDirs: [],
    cordonedLogDirs: null,
  }
  const topic = {
    name: 'orders',
    id: randomUuid(),
    partitions: [{ replicas: [1] }, { replicas: holds ? [1, NODE] : [1] }],
  }
  const image = emptyImage('c')
  const topics = image.topics.edit()
  topics.set(topic.id, topic as unknown as TopicImage)
  return { ...image, brokers: new Map([[NODE, broker]]), topics: topics.finish() }
}

function controllerOf(image: MetadataImage, errorCode: number = ErrorCode.NONE) {
  const asked: number[] = []
  const unregisterBroker = async (id: number) => {
    asked.push(id)
    return { errorCode, errorMessage: null }
  }
  return { asked, controller: { image, cluster: { unregisterBroker } } as never }
}

test('a node that is alive, or holds partitions, stays', async () => {
  const alive = controllerOf(imageWith({ fenced: false, holds: false }))
  await rejects(unregisterNode(alive.controller, NODE), { code: 'NODE_ALIVE' })
  const holding = controllerOf(imageWith({ fenced: true, holds: true }))
  await rejects(unregisterNode(holding.controller, NODE), /still holds 1 partitions, such as orders-1/)
  deepStrictEqual([alive.asked, holding.asked], [[], []])
})

test('one that is gone and empty is removed, or the refusal of the cluster is told', async () => {
  const image = imageWith({ fenced: true, holds: false })
  const { controller, asked } = controllerOf(image)
  await unregisterNode(controller, NODE)
  deepStrictEqual(asked, [NODE])
  const refused = controllerOf(image, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
  await rejects(unregisterNode(refused.controller, NODE), /refuses UnregisterBroker with CLUSTER_AUTHORIZATION_FAILED/)
})
