/** Commands that are forwarded to a quorum in memory: what is asked, when they resolve, what is asked again. */
import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { randomUuid, type Uuid } from '../../core/uuid.ts'
import { topicByName } from '../../metadata/metadata-image.ts'
import { ErrorCode } from '../../protocol/errors.ts'
import { CreateTopicsRequest, CreateTopicsResponse } from '../../protocol/messages/19-create-topics.ts'
import { AlterPartitionRequest, AlterPartitionResponse } from '../../protocol/messages/56-alter-partition.ts'
import { AllocateProducerIdsResponse } from '../../protocol/messages/67-allocate-producer-ids.ts'
import { MetadataRecordType } from '../../protocol/metadata-records/registry.ts'
import type { FakeQuorum } from './fakes/fake-quorum.ts'
import { observe, questionsOf, startQuorum } from './fakes/observe-quorum.ts'
import { JoinedController } from './joined-controller.ts'

const topicId = 'dG9waWMtb2YtdGhlLXRlcw' as Uuid
const idOf = (name: string): Uuid => (name === 'mirror' ? topicId : randomUuid())
const serves = new Map([
  [19, 7],
  [56, 3],
  [67, 0],
])

async function joined(t: TestContext, { controllers = 1, epoch = 4 } = {}) {
  const quorum = await startQuorum(t, { controllers, serves })
  quorum.append([])
  const { observer } = observe(t, quorum)
  const controller = new JoinedController({
    observer,
    questions: questionsOf(t, quorum, 2000),
    broker: () => ({ id: 1001, epoch }),
  })
  return { quorum, controller }
}

/** Creates what is asked for as records; the active controller only. */
function createsTopics(quorum: FakeQuorum, asked: string[] = []): string[] {
  quorum.commands.set(19, ({ body, apiVersion }, id) => {
    const { topics } = CreateTopicsRequest.decode(body, apiVersion)
    asked.push(`${topics[0]?.name}@${id}`)
    const active = id === quorum.leaderId
    if (active)
      for (const { name } of topics)
        quorum.append([{ type: MetadataRecordType.Topic, version: 0, value: { name, topicId: idOf(name) } }])
    const results = topics.map(({ name }) => ({
      name,
      topicId,
      errorCode: active ? 0 : ErrorCode.NOT_CONTROLLER,
      errorMessage: null,
      numPartitions: 1,
      replicationFactor: 2,
      configs: [{ name: 'max.message.bytes', value: '78', readOnly: false, isSensitive: false }],
    }))
    return CreateTopicsResponse.encode({ throttleTimeMs: 0, topics: results }, apiVersion)
  })
  return asked
}

const mirror = {
  name: 'mirror',
  partitions: -1,
  replicationFactor: -1,
  assignments: new Map([[0, [1001, 1]]]),
  configs: new Map([['max.message.bytes', '78']]),
}

test('a created topic is in the image when the command resolves', async t => {
  const { quorum, controller } = await joined(t)
  createsTopics(quorum)
  const [created] = await controller.createTopics([mirror], { validateOnly: false })
  deepStrictEqual(created, {
    errorCode: 0,
    errorMessage: null,
    name: 'mirror',
    topicId,
    partitions: 1,
    replicationFactor: 2,
    configs: new Map([['max.message.bytes', '78']]),
  })
  strictEqual(topicByName(controller.image, 'mirror')?.id, topicId)
})

test('a controller that is not active any more passes the command on to the next one', async t => {
  const { quorum, controller } = await joined(t, { controllers: 2 })
  const asked = createsTopics(quorum)
  await controller.createTopics([mirror], { validateOnly: false })
  quorum.elect(3001)
  await controller.createTopics([{ ...mirror, name: 'second' }], { validateOnly: false })
  deepStrictEqual(asked, ['mirror@3000', 'second@3000', 'second@3001'])
})

test('a lost answer to what must not be done twice is told as unknown', async t => {
  const { quorum, controller } = await joined(t)
  quorum.commands.set(19, () => {
    void quorum.stopController(3000)
    return undefined
  })
  await rejects(
    controller.createTopics([mirror], { validateOnly: false }),
    /not known whether the controller carried out/,
  )
})

test('an ISR change names this broker and its epoch, and tells the state after it', async t => {
  const { quorum, controller } = await joined(t)
  const requests: AlterPartitionRequest[] = []
  quorum.commands.set(56, ({ body, apiVersion }) => {
    const request = AlterPartitionRequest.decode(body, apiVersion)
    requests.push(request)
    const partitions = [
      { partitionIndex: 0, errorCode: 0, leaderId: 1001, leaderEpoch: 3, isr: [1001], partitionEpoch: 6 },
      {
        partitionIndex: 1,
        errorCode: ErrorCode.INVALID_UPDATE_VERSION,
        leaderId: -1,
        leaderEpoch: -1,
        isr: [],
        partitionEpoch: -1,
      },
    ]
    return AlterPartitionResponse.encode(
      { throttleTimeMs: 0, errorCode: 0, topics: [{ topicId, partitions }] },
      apiVersion,
    )
  })
  const change = { topicId, partition: 0, leaderEpoch: 3, partitionEpoch: 5, isr: [1001] }
  const other = { ...change, partition: 1 }
  deepStrictEqual(await controller.alterPartition([change, other]), [
    { ...change, partitionEpoch: 6, errorCode: 0, errorMessage: null },
    { ...other, errorCode: ErrorCode.INVALID_UPDATE_VERSION, errorMessage: null },
  ])
  deepStrictEqual([requests[0]?.brokerId, requests[0]?.brokerEpoch], [1001, 4n])
})

test('producer ids are burned block by block until the next block is above', async t => {
  const { quorum, controller } = await joined(t)
  let next = 0n
  quorum.commands.set(67, ({ apiVersion }) => {
    const producerIdStart = next
    next += 1000n
    return AllocateProducerIdsResponse.encode(
      { throttleTimeMs: 0, errorCode: 0, producerIdStart, producerIdLen: 1000 },
      apiVersion,
    )
  })
  await controller.skipProducerIdsBelow(2999n)
  strictEqual(next, 3000n)
  strictEqual((await controller.allocateProducerIds()).firstId, 3000n)
})

test('what only a broker may ask is refused here while we are none', async t => {
  const { controller } = await joined(t, { epoch: -1 })
  await rejects(controller.allocateProducerIds(), /not registered with the cluster/)
})

test('after closing, commands are refused and those under way are given up', async t => {
  const { quorum, controller } = await joined(t)
  quorum.commands.set(19, () => undefined)
  const waiting = rejects(controller.createTopics([mirror], { validateOnly: false }), /shutting down/)
  while (quorum.fetches.length < 2) await new Promise(resolve => setImmediate(resolve))
  await controller.close()
  await rejects(controller.createTopics([mirror], { validateOnly: false }), /shutting down/)
  await waiting
})
