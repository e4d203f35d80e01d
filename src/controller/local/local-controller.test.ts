/** Tests of the local controller on files in memory: bootstrap, restart, crash, failing disk, order of commands. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OperationalError } from '../../core/errors.ts'
import { seededRandom } from '../../core/random.ts'
import type { Uuid } from '../../core/uuid.ts'
import { MemoryFileSystem } from '../../log/fakes/memory-file-system.ts'
import { plainImage } from '../../metadata/fakes/plain-image.ts'
import { configOverrides, type MetadataImage, topicByName } from '../../metadata/metadata-image.ts'
import { errorName } from '../../protocol/errors.ts'
import { metadataBatchesIn, newLeaderOf } from '../metadata-batches.ts'
import { newTopic } from './fakes/cluster-images.ts'
import { directoryId, openController } from './fakes/open-controller.ts'

const create = { validateOnly: false }

const open = (fs: MemoryFileSystem, serverProperties: Record<string, string> = {}) =>
  openController(fs, serverProperties)

/** What must survive a restart: everything but registration, epochs and the position in the log. */
function lasting(image: MetadataImage): unknown {
  const topics = [...image.topics.values()]
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ name, id, partitions }) => [name, id, partitions.map(({ isr, replicas }) => ({ isr, replicas }))])
  const { configs, features, nextProducerId } = plainImage(image) as Record<string, unknown>
  return { topics, configs, features, nextProducerId }
}

test('a fresh directory gets the features of a formatted 4.3.1 node, and the node is registered and in service', async () => {
  const controller = await open(new MemoryFileSystem())
  const { image } = controller
  assert.deepEqual([...image.features].sort(), [
    ['eligible.leader.replicas.version', 1],
    ['group.version', 1],
    ['metadata.version', 30],
    ['share.version', 1],
    ['streams.version', 1],
    ['transaction.version', 2],
  ])
  assert.deepEqual([image.controllerId, image.epoch, image.clusterId], [1, 1, '4L6g3nShT-eMCtK--X86sw'])
  const broker = image.brokers.get(1)
  assert.deepEqual(
    [broker?.fenced, broker?.logDirs, broker?.listeners.get('PLAINTEXT')?.port],
    [false, [directoryId], 9092],
  )
  assert.deepEqual([...configOverrides(image, { type: 4, name: '' })], [['min.insync.replicas', '1']])
  await controller.close()
})

test('after a restart the image is the same, in a new epoch and with new leader epochs', async () => {
  const fs = new MemoryFileSystem()
  const first = await open(fs, { 'num.partitions': '4' })
  await first.createTopics([newTopic('a', { partitions: -1 }), newTopic('b')], create)
  const change = { key: 'retention.ms', operation: 'set' as const, value: '5' }
  await first.incrementalAlterConfigs([{ resource: { type: 2, name: 'a' }, changes: [change] }], create)
  await first.deleteTopics([{ name: 'b', topicId: 'AAAAAAAAAAAAAAAAAAAAAA' as Uuid }])
  await first.createPartitions([{ name: 'a', newCount: 6 }], create)
  await first.allocateProducerIds()
  await first.skipProducerIdsBelow(123_456n)
  const before = first.image
  await first.close()
  const second = await open(fs)
  assert.deepEqual(lasting(second.image), lasting(before))
  assert.equal(topicByName(second.image, 'a')?.partitions.length, 6)
  assert.deepEqual([before.epoch, second.image.epoch], [1, 2])
  assert.deepEqual(
    topicByName(second.image, 'a')?.partitions.map(partition => partition.leaderEpoch),
    Array(6).fill(1),
  )
  assert.notEqual(second.image.brokers.get(1)?.incarnationId, before.brokers.get(1)?.incarnationId)
  assert.deepEqual(await second.allocateProducerIds(), { firstId: 123_457n, length: 1000 })
  await second.close()
})

test('nothing that a command acknowledged is lost in a power failure', async () => {
  for (let seed = 1; seed <= 20; seed++) {
    const fs = new MemoryFileSystem()
    const random = seededRandom(seed)
    let acknowledged: unknown
    for (let round = 0; round < 3; round++) {
      const controller = await open(fs)
      if (acknowledged !== undefined) assert.deepEqual(lasting(controller.image), acknowledged, `seed ${seed}`)
      for (let i = 0; i < 3; i++) await controller.createTopics([newTopic(`t-${round}-${i}`)], create)
      acknowledged = lasting(controller.image)
      fs.crash(random)
    }
  }
})

test('concurrent commands are decided one after the other: one of two equal topics wins', async () => {
  const controller = await open(new MemoryFileSystem())
  const answers = await Promise.all([1, 2, 3].map(() => controller.createTopics([newTopic('t')], create)))
  assert.deepEqual(
    answers.map(([topic]) => errorName(topic?.errorCode ?? -99)),
    ['NONE', 'TOPIC_ALREADY_EXISTS', 'TOPIC_ALREADY_EXISTS'],
  )
  const blocks = await Promise.all([1, 2, 3].map(() => controller.allocateProducerIds()))
  assert.deepEqual(
    blocks.map(block => block.firstId),
    [0n, 1000n, 2000n],
  )
  await controller.close()
})

test('validateOnly answers as the command would and changes nothing', async () => {
  const controller = await open(new MemoryFileSystem())
  const { offset } = controller.image
  const [valid] = await controller.createTopics([newTopic('t')], { validateOnly: true })
  assert.deepEqual([valid?.errorCode, valid?.partitions], [0, 1])
  assert.deepEqual([controller.image.offset, topicByName(controller.image, 't')], [offset, undefined])
  await controller.close()
})

test('a command resolves after its image was published to all subscribers', async () => {
  const controller = await open(new MemoryFileSystem())
  const seen: string[] = []
  await controller.subscribe({
    name: 'slow',
    onImage: async image => {
      await new Promise<void>(resolve => setImmediate(resolve))
      seen.push([...image.topicIds.keys()].join())
    },
  })
  await controller.createTopics([newTopic('t')], create)
  assert.deepEqual(seen, ['', 't'])
  await controller.close()
})

test('a full disk refuses the command with a clear error, and later commands work again', async () => {
  const fs = new MemoryFileSystem()
  const controller = await open(fs)
  for (const failing of ['write', 'sync'] as const) {
    const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
    fs.failWhen = operation => (operation.name === failing && operation.path.endsWith('.log') ? full : undefined)
    await assert.rejects(controller.createTopics([newTopic('t')], create), (error: unknown) => {
      assert.ok(error instanceof OperationalError)
      assert.equal(error.code, 'METADATA_LOG_FAILED')
      return true
    })
    assert.equal(topicByName(controller.image, 't'), undefined)
    fs.failWhen = () => undefined
  }
  const [created] = await controller.createTopics([newTopic('t')], create)
  assert.equal(errorName(created?.errorCode ?? -99), 'NONE')
  const before = lasting(controller.image)
  await controller.close()
  const again = await open(fs)
  assert.deepEqual(lasting(again.image), before)
  await again.close()
})

test('a closed controller refuses commands', async () => {
  const controller = await open(new MemoryFileSystem())
  await controller.close()
  await controller.close()
  await assert.rejects(controller.allocateProducerIds(), { code: 'CONTROLLER_CLOSED' })
})

test('other listeners are registered without new leader epochs', async () => {
  const controller = await open(new MemoryFileSystem())
  await controller.createTopics([newTopic('t')], create)
  await controller.changeListeners([{ name: 'PLAINTEXT', host: 'h', port: 1, securityProtocol: 0 }])
  const broker = controller.image.brokers.get(1)
  assert.deepEqual([broker?.fenced, broker?.listeners.get('PLAINTEXT')?.host], [false, 'h'])
  assert.equal(topicByName(controller.image, 't')?.partitions[0]?.leaderEpoch, 0)
  await controller.close()
})

// The broker was registered again at each start of the node, and fenced meanwhile: clients that asked just then saw topics
// without leaders, and leaders of consumer groups began a rebalance.
test('the same listeners are not registered again', async () => {
  const controller = await open(new MemoryFileSystem())
  const { offset, brokers } = controller.image
  await controller.changeListeners([...(brokers.get(1)?.listeners.values() ?? [])])
  assert.equal(controller.image.offset, offset)
  await controller.close()
})

test('the log begins with the leader change and the bootstrap records, as on a Kafka node', async () => {
  const fs = new MemoryFileSystem()
  await (await open(fs)).close()
  const bytes = await fs.readFile('/data/__cluster_metadata-0/00000000000000000000.log')
  const batches = [...metadataBatchesIn(bytes)]
  assert.deepEqual(
    batches.map(batch => [newLeaderOf(batch), batch.epoch, batch.records.map(record => record.type)]),
    [
      [1, 1, []],
      [undefined, 1, [12, 12, 12, 12, 12, 12, 4]],
      [undefined, 1, [0]],
      [undefined, 1, [17]],
    ],
  )
  const state = (await fs.readFile('/data/__cluster_metadata-0/quorum-state')).toString()
  assert.deepEqual(JSON.parse(state).leaderEpoch, 1)
})

test('10 000 partitions are created, and replayed by the next start', async () => {
  const fs = new MemoryFileSystem()
  const first = await open(fs)
  for (let i = 0; i < 10; i++) await first.createTopics([newTopic(`t-${i}`, { partitions: 1_000 })], create)
  await first.close()
  const second = await open(fs)
  const count = [...second.image.topics.values()].reduce((sum, topic) => sum + topic.partitions.length, 0)
  assert.equal(count, 10_000)
  await second.close()
})
